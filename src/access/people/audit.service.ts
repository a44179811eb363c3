// Records what people did, in the transaction of what they did, and lists it. An entry names people
// and subjects by their ids: it has no personal data, which could not be erased from it.
import { Injectable } from '@nestjs/common';
import { Database, type SqlTx } from '../../platform/postgres/database.service.js';
import { newId } from '../../platform/ids.js';
import { SecretBox } from '../../platform/secret-box.js';
import { currentTraceId } from '../../platform/trace.js';
import type { AuditedActionName, AuditedSubject } from './audited-actions.js';
import { insertAuditEntry, listAuditRows, type AuditRow } from './audit.queries.js';
import { ownerOfEmail } from './encrypted-operators.queries.js';

export interface AuditedAction {
  /** Null for a command on the server. */
  operatorId: string | null;
  /** Null for what concerns no account, or all of them. */
  accountId: number | null;
  action: AuditedActionName;
  /** A kind and an id: `person 0199…`. */
  subject: AuditedSubject;
  reason?: string | null;
  /** A version or a hash of what the person saw. */
  shown?: string | null;
}

/** The person by e-mail; null for a command on the server. */
export type AuditedEntry = Omit<AuditRow, 'email'> & { person: string | null };

const exportedPage = 500;

@Injectable()
export class Audit {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /** Returns the id of the entry. */
  async record(
    tx: SqlTx,
    { reason = null, shown = null, ...entry }: AuditedAction,
  ): Promise<string> {
    const id = newId();
    await insertAuditEntry(tx, { id, ...entry, reason, shown, traceId: currentTraceId() });
    return id;
  }

  /** Newest first; one entry more than the page holds. */
  async listPage(
    accountId: number | null,
    page: { limit: number; after: string | null },
  ): Promise<AuditedEntry[]> {
    const rows = await listAuditRows(this.database.sql, accountId, page);
    return rows.map(({ email, ...row }) => ({
      ...row,
      person:
        email === null || row.operatorId === null
          ? null
          : this.secretBox.decrypt(email, ownerOfEmail(row.operatorId)),
    }));
  }

  /** Every entry, newest first, read page by page as fast as it is consumed. */
  async *listAll(accountId: number | null): AsyncGenerator<AuditedEntry> {
    let after: string | null = null;
    do {
      const found: AuditedEntry[] = await this.listPage(accountId, { limit: exportedPage, after });
      const entries = found.slice(0, exportedPage);
      yield* entries;
      after = found.length > exportedPage ? (entries.at(-1)?.id ?? null) : null;
    } while (after !== null);
  }
}
