// Refunds of received payments: what was refunded of each, and what a debit means that refunds one
// without a request of ours, as when the bank returns a Pix for fraud.
import {
  netCentsOf,
  refundsOfPix,
  type OwnRefund,
  type RefundsOfPix,
} from '../../statement/expected-payments/refunds-of-pix.js';
import { isUndoingType } from '../../bank-contract/line-types.js';
import {
  maxPossibleOriginals,
  onlyOriginal,
  originalsWithEnoughLeft,
  type RefundedOriginal,
} from '../../statement/expected-payments/refunds-by-payer.js';
import { subjectOfLine } from './break-kinds.js';
import { compareLines, type Component } from './component.js';
import type {
  BreakDecision,
  ExpectedPaymentFacts,
  LineAllocation,
  ManualLink,
  PaymentFinding,
  StatementLineFacts,
} from './model.js';
import { allocateLinked } from './manual-links.js';
import { reversalOf } from './reversals.js';

interface RequestedRefund extends OwnRefund {
  payment: ExpectedPaymentFacts;
}

type Refunds = RefundsOfPix<StatementLineFacts, RequestedRefund>;

/** The refunds of a credit. */
export function refundsOf(component: Component, credit: StatementLineFacts): Refunds {
  const { nsu, endToEndId } = credit;
  const requested = component.ownRefundsOf(nsu);
  const links = component.linkedRefundsOf(nsu);
  const naming = [
    ...component.linesNaming(endToEndId),
    ...component.linesWithEndToEndId(endToEndId),
  ].filter(({ isCredit }) => !isCredit);
  if (!credit.isCredit || requested.length + links.length + naming.length === 0)
    return { debits: [], pending: [] };
  const own = requested.map((payment) => ({
    expectedPaymentId: payment.id,
    amountCents: payment.amountCents ?? 0n,
    references: payment.references,
    isOver: payment.isWithdrawn || payment.operationState === 'rejected',
    matches: component.allocationsOf(payment.id),
    payment,
  }));
  const byNsu = [...links, ...own.flatMap(({ matches }) => matches)];
  const lines = [
    ...naming,
    ...requested.flatMap((payment) => component.linesWithReferenceOf(payment)),
    ...byNsu.flatMap((one) => component.lineByNsu.get(one.nsu) ?? []),
  ];
  const related = lines.flatMap((line) => [
    ...component.linesWithEndToEndId(line.endToEndId),
    ...component.linesNaming(line.endToEndId),
    ...component.linesWithEndToEndId(line.originalEndToEndId),
  ]);
  return refundsOfPix({ pix: credit, own, links, lines: [...new Set([...lines, ...related])] });
}

/** The credits that a debit without the id of its Pix may refund, with their refunds so far. */
function possibleOriginalsOf(
  component: Component,
  { nsu }: StatementLineFacts,
): RefundedOriginal[] {
  const originals = component.facts.possibleOriginals.get(nsu) ?? [];
  return originals.flatMap((one) => {
    const credit = component.lineByNsu.get(one.nsu);
    if (!credit) return [];
    return [{ ...one, amountCents: credit.amountCents, refunds: refundsOf(component, credit) }];
  });
}

/** Ties the debit to the credit that it refunds, where its payer says which. */
export function tieByPayer(component: Component, debit: StatementLineFacts): void {
  const only = onlyOriginal(debit, possibleOriginalsOf(component, debit));
  const credit = only === null ? undefined : component.lineByNsu.get(only);
  if (credit) component.tie(debit, credit);
}

/**
 * Whether the line may be the refund of another Pix of its payer than these: the bank refunds by
 * itself, too, as for fraud.
 */
export function mayRefundAnother(
  component: Component,
  debit: StatementLineFacts,
  candidates: readonly { payment: ExpectedPaymentFacts }[],
): boolean {
  const own = candidates.flatMap(({ payment }) => payment.refundOfNsu ?? []);
  if (own.length === 0) return false;
  const possible = originalsWithEnoughLeft(debit, possibleOriginalsOf(component, debit));
  const isFull =
    (component.facts.possibleOriginals.get(debit.nsu) ?? []).length > maxPossibleOriginals;
  return isFull || new Set([...own, ...possible.map(({ nsu }) => nsu)]).size > 1;
}

