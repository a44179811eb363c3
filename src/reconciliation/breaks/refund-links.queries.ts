// SQL of links of debits to what they refund: what a debit names, what pays a charge, and our
// refunds in progress.
import { opaqueAccountId, type Tx } from '../../platform/postgres/database.service.js';
import { lineReferenceKinds } from '../../statement/expected-payments/references.js';
import { isStanding } from '../../statement/expected-payments/refunds-by-payer.queries.js';
import { Prisma } from '../../generated/service/client.js';

/** Locks lines in the order of their nsus, so that no refund of them begins meanwhile. */
export async function lockLines(tx: Tx, accountId: number, nsus: Iterable<bigint>): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${[...nsus]}::bigint[])
    ORDER BY nsu FOR NO KEY UPDATE`;
}

export interface PayingLine {
  expectedPaymentId: string;
  nsu: bigint;
}

/** The credits that pay these expected payments. */
export async function listPayingCredits(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: readonly string[],
): Promise<PayingLine[]> {
  return tx.$queryRaw<PayingLine[]>`
    SELECT m.expected_payment_id, m.nsu FROM match m
    JOIN expected_payment e ON e.account_id = m.account_id AND e.id = m.expected_payment_id
    WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.unlinked_at IS NULL
      AND m.expected_payment_id = ANY (${[...expectedPaymentIds]}::uuid[])
      AND m.role = 'payment' AND e.is_credit
    ORDER BY m.nsu`;
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
  expectedPaymentIds: readonly string[],
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT original_nsu AS nsu FROM refund
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND expected_payment_id = ANY (${[...expectedPaymentIds]}::uuid[])`;
  return rows.map((row) => row.nsu);
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

/**
 * Whether a refund of one of these received payments is under way. `linkedIds`: a debit that is
 * linked to a refund without a known outcome is what ends it.
 */
export async function isRefundUnderWay(
  tx: Tx,
  accountId: number,
  originalNsus: readonly bigint[],
  linkedIds: readonly string[],
): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM refund r
    JOIN operation o ON o.account_id = r.account_id AND o.id = r.id
    WHERE r.account_id = ${opaqueAccountId(accountId)}
      AND r.original_nsu = ANY (${[...originalNsus]}::bigint[])
      AND (o.state IN ('received', 'sending', 'awaiting_approval') OR o.state = 'unknown'
        AND r.expected_payment_id <> ALL (${[...linkedIds]}::uuid[]))
    LIMIT 1`;
  return found.length > 0;
}
