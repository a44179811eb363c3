// Erases what is personal in a line of the mirror. Its number, money, time and ids stay: the book still adds up.
import type { Tx } from '../database.service.js';

/** What a line that was set aside was called by, and what it is called by now. */
export interface Renamed {
  formerHash: string;
  contentHash: string;
}

/**
 * What the line was set aside with, when it came otherwise, goes too: it is settled, and bears a random name in place of
 * the hash of its text, by which a guess of the text could be tried. Answers how those were called.
 */
export async function eraseLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  reason: string,
): Promise<Renamed[]> {
  await tx.$executeRaw`
    INSERT INTO line_erasure (account_id, nsu, reason)
    SELECT account_id, nsu, ${reason} FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}
    ON CONFLICT (account_id, nsu) DO NOTHING`;
  await tx.$executeRaw`
    UPDATE statement_line
    SET content = '', content_hash = '', notes = NULL, counterparty = NULL, counterparty_document = NULL
    WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  return tx.$queryRaw<Renamed[]>`
    UPDATE unreadable_line u
    SET content = '', content_hash = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
        resolved_at = COALESCE(u.resolved_at, now()), resolution = COALESCE(u.resolution, 'erased')
    FROM unreadable_line former
    WHERE former.account_id = ${accountId} AND former.nsu = ${nsu} AND former.content <> ''
      AND u.account_id = former.account_id AND u.content_hash = former.content_hash
    RETURNING former.content_hash AS "formerHash", u.content_hash AS "contentHash"`;
}