/** The debits that refund a credit, without those that were reversed. */
export function debitsRefunding(
  component: Component,
  credit: StatementLineFacts,
): StatementLineFacts[] {
  return refundsOf(component, credit)
    .debits.filter(({ amountCents, reversedCents }) => amountCents > reversedCents)
    .map(({ line }) => line);
}

/** What the statement shows as refunded of a credit: all of it, or until a line, with it or not. */
export function shownRefundCents(
  component: Component,
  credit: StatementLineFacts,
  { until, isIncluded = false }: { until?: StatementLineFacts; isIncluded?: boolean } = {},
): bigint {
  const { debits } = refundsOf(component, credit);
  const isCounted = (line: StatementLineFacts) => {
    const order = until === undefined ? -1 : compareLines(line, until);
    return order < 0 || (order === 0 && isIncluded);
  };
  return netCentsOf(debits.filter(({ line }) => isCounted(line)));
}

/**
 * The refunded part of a payment. A partial refund of a line that pays several expected payments
 * belongs to none of them, until a person says of which it is.
 */
export function refundedCentsOf(
  component: Component,
  { nsu, expectedPaymentId, amountCents }: LineAllocation,
): bigint {
  const line = component.lineByNsu.get(nsu);
  if (!line) return 0n;
  const { debits } = refundsOf(component, line);
  const shownCents = netCentsOf(debits);
  const isDivided = amountCents !== line.amountCents && shownCents < line.amountCents;
  const parts = debits
    .filter((debit) => debit.amountCents > debit.reversedCents)
    .flatMap((debit) => component.linkOf(debit.line.nsu)?.refundOf ?? [])
    .filter((part) => part.originalNsu === nsu && part.expectedPaymentId === expectedPaymentId);
  const refunded = isDivided ? parts.reduce((sum, part) => sum + part.amountCents, 0n) : shownCents;
  return refunded < amountCents ? refunded : amountCents;
}

/** The credits that a debit refunds: those that it names, and those that a person linked. */
export function creditsRefundedBy(
  component: Component,
  debit: StatementLineFacts,
): StatementLineFacts[] {
  const linked = component.linkOf(debit.nsu)?.refundOf ?? [];
  const credits = [
    ...creditsNamedBy(component, debit),
    ...linked.flatMap(({ originalNsu }) => component.lineByNsu.get(originalNsu) ?? []),
  ];
  return [...new Set(credits)];
}

/**
 * The credits that a debit names as its original, or that its payer ties to it. Some banks show a
 * refund under the id of its Pix.
 */
function creditsNamedBy(component: Component, debit: StatementLineFacts): StatementLineFacts[] {
  const tied = component.tiedCreditOf(debit.nsu);
  if (tied) return [tied];
  const { endToEndId, originalEndToEndId: original, typeName } = debit;
  const id = original ?? (isUndoingType(typeName) ? endToEndId : null);
  return component
    .linesWithEndToEndId(id)
    .filter((one) => one.isCredit && (original !== null || !isUndoingType(one.typeName)));
}

/**
 * Whether the statement shows the requested refund of a break, and it covers the break: the amount
 * that the break had, or the whole Pix. Only the statement resolves a break.
 */
export function isRefundShown(
  component: Component,
  { nsu, refundPaymentId, cents }: BreakDecision,
): boolean {
  const line = nsu === null ? undefined : component.lineByNsu.get(nsu);
  if (!line || refundPaymentId === null) return false;
  const paidCents = component.paidCents(refundPaymentId);
  if (paidCents === 0n || component.reversedCents(refundPaymentId) > 0n) return false;
  return cents === null || paidCents >= cents || isFullyRefunded(component, line);
}

export const isFullyRefunded = (component: Component, credit: StatementLineFacts): boolean =>
  shownRefundCents(component, credit) >= credit.amountCents;

