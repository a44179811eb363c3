// One decision about the rows of an upload that await approval. Each operation is decided on its
// own, as a single one is.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Approvals, type GivenDecision } from '../operations/approvals.service.js';
import { AppError } from '../../platform/errors.js';
import type { decideUpload } from './bulk.schema.js';
import { countRowsAwaitingApproval, listRowsAwaitingApproval } from './bulk.queries.js';

/** Each is a transaction of its own, and the caller waits for all of them. */
const maxRowsDecided = 500;

type Result = RouteOutput<typeof decideUpload>;

@Injectable()
export class BulkApprovals {
  constructor(
    private readonly database: Database,
    private readonly approvals: Approvals,
  ) {}

  /**
   * Decides the next rows after a line. A row that cannot be decided is reported, and the others
   * are decided; so is a row that another maker had requested before the upload. Throws `forbidden`
   * where the caller is the maker of all of them, and like `assertAccountLive`.
   */
  async decide(
    caller: Pick<Caller, 'accountId' | 'actor'>,
    uploadId: string,
    { afterLine, ...decision }: GivenDecision & { afterLine: number },
  ): Promise<Result> {
    const { accountId, actor } = caller;
    const { prisma } = this.database;
    const page = { afterLine, limit: maxRowsDecided };
    const rows = await listRowsAwaitingApproval(prisma, accountId, uploadId, { ...page, actor });
    const refused: Result['refused'] = [];
    const own: AppError[] = [];
    for (const { line, operationId } of rows) {
      try {
        await this.approvals.decide(caller, operationId, decision);
      } catch (error) {
        if (!(error instanceof AppError) || !isRefusal(error)) throw error;
        if (error.code === 'forbidden') own.push(error);
        const { reason, public: title = null } = error.details;
        refused.push({ line, operationId, code: reason ?? error.code, title });
      }
    }
    if (own[0] && own.length === rows.length) throw own[0];
    const last = rows.at(-1)?.line ?? null;
    return {
      decided: rows.length - refused.length,
      refused,
      waiting: await countRowsAwaitingApproval(prisma, accountId, uploadId),
      nextAfterLine: rows.length === maxRowsDecided ? last : null,
    };
  }
}

/** Whether the error is about one row: it cannot be decided, or not by its maker. */
function isRefusal({ code, details }: AppError): boolean {
  return code === 'conflict' || details.reason === 'own_request';
}
