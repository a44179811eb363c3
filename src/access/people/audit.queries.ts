// The audit: what people did. Rows are inserted and read; a trigger refuses everything else.
import type { SqlTx } from '../../platform/postgres/database.service.js';
import type { AuditEntry } from '../../generated/service/client.js';
import { lastUuid } from '../../platform/ids.js';

export type NewAuditEntry = Pick<
  AuditEntry,
  'id' | 'accountId' | 'operatorId' | 'action' | 'subject' | 'reason' | 'shown' | 'traceId'
>;

export async function insertAuditEntry(db: SqlTx, entry: NewAuditEntry): Promise<void> {
  const { id, accountId, operatorId, action, subject, reason, shown, traceId } = entry;
  await db.$executeRaw`
    INSERT INTO audit_entry (id, account_id, operator_id, action, subject, reason, shown, trace_id)
    VALUES (${id}::uuid, ${accountId}, ${operatorId}::uuid, ${action}, ${subject}, ${reason},
            ${shown}, ${traceId})`;
}

/** With the encrypted e-mail of the person, and the account's slug. */
export type AuditRow = NewAuditEntry & { at: Date; email: string | null; slug: string | null };

/**
 * Newest first: those of an account, or with null all of them. One row more than the page holds.
 */
export async function listAuditRows(
  db: SqlTx,
  accountId: number | null,
  { limit, after }: { limit: number; after: string | null },
): Promise<AuditRow[]> {
  // Two statements: one with both conditions would follow no index.
  if (accountId === null)
    return db.$queryRaw<AuditRow[]>`
      SELECT e.id, e.account_id, e.operator_id, e.action, e.subject, e.reason, e.shown,
             e.trace_id, e.at, o.email, a.slug
      FROM audit_entry e LEFT JOIN operator o ON o.id = e.operator_id
      LEFT JOIN bank_account a ON a.id = e.account_id
      WHERE e.id < ${after ?? lastUuid}::uuid
      ORDER BY e.id DESC LIMIT ${limit + 1}`;
  return db.$queryRaw<AuditRow[]>`
    SELECT e.id, e.account_id, e.operator_id, e.action, e.subject, e.reason, e.shown,
           e.trace_id, e.at, o.email, a.slug
    FROM audit_entry e LEFT JOIN operator o ON o.id = e.operator_id
    LEFT JOIN bank_account a ON a.id = e.account_id
    WHERE e.account_id = ${accountId}
      AND e.id < ${after ?? lastUuid}::uuid
    ORDER BY e.id DESC LIMIT ${limit + 1}`;
}
