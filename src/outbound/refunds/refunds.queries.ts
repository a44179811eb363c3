// The SQL of refunds. The original Pix is locked while a refund of it is recorded or linked.
import type { RefundFilter } from '../../bank-contract/refunds.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import {
  isReceivedPix,
  mayBeReceivedPix,
} from '../../statement/expected-payments/received-pix.queries.js';
import { Prisma } from '../../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { refundsOfPix } from '../../statement/expected-payments/refunds-of-pix.js';
import { readRefundFacts } from '../../statement/expected-payments/refunds-of-pix.queries.js';
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
  const line = Prisma.sql`statement_line`;
  return db.$queryRaw<ReferencedStatementLine[]>`
    SELECT nsu, is_credit, amount_cents, type_name, end_to_end_id, original_end_to_end_id,
           counterparty, occurred_at, idempotency_key, movement_id,
           ${isReceivedPix(line)} AS "isReceivedPix"
    FROM statement_line WHERE account_id = ${accountId} AND ${matchesReference(filterBy, id)}
    ORDER BY ${mayBeReceivedPix(line)} DESC, nsu LIMIT 20`;
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
    hasUnattributedRefund: facts.hasUnattributed,
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

/** The ids of the line that is matched to the refund as its payment. */
export async function findLineOfRefund(tx: Tx, { accountId, id }: OperationRef) {
  const match = await tx.match.findFirst({
    where: { accountId, expectedPayment: { refund: { id } }, role: 'payment', unlinkedAt: null },
    orderBy: { nsu: 'asc' },
    select: { line: { select: { nsu: true, endToEndId: true } } },
  });
  return match?.line ?? null;
}
