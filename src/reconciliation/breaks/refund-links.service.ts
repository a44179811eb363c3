// Which received payments a debit refunds that a person links. The id on the debit decides, then
// our operation, and only then the person. Callers hold the reconciliation lock.
import type { Tx } from '../../platform/postgres/database.service.js';
import { isUndoingType } from '../../bank-contract/line-types.js';
import {
  namesPix,
  netCentsOf,
  refundsOfPix,
  type PixLine,
} from '../../statement/expected-payments/refunds-of-pix.js';
import { readRefundFacts } from '../../statement/expected-payments/refunds-of-pix.queries.js';
import { groupBy } from '../../platform/grouping.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import type { ManualLink, RefundedPart } from '../decide/model.js';
import * as queries from './refund-links.queries.js';

/** More lines that pay one charge than this are not compared. */
export const maxCompared = 50;

/** What the statement shows as refunded of a line. */
export async function readShownRefundCents(
  tx: Tx,
  accountId: number,
  line: PixLine,
): Promise<bigint> {
  return netCentsOf(refundsOfPix(await readRefundFacts(tx, accountId, line)).debits);
}

/**
 * The received payment that each of these charges was paid by, where exactly one can be refunded by
 * so much. Throws `original_required`.
 */
export async function inferOriginals(
  tx: Tx,
  accountId: number,
  debit: PixLine,
  allocations: ManualLink['allocations'],
): Promise<RefundedPart[]> {
  const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId);
  const paying = await queries.listPayingCredits(tx, accountId, ids);
  const byPayment = groupBy(paying, ({ expectedPaymentId }) => expectedPaymentId);
  const parts: RefundedPart[] = [];
  for (const { expectedPaymentId, amountCents } of allocations) {
    const nsus = (byPayment.get(expectedPaymentId) ?? []).map(({ nsu }) => nsu);
    const originalNsu = await findOriginal(tx, accountId, { debit, amountCents }, nsus);
    parts.push({ originalNsu, amountCents, expectedPaymentId });
  }
  return parts;
}

async function findOriginal(
  tx: Tx,
  accountId: number,
  { debit, amountCents }: { debit: PixLine; amountCents: bigint },
  nsus: readonly bigint[],
): Promise<bigint> {
  const [only, ...others] = nsus;
  if (only !== undefined && others.length === 0) return only;
  const fitting: bigint[] = [];
  for (const line of await findLines(tx, accountId, nsus.slice(0, maxCompared))) {
    if (namesPix(debit, line.endToEndId)) return line.nsu;
    const facts = await readRefundFacts(tx, accountId, line);
    const links = facts.links.filter(({ nsu }) => nsu !== debit.nsu);
    const refunded = netCentsOf(refundsOfPix({ ...facts, links }).debits);
    if (line.amountCents - refunded >= amountCents) fitting.push(line.nsu);
  }
  const [found] = fitting;
  if (found !== undefined && fitting.length === 1 && nsus.length <= maxCompared) return found;
  throw ruleBroken(
    'original_required',
    'Several received payments may be the one that was refunded: name them in refundOf.',
  );
}

const findLines = (tx: Tx, accountId: number, nsus: readonly bigint[]) =>
  tx.statementLine.findMany({
    where: { accountId, nsu: { in: [...nsus] } },
    orderBy: { nsu: 'asc' },
  });

/**
 * Throws `not_found` for a line that does not exist, and `rule_broken` for one that no debit
 * refunds, for parts that do not sum to the debit, and for a debit that names another Pix.
 * `others`: what else the debit pays.
 */
export async function assertRefunds(
  tx: Tx,
  accountId: number,
  debit: PixLine,
  parts: readonly RefundedPart[],
  others: ManualLink['allocations'] = [],
): Promise<void> {
  const keys = parts.map(({ originalNsu, expectedPaymentId }) =>
    [originalNsu, expectedPaymentId].join(' '),
  );
  const total = [...parts, ...others].reduce((sum, { amountCents }) => sum + amountCents, 0n);
  if (new Set(keys).size < keys.length || total !== debit.amountCents)
    throw ruleBroken(
      'allocations_differ',
      'Each received payment must occur once in refundOf, and the parts must sum to the line.',
    );
  const nsus = new Set(parts.map(({ originalNsu }) => originalNsu));
  const lines = await findLines(tx, accountId, [...nsus]);
  if (lines.length < nsus.size) throw new AppError('not_found');
  for (const line of lines) {
    if (!line.isCredit || isUndoingType(line.typeName))
      throw ruleBroken('not_refundable', 'Only a received payment can be refunded.');
    const ofLine = parts.filter(({ originalNsu }) => originalNsu === line.nsu);
    if (ofLine.reduce((sum, one) => sum + one.amountCents, 0n) > line.amountCents)
      throw ruleBroken('refund_exceeds_original', 'A part must not exceed the received payment.');
  }
  await assertPaid(tx, accountId, parts);
  await assertNamesNoOther(tx, accountId, debit, lines);
}

/** Throws where a part names an expected payment that its line does not pay. */
async function assertPaid(
  tx: Tx,
  accountId: number,
  parts: readonly RefundedPart[],
): Promise<void> {
  const ids = parts.flatMap(({ expectedPaymentId }) => expectedPaymentId ?? []);
  if (ids.length === 0) return;
  const paying = await queries.listPayingCredits(tx, accountId, ids);
  const isPaid = ({ originalNsu, expectedPaymentId: id }: RefundedPart) =>
    id === null || paying.some((one) => one.nsu === originalNsu && one.expectedPaymentId === id);
  if (!parts.every(isPaid))
    throw ruleBroken('not_paid_by_original', 'The received payment does not pay this charge.');
}

/** Throws `names_another` where the id on the debit, or else our operation, says of which Pix. */
export async function assertNamesNoOther(
  tx: Tx,
  accountId: number,
  debit: PixLine,
  linked: readonly Pick<PixLine, 'nsu' | 'endToEndId'>[],
): Promise<void> {
  const isLinked = new Set(linked.map(({ nsu }) => nsu));
  const named = debit.originalEndToEndId;
  const own = await queries.listOriginalsOfOwnRefunds(tx, accountId, debit.nsu);
  const isAgreed =
    named !== null
      ? linked.every(({ endToEndId }) => endToEndId === named)
      : own.every((nsu) => isLinked.has(nsu)) &&
        (own.length === 0 || linked.every(({ nsu }) => own.includes(nsu)));
  if (!isAgreed) throw ruleBroken('names_another', 'The line names another received payment.');
}

/**
 * Throws `conflict` while a refund of one of these received payments is under way. `linkedIds`: a
 * debit that is linked to a refund without a known outcome is what ends it.
 */
export async function assertNoRefundUnderWay(
  tx: Tx,
  accountId: number,
  originalNsus: bigint[],
  linkedIds: string[] = [],
): Promise<void> {
  const underWay = await tx.refund.findFirst({
    where: {
      ...{ accountId, originalNsu: { in: originalNsus } },
      OR: [
        { operation: { state: { in: ['received', 'sending', 'awaiting_approval'] } } },
        { operation: { state: 'unknown' }, expectedPaymentId: { notIn: linkedIds } },
      ],
    },
  });
  if (underWay)
    throw conflict(
      'refund_under_way',
      'A refund of the received payment is under way; try again when its outcome is known.',
    );
}
