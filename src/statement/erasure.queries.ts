// Erases what is personal in a line of the mirror. Its number, money, time and ids stay: the book still adds up.
import type { Tx } from '../database.service.js';

/** False where there is no such line. What it was set aside with, when it came again otherwise, goes too. */
export async function eraseLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  reason: string,
): Promise<boolean> {
  await tx.$executeRaw`
    INSERT INTO line_erasure (account_id, nsu, reason)
    SELECT account_id, nsu, ${reason} FROM "transaction" WHERE account_id = ${accountId} AND nsu = ${nsu}
    ON CONFLICT (account_id, nsu) DO NOTHING`;
  const erased = await tx.$executeRaw`
    UPDATE "transaction"
    SET content = '', content_hash = '', notes = NULL, counterparty = NULL, counterparty_document = NULL
    WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  await tx.$executeRaw`
    UPDATE unreadable_line SET content = '' WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  return erased === 1;
}
