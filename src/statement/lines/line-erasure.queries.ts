// Erases the personal data of a statement line (LGPD). Its nsu, amounts, time and ids stay, so that
// totals still add up, and so does the commitment to the erased data, which certificates prove.
import type { Tx } from '../../platform/postgres/database.service.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { commitmentOf } from './statement-line.js';

/**
 * The id (content hash) of an unreadable line before its erasure, and the random id that replaced
 * it.
 */
export interface ReplacedHash {
  formerHash: string;
  contentHash: string;
}

/**
 * Erases the line, and the unreadable lines stored for the same nsu: Those unreadable lines are
 * resolved. A random id replaces the hash of their text, because a guess of the text could be
 * verified against the hash. Returns the replaced hashes.
 */
export async function eraseLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  reason: string,
): Promise<ReplacedHash[]> {
  const where = { accountId_nsu: { accountId, nsu } };
  const line = await tx.statementLine.findUniqueOrThrow({ where });
  if (line.salt !== null) {
    const commitment = commitmentOf(line.salt, line.contentHash);
    const data = { accountId, nsu, reason, commitment };
    await tx.lineErasure.createMany({ data, skipDuplicates: true });
    await tx.statementLine.update({
      where,
      data: {
        ...{ content: '', contentHash: '', salt: null, notes: null, message: null },
        ...{ counterparty: null, counterpartyDocument: null, counterpartyMaskedTaxId: null },
        ...{ counterpartyName: null, counterpartyIspb: null },
        ...{ counterpartyBranch: null, counterpartyAccount: null },
      },
    });
  }
  await recordStatementTask(tx, accountId);
  return tx.$queryRaw<ReplacedHash[]>`
    UPDATE unreadable_line u
    SET content = '',
        content_hash = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
        resolved_at = COALESCE(u.resolved_at, clock_timestamp()),
        resolution = COALESCE(u.resolution, 'erased')
    FROM unreadable_line former
    WHERE former.account_id = ${accountId} AND former.nsu = ${nsu} AND former.content <> ''
      AND u.account_id = former.account_id AND u.content_hash = former.content_hash
    RETURNING former.content_hash AS "formerHash", u.content_hash`;
}