/** Whether the debit refunds a credit on the statement, and all such debits do not exceed it. */
export function isRefundWithinOriginal(component: Component, debit: StatementLineFacts): boolean {
  const [credit, ...others] = creditsRefundedBy(component, debit);
  if (!credit || others.length > 0) return false;
  return shownRefundCents(component, credit) <= credit.amountCents;
}

/** Decides a debit that refunds a credit without a request of ours. */
export function refundUnrequested(component: Component, debit: StatementLineFacts): void {
  const [credit, ...others] = creditsNamedBy(component, debit);
  if (!credit) return component.leaveUnmatched(debit, 'unexpected');
  const { nsu: originalNsu } = credit;
  if (others.length > 0) return component.leaveUnmatched(debit, 'ambiguous');
  const paid = component
    .allocationsOfLine(credit.nsu)
    .filter(({ role }) => role === 'payment')
    .filter(({ expectedPaymentId }) => !component.isSeparated(debit, expectedPaymentId));
  const unrefundedCents =
    credit.amountCents - shownRefundCents(component, credit, { until: debit });
  if (paid.length === 0 || debit.amountCents > unrefundedCents)
    return component.leaveUnmatched(debit, 'unexpected', { originalNsu });
  const parts = partsOf({ originalNsu, amountCents: debit.amountCents }, credit, paid);
  if (parts === null) return component.leaveUnmatched(debit, 'ambiguous', { originalNsu });
  // A person may have matched the refund to another line.
  if (parts.some((part) => part.amountCents > component.netCents(part.expectedPaymentId)))
    return component.leaveUnmatched(debit, 'unexpected', { originalNsu });
  for (const { expectedPaymentId, amountCents } of parts)
    component.allocate(
      reversalOf({ nsu: debit.nsu, amountCents }, expectedPaymentId, {
        // Where only the payer ties them, no id does.
        ...(component.tiedCreditOf(debit.nsu)
          ? {}
          : { referenceKind: 'original_end_to_end_id', referenceValue: credit.endToEndId }),
        originalNsu: originalNsu.toString(),
      }),
    );
}

interface RefundedPayment {
  expectedPaymentId: string;
  amountCents: bigint;
  originalNsu: bigint;
}

/** What a refund takes of the payments of a credit; null if it could be of one or another. */
function partsOf(
  { originalNsu, amountCents }: Pick<RefundedPayment, 'originalNsu' | 'amountCents'>,
  credit: StatementLineFacts,
  paid: readonly LineAllocation[],
): RefundedPayment[] | null {
  if (paid.length > 1 && amountCents !== credit.amountCents) return null;
  return paid.map((one) => ({
    expectedPaymentId: one.expectedPaymentId,
    amountCents: paid.length > 1 ? one.amountCents : amountCents,
    originalNsu,
  }));
}

/** The debits that a person linked to what they refund. No id and no rule decides them. */
export function linesOfLinkedRefunds(component: Component): bigint[] {
  return component.facts.links
    .filter(({ nsu, refundOf }) => refundOf.length > 0 && !isOwnRefund(component, nsu, refundOf))
    .map(({ nsu }) => nsu);
}

/** Whether the ids of the debit name our refund of what a person linked: they agree. */
function isOwnRefund(component: Component, nsu: bigint, parts: ManualLink['refundOf']): boolean {
  const line = component.lineByNsu.get(nsu);
  return (
    line !== undefined &&
    ownRefundsNamedBy(component, line).some((original) =>
      parts.every(({ originalNsu }) => originalNsu === original),
    )
  );
}

/** The lines of the Pix whose refunds by us a debit names. */
const ownRefundsNamedBy = (component: Component, line: StatementLineFacts): bigint[] =>
  component.referencedBy(line).flatMap(({ payment }) => payment.refundOfNsu ?? []);

/**
 * What people linked to what it refunds. It is repeated once rules have matched what was refunded:
 * only what has no match yet is decided again.
 */
