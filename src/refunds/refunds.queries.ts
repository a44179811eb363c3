// The SQL of refunds. The original Pix is locked while a refund of it is recorded or linked.
import type { RefundFilter } from '../contract/refunds.js';
import type { Db, Tx } from '../database.service.js';
import { undoesDebit } from '../expected-payments/undone-debits.queries.js';
import { Prisma, type Refund } from '../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { lineReferenceKinds } from '../expected-payments/references.js';
import { netCentsOf, refundsOfPix, type PixLine } from '../expected-payments/refunds-of-pix.js';
import {
  isStanding,
  listRelatedCredits,
  readRefundFacts,
} from '../expected-payments/refunds-of-pix.queries.js';
import { otherThanPixPattern, undoingPattern } from '../contract/line-types.js';
import type { RefundOriginal, ReferencedStatementLine } from './received-pix.js';
import type { RefundableFacts } from './refundable-amount.js';

const matchesReference = (filterBy: RefundFilter, id: string): Prisma.Sql => {
  switch (filterBy) {
    case 'CORRELATION_ID':
      return Prisma.sql`correlation_id = ${id}`;
    case 'END_TO_END_ID':
      return Prisma.sql`end_to_end_id = ${id}`;
    case 'NSU':
      return Prisma.sql`nsu = ${BigInt(id)}`;
  }
};

/**
 * Up to 20 lines of a reference. Lines that may be a received Pix come first, because a QR code may
 * have been paid a thousand times. With `NSU` the id must be a whole number.
 */
export async function listRefundReferenceLines(
  db: Db,
  accountId: number,
  { filterBy, id }: { filterBy: RefundFilter; id: string },
): Promise<ReferencedStatementLine[]> {
  return db.$queryRaw<ReferencedStatementLine[]>`
    SELECT nsu, is_credit, amount_cents, type_name, end_to_end_id, original_end_to_end_id,
           counterparty, occurred_at, idempotency_key, movement_id,
           ${undoesDebit(Prisma.sql`statement_line`)} AS "undoesDebit"
    FROM statement_line WHERE account_id = ${accountId} AND ${matchesReference(filterBy, id)}
    ORDER BY
      (is_credit AND end_to_end_id LIKE 'E%' AND original_end_to_end_id IS NULL) IS TRUE DESC, nsu
    LIMIT 20`;
}

/**
 * Locks the Pix for the rest of the transaction, so that only one refund of it is checked at a
 * time.
 */
