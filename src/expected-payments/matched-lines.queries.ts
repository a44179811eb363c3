// Reads the statement lines that are matched to outgoing payments.
import type { Db } from '../database.service.js';
import type { Match, StatementLine } from '../generated/service/client.js';

export type MatchedLine = Pick<Match, 'expectedPaymentId' | 'role' | 'nsu' | 'amountCents'> &
  Pick<StatementLine, 'endToEndId' | 'occurredAt'>;

/** Keyed by expected payment, with an entry for each id; lines in (occurredAt, nsu) order. */
export async function listMatchedLines(
  db: Db,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Map<string, MatchedLine[]>> {
  const byPayment = new Map<string, MatchedLine[]>(expectedPaymentIds.map((id) => [id, []]));
  if (expectedPaymentIds.length === 0) return byPayment;
  const lines = await db.$queryRaw<MatchedLine[]>`
    SELECT m.expected_payment_id, m.role, m.nsu, m.amount_cents, l.end_to_end_id, l.occurred_at
    FROM match m JOIN statement_line l ON l.account_id = m.account_id AND l.nsu = m.nsu
    WHERE m.account_id = ${accountId} AND m.unlinked_at IS NULL
      AND m.expected_payment_id = ANY (${expectedPaymentIds}::uuid[])
    ORDER BY l.occurred_at, l.nsu`;
  for (const line of lines) byPayment.get(line.expectedPaymentId)?.push(line);
  return byPayment;
}
