// Erases the personal data of a certified line, and the salt with which a guess of that data could
// be confirmed. The commitment stays, so that the certificates can still be verified.
import type { Database } from '../../platform/postgres/database.service.js';
import { renameUnreadableLineBreaks } from '../../reconciliation/apply/break-writer.queries.js';
import { eraseCommentsOfLine } from '../../reconciliation/breaks/break-comments.queries.js';
import { eraseLine } from '../../statement/lines/line-erasure.queries.js';
import {
  eraseReportedParties,
  keepOriginals,
} from '../../webhooks/processing/webhook-reports.queries.js';
import { isCertified } from './day-closes.queries.js';

export type ErasureOutcome = 'erased' | 'not_found' | 'not_certified';

export class LineEraser {
  constructor(private readonly database: Database) {}

  /** An uncertified line is not erased: nothing could prove its content afterwards. */
  async erase(slug: string, nsu: bigint, reason: string): Promise<ErasureOutcome> {
    return this.database.transaction(async (tx) => {
      const account = await tx.bankAccount.findUnique({ where: { slug } });
      if (!account) return 'not_found';
      const accountId = account.id;
      const line = await tx.statementLine.findUnique({
        where: { accountId_nsu: { accountId, nsu } },
        select: { occurredAt: true, arrival: true },
      });
      if (!line) return 'not_found';
      if (!(await isCertified(tx, accountId, line))) return 'not_certified';
      await keepOriginals(tx, accountId, nsu);
      await eraseReportedParties(tx, accountId, nsu);
      await eraseCommentsOfLine(tx, accountId, nsu);
      await renameUnreadableLineBreaks(tx, accountId, await eraseLine(tx, accountId, nsu, reason));
      return 'erased';
    });
  }
}
