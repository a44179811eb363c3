// SQL of links of debits to what they refund: what a debit names, what pays a charge, and our
// refunds in progress.
import { opaqueAccountId, type Tx } from '../../platform/postgres/database.service.js';
import { lineReferenceKinds } from '../../statement/expected-payments/references.js';
import { isStanding } from '../../statement/expected-payments/refunds-by-payer.queries.js';
import { Prisma, type Match } from '../../generated/service/client.js';

/** Locks lines in the order of their nsus, so that no refund of them begins meanwhile. */
export async function lockLines(tx: Tx, accountId: number, nsus: Iterable<bigint>): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${[...nsus]}::bigint[])
    ORDER BY nsu FOR NO KEY UPDATE`;
}

/** The credits that pay these expected payments. */
export async function listPayingCredits(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Pick<Match, 'expectedPaymentId' | 'nsu'>[]> {
  return tx.match.findMany({
    where: {
      ...{ accountId, expectedPaymentId: { in: expectedPaymentIds } },
      ...{ role: 'payment', unlinkedAt: null, expectedPayment: { isCredit: true } },
    },
    select: { expectedPaymentId: true, nsu: true },
    orderBy: { nsu: 'asc' },
  });
}

/** The received payments whose refund by us the ids of a debit (l) name. */
export async function listOriginalsOfOwnRefunds(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<bigint[]> {
  const ids = lineReferenceKinds.map(
    ({ kind, column }) => Prisma.sql`(${kind}, ${Prisma.raw(`l.${column}::text`)})`,
  );
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT r.original_nsu AS nsu FROM statement_line l
    JOIN expected_payment_reference named ON named.account_id = l.account_id
      AND (named.kind, named.value) IN (${Prisma.join(ids)})
    JOIN refund r ON r.account_id = named.account_id
      AND r.expected_payment_id = named.expected_payment_id
    WHERE l.account_id = ${opaqueAccountId(accountId)} AND l.nsu = ${nsu}`;
  return rows.map((row) => row.nsu);
}

/** The received payments of our refunds among these expected payments. */
export async function listOriginalsOfPayments(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<bigint[]> {
  const where = { accountId, expectedPaymentId: { in: expectedPaymentIds } };
  const refunds = await tx.refund.findMany({ where, distinct: 'originalNsu' });
  return refunds.map(({ originalNsu }) => originalNsu);
}

/** The received payments to which a person has linked the debit, by the link that stands. */
export async function listLinkedOriginals(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT part.original_nsu AS nsu FROM linked_original part
    WHERE part.account_id = ${opaqueAccountId(accountId)} AND part.nsu = ${nsu} AND ${isStanding}`;
  return rows.map((row) => row.nsu);
}
