// Finds what the Pix of a dispute paid.
import type { Db } from '../../platform/postgres/database.service.js';

const maxCharges = 20;

/** The line of the Pix of a dispute, and the charges that it paid. */
export async function findDisputedLine(
  db: Db,
  accountId: number,
  endToEndId: string,
): Promise<{ nsu: bigint; correlationIds: string[] } | null> {
  const line = await db.statementLine.findFirst({
    where: { accountId, endToEndId, isCredit: true },
    orderBy: { nsu: 'asc' },
    select: { nsu: true },
  });
  if (!line) return null;
  const paid = await db.$queryRaw<{ correlationId: string }[]>`
    SELECT c.correlation_id FROM match m
    JOIN charge c ON c.account_id = m.account_id AND c.expected_payment_id = m.expected_payment_id
    WHERE m.account_id = ${accountId} AND m.nsu = ${line.nsu} AND m.role = 'payment'
    ORDER BY c.correlation_id LIMIT ${maxCharges}`;
  return { nsu: line.nsu, correlationIds: paid.map(({ correlationId }) => correlationId) };
}
