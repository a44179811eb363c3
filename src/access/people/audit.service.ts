// Records what people did, in the transaction of what they did, and lists it. An entry names people
// and subjects by their ids: it has no personal data, which could not be erased from it.
import { Injectable } from '@nestjs/common';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import type { AuditEntry } from '../../generated/service/client.js';
import { idsAfter, pageById, type Page } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { SecretBox } from '../../platform/secret-box.js';
import { currentTraceId } from '../../platform/trace.js';
import type { AuditedActionName, AuditedSubject } from './audited-actions.js';
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
export type AuditedEntry = AuditEntry & { person: string | null; slug: string | null };

const exportedPage = 500;

@Injectable()
export class Audit {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /** Returns the id of the entry. */
  async record(db: Db, action: AuditedAction): Promise<string> {
    const id = newId();
    await db.auditEntry.create({ data: { id, ...action, traceId: currentTraceId() } });
    return id;
  }

  /**
   * Those of an account, or with null all of them; one entry more than the page holds.
   */
  async listPage(accountId: number | null, page: Page): Promise<AuditedEntry[]> {
    const entries = await this.database.prisma.auditEntry.findMany({
      where: { ...(accountId !== null && { accountId }), id: idsAfter(page) },
      include: {
        operator: { select: { id: true, email: true } },
        account: { select: { slug: true } },
      },
      ...pageById(page),
    });
    return entries.map(({ operator, account, ...entry }) => ({
      ...entry,
      slug: account?.slug ?? null,
      person: operator && this.secretBox.decrypt(operator.email, ownerOfEmail(operator.id)),
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