export async function lockRefundOriginal(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}
    FOR NO KEY UPDATE`;
}

/**
 * What decides how much of a Pix, which the caller has locked, can be refunded. `exceptId`: without
 * the refund of this operation.
 */
export async function readRefundableFacts(
  tx: Tx,
  accountId: number,
  original: RefundOriginal,
  exceptId: string | null = null,
): Promise<RefundableFacts> {
  const facts = await readRefundFacts(tx, accountId, original);
  const own = facts.own.filter(({ id }) => id !== exceptId);
  const [state] = await tx.$queryRaw<Pick<RefundableFacts, 'isDisputed'>[]>`
    SELECT ${isDisputed(accountId, original.endToEndId)} AS "isDisputed"`;
  return {
    originalCents: original.amountCents,
    refunds: refundsOfPix({ ...facts, own }),
    hasUnattributedRefund: await hasUnattributedRefund(tx, accountId, original),
    isDisputed: state?.isDisputed === true,
  };
}

/**
 * The states of the breaks of a Pix for which a refund with this key was requested. They cannot
 * change for the rest of the transaction.
 */
export async function lockBreaksOfRefund(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  key: string | null,
): Promise<string[]> {
  const breaks = await tx.$queryRaw<{ state: string }[]>`
    SELECT b.state FROM break b
    WHERE b.account_id = ${accountId} AND b.nsu = ${nsu} AND EXISTS (
      SELECT FROM break_history_entry e
      WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund'
        AND e.detail ->> 'key' = ${key})
    ORDER BY b.id FOR SHARE`;
  return breaks.map(({ state }) => state);
}

/** Whether a dispute of the Pix has neither a return by the bank nor a resolved break. */
const isDisputed = (accountId: number, endToEndId: string | null) => Prisma.sql`
  EXISTS (
    SELECT FROM dispute d
    WHERE d.account_id = ${accountId} AND d.end_to_end_id = ${endToEndId}
      AND d.returned_nsu IS NULL AND NOT EXISTS (
        SELECT FROM break b WHERE b.account_id = d.account_id AND b.kind = 'disputed'
          AND b.subject = 'dispute:' || d.id AND b.state = 'resolved'))`;

/** More refunds without a Pix than this freeze every Pix of their payer. */
const maxUnattributed = 100;

/**
 * Whether the statement shows a refund since the Pix that may be of it and that nothing ties to a
 * Pix: no id, no refund of ours and no person. It may be of it where both have one counterparty,
 * or one of them shows none and the amount is not more. A refund that was reversed is of none.
 */
async function hasUnattributedRefund(
  tx: Tx,
  accountId: number,
  original: RefundOriginal,
): Promise<boolean> {
  const { counterparty, occurredAt, amountCents } = original;
  const debits = await tx.$queryRaw<PixLine[]>`
    SELECT l.nsu, l.is_credit, l.amount_cents, l.type_name, l.occurred_at, l.idempotency_key,
           l.movement_id, l.end_to_end_id, l.original_end_to_end_id
    FROM statement_line l
    WHERE l.account_id = ${accountId} AND l.occurred_at >= ${occurredAt}
      AND ${mayRefundUnnamed(Prisma.sql`l`)}
      AND (l.counterparty = ${counterparty}
        OR (l.counterparty IS NULL OR ${counterparty}::text IS NULL)
          AND l.amount_cents <= ${amountCents})
      AND NOT EXISTS (SELECT FROM statement_line named
        WHERE named.account_id = l.account_id AND named.end_to_end_id = l.end_to_end_id
          AND named.is_credit AND named.type_name !~* ${Prisma.raw(`'${undoingPattern}'`)})
      AND NOT EXISTS (SELECT FROM match m
        JOIN refund r ON r.account_id = m.account_id
          AND r.expected_payment_id = m.expected_payment_id
        WHERE m.account_id = l.account_id AND m.nsu = l.nsu AND m.unlinked_at IS NULL)
      AND NOT EXISTS (SELECT FROM expected_payment_reference named
        JOIN refund r ON r.account_id = named.account_id
          AND r.expected_payment_id = named.expected_payment_id
        WHERE named.account_id = l.account_id
          AND (named.kind, named.value) IN (${Prisma.join(idsOfLine)}))
      AND NOT EXISTS (SELECT FROM linked_original part
        WHERE part.account_id = l.account_id AND part.nsu = l.nsu AND ${isStanding})
    LIMIT ${maxUnattributed}`;
  if (debits.length === 0) return false;
  const credits = await listRelatedCredits(tx, accountId, debits);
  const links = debits.map(({ nsu, amountCents: cents }) => ({ nsu, amountCents: cents }));
  const lines = [...debits, ...credits];
  return netCentsOf(refundsOfPix({ pix: original, lines, own: [], links }).debits) > 0n;
}

/** The ids that a line (l) carries, as kind and value. */
const idsOfLine = lineReferenceKinds.map(
  ({ kind, column }) => Prisma.sql`(${kind}, ${Prisma.raw(`l.${column}::text`)})`,
);

/**
 * Whether a line is a debit that may refund a Pix and names none. Must equal the condition of the
 * index statement_line_unnamed_refund, so that PostgreSQL uses it.
 */
const mayRefundUnnamed = (line: Prisma.Sql) => Prisma.sql`(
  ${line}.is_credit = false AND ${line}.original_end_to_end_id IS NULL
  AND ${line}.type_name ~* ${Prisma.raw(`'${undoingPattern}'`)}
  AND ${line}.type_name !~* ${Prisma.raw(`'${otherThanPixPattern}'`)})`;

/**
 * Marks a refund as accepted: the bank accepted it, or the statement shows it. An id that is null
 * here keeps its stored value.
 */
export async function markRefundAccepted(
  tx: Tx,
  { accountId, id }: OperationRef,
  { nsu, endToEndId }: Pick<Refund, 'nsu' | 'endToEndId'>,
): Promise<{ expectedPaymentId: string } | null> {
  const [refund] = await tx.$queryRaw<{ expectedPaymentId: string }[]>`
    UPDATE refund
    SET state = 'accepted', nsu = COALESCE(${nsu}, nsu),
        end_to_end_id = COALESCE(${endToEndId}, end_to_end_id)
    WHERE account_id = ${accountId} AND id = ${id}::uuid
    RETURNING expected_payment_id`;
  return refund ?? null;
}

export async function markRefundRejected(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE refund SET state = 'rejected'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'requested'`;
}

/** The ids of the line that is matched to the refund as its payment. */
export async function findLineOfRefund(tx: Tx, { accountId, id }: OperationRef) {
  const match = await tx.match.findFirst({
    where: { accountId, expectedPayment: { refund: { id } }, role: 'payment', unlinkedAt: null },
    orderBy: { nsu: 'asc' },
    select: { line: { select: { nsu: true, endToEndId: true } } },
  });
  return match?.line ?? null;
}