export function linkRefunds(component: Component): void {
  for (const line of component.lines) {
    const link = component.linkOf(line.nsu);
    if (!link || link.refundOf.length === 0) continue;
    if (component.allocationsOfLine(line.nsu).length > 0) continue;
    if (contradicts(component, line, link)) component.leaveUnmatched(line, 'ambiguous');
    else linkRefund(component, line, link);
  }
}

/** An id that became known after the link names another Pix: a person must decide. */
function contradicts(
  component: Component,
  line: StatementLineFacts,
  { refundOf }: ManualLink,
): boolean {
  const linked = new Set(refundOf.map(({ originalNsu }) => originalNsu));
  const isOfAnother = ({ nsu }: { nsu: bigint }) => !linked.has(nsu);
  return (
    creditsNamedBy(component, line).some(isOfAnother) ||
    ownRefundsNamedBy(component, line).some((nsu) => isOfAnother({ nsu }))
  );
}

function linkRefund(component: Component, line: StatementLineFacts, link: ManualLink): void {
  const { refundOf, allocations, decidedBy } = link;
  const parts: RefundedPayment[] = [];
  for (const part of refundOf) {
    const credit = component.lineByNsu.get(part.originalNsu);
    const paid = component
      .allocationsOfLine(part.originalNsu)
      .filter(({ role }) => role === 'payment')
      .filter((one) => [null, one.expectedPaymentId].includes(part.expectedPaymentId));
    const found = credit ? partsOf(part, credit, paid) : [];
    if (found === null)
      return component.leaveUnmatched(line, 'ambiguous', { originalNsu: part.originalNsu });
    parts.push(...found);
  }
  const merged = new Map<string, RefundedPayment>();
  for (const part of parts) {
    const before = merged.get(part.expectedPaymentId)?.amountCents ?? 0n;
    merged.set(part.expectedPaymentId, { ...part, amountCents: before + part.amountCents });
  }
  const isWithin = ({ expectedPaymentId: id, amountCents }: RefundedPayment) =>
    component.paymentById.get(id)?.isMultiUse === true || amountCents <= component.netCents(id);
  const totalCents = [...parts, ...allocations].reduce((sum, one) => sum + one.amountCents, 0n);
  const { actor, reason } = decidedBy;
  // A match accounts for the whole line, and never for more than was paid.
  if (totalCents !== line.amountCents || ![...merged.values()].every(isWithin)) {
    component.unmatched.set(line.nsu, {
      ...{ outcome: 'classified', category: 'refunded', rule: 'manual' },
      ...{ reason, evidence: { actor }, declared: null },
    });
    return;
  }
  component.unmatched.delete(line.nsu);
  for (const { expectedPaymentId, amountCents, originalNsu } of merged.values()) {
    const evidence = { originalNsu: originalNsu.toString() };
    const reversal = reversalOf({ nsu: line.nsu, amountCents }, expectedPaymentId, evidence);
    component.allocate({ ...reversal, rule: 'manual', linkedBy: decidedBy });
  }
  for (const part of allocations) allocateLinked(component, link, part, 'payment');
}

/** Credits of which more was refunded than was received. */
export function findOverRefunded(component: Component): PaymentFinding[] {
  return component.lines.flatMap((credit): PaymentFinding[] => {
    const { debits, pending } = refundsOf(component, credit);
    // The bank has accepted them; the line of a refund without a response may be among the debits.
    const accepted = pending.filter(({ payment }) => payment.operationState === 'succeeded');
    const refunded = accepted.reduce(
      (sum, { amountCents }) => sum + amountCents,
      netCentsOf(debits),
    );
    const isBefore = debits.every(({ line }) => line.occurredAt < component.facts.goLiveAt);
    if (refunded <= credit.amountCents || (isBefore && accepted.length === 0)) return [];
    const { nsu } = credit;
    return [
      {
        ...{ kind: 'over_refunded', subject: subjectOfLine(nsu), nsu, expectedPaymentId: null },
        amountCents: refunded - credit.amountCents,
        evidence: {
          debits: debits.map(({ line }) => line.nsu.toString()),
          operations: accepted.map(({ payment }) => payment.operationId),
        },
      },
    ];
  });
}
