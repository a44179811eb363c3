// What a decision shows of its debits, for who is notified of them. It follows what was decided: a
// debit that a person decided has none.
import { isReversalType, isUndoingType, mayRefundPix } from '../../bank-contract/line-types.js';
import type { ReferenceKind } from '../../statement/expected-payments/references.js';
import { payeeAgrees, payeeDiffers } from './by-reference.js';
import type { Component } from './component.js';
import { mayNotify, type DebitEvidence } from './debit-notice.js';
import type { ExpectedPaymentFacts, StatementLineFacts, UnmatchedOutcome } from './model.js';
import { ruleCandidateKind } from './rule.js';
import { creditsRefundedBy, isRefundWithinOriginal } from './refunds.js';
import { isOfImport, mayBeOfOthers } from './unrequested-debits.js';

/** Ids that the bank or this service made for one operation. Anybody may pay the code of a bill. */
const ownReferences: readonly ReferenceKind[] = [
  ...(['idempotency_key', 'nsu', 'movement_id'] as const),
  ...(['end_to_end_id', 'external_id', 'correlation_id'] as const),
];
export const ownKinds: readonly string[] = ownReferences;

export interface NotedLine {
  nsu: bigint;
  /** Null: what was stored of it stays. */
  evidence: DebitEvidence | null;
}

/** The debits of which somebody may be notified. */
export function notedDebits(component: Component): NotedLine[] {
  const known = { expected: linesOfOperations(component), ofBills: linesOfBills(component) };
  return component.lines.flatMap((line): NotedLine[] => {
    if (line.isCredit) return [];
    if (isByRetiredRule(component, line)) return [{ nsu: line.nsu, evidence: null }];
    const evidence = evidenceOf(component, line, known);
    return evidence && mayNotify(evidence) ? [{ nsu: line.nsu, evidence }] : [];
  });
}

/** What a rule decided that is retired now was noted, or not, when the rule was in use. */
function isByRetiredRule({ unmatched, facts }: Component, { nsu }: StatementLineFacts): boolean {
  const outcome = unmatched.get(nsu);
  if (outcome?.outcome !== 'classified' || outcome.declared === null) return false;
  const { ruleId, version } = outcome.declared;
  return !facts.rules.some((one) => one.ruleId === ruleId && one.version === version);
}

/** The debits that open operations may explain: each operation explains one, the oldest first. */
function linesOfOperations(component: Component): ReadonlySet<bigint> {
  const waiting = component.lines
    .map((line) => ({ nsu: line.nsu, payments: line.isCredit ? [] : mayPay(component, line) }))
    .sort((a, b) => a.payments.length - b.payments.length);
  return firstOfEach(waiting);
}

interface LinePayments {
  nsu: bigint;
  payments: readonly ExpectedPaymentFacts[];
}

/** The lines that get a payment of theirs which no line before them has got. */
function firstOfEach(ordered: readonly LinePayments[]): ReadonlySet<bigint> {
  const [lines, taken] = [new Set<bigint>(), new Set<string>()];
  for (const { nsu, payments } of ordered) {
    const free = payments.find(({ id }) => !taken.has(id));
    if (!free) continue;
    taken.add(free.id);
    lines.add(nsu);
  }
  return lines;
}

/** The open operations that a debit waits for, or among which a person chooses. */
function mayPay(component: Component, line: StatementLineFacts): ExpectedPaymentFacts[] {
  const outcome = component.unmatched.get(line.nsu);
  const { paymentById } = component;
  const possible =
    outcome?.outcome === 'pending' && outcome.waitsFor === 'operation'
      ? outcome.candidateIds.flatMap((id) => paymentById.get(id) ?? [])
      : outcome?.outcome === 'break' && outcome.kind === 'ambiguous'
        ? outcome.candidates.flatMap(({ referenceKind: kind, referenceValue: value }) =>
            kind === ruleCandidateKind
              ? (paymentById.get(value) ?? [])
              : component.named(line, kind, value),
          )
        : [];
  return possible.filter(
    (one) =>
      !one.isCredit &&
      isOfOperation(one) &&
      component.paidCents(one.id) === 0n &&
      !payeeDiffers(line, one),
  );
}

function evidenceOf(
  component: Component,
  line: StatementLineFacts,
  { expected, ofBills }: { expected: ReadonlySet<bigint>; ofBills: ReadonlyMap<bigint, boolean> },
): DebitEvidence | null {
  const outcome = component.unmatched.get(line.nsu);
  if (isDecidedByPerson(component, line, outcome)) return null;
  const isBeforeGoLive = line.occurredAt < component.facts.goLiveAt;
  if (isBeforeGoLive && isOfImport(component, line)) return null;
  const paid = paidBy(component, line);
  const own = ownOf(component, line, { paid, outcome });
  const isFirstOfBill = ofBills.get(line.nsu);
  const isOfBill = own !== 'second' && isFirstOfBill === true;
  return {
    isEarlier: isBeforeGoLive || mayBeOfOthers(component, line),
    own:
      isOfBill && own === 'differs' ? null : (own ?? (isFirstOfBill === false ? 'second' : null)),
    hasOtherAmount: isOfBill || hasOtherAmount(line, paid),
    operation: expected.has(line.nsu) ? 'may_explain' : explainedBy(line, paid),
    refundOfNsu: refundOf(component, line),
    reversesCredit: reversesCredit(component, line),
    declared: declaredBy(component, line, { paid, outcome }),
  };
}

interface Decided {
  /** What the line pays. */
  paid: readonly ExpectedPaymentFacts[];
  outcome: UnmatchedOutcome | undefined;
}

function isDecidedByPerson(
  component: Component,
  { nsu }: StatementLineFacts,
  outcome: Decided['outcome'],
): boolean {
  if (component.linkOf(nsu) !== null) return true;
  return outcome?.outcome === 'classified' && ['manual', 'refund'].includes(outcome.rule);
}

function ownOf(
  component: Component,
  line: StatementLineFacts,
  { paid, outcome }: Decided,
): DebitEvidence['own'] {
  const broken = outcome?.outcome === 'break' ? outcome : null;
  const kind = broken?.kind ?? null;
  const twice = component.paymentById.get(broken?.expectedPaymentId ?? '');
  if (kind === 'duplicate_payment' && (!twice || isOfOperation(twice))) return 'second';
  const hasOwnId = component
    .referencedBy(line)
    .some(
      ({ payment, evidence }) =>
        ownKinds.includes(evidence.referenceKind) && isOfOperation(payment) && !payment.isCredit,
    );
  if (!hasOwnId) return null;
  if (paid.length > 0) return paid.some((one) => payeeDiffers(line, one)) ? 'differs' : 'agrees';
  return kind === null || kind === 'ambiguous' ? null : 'differs';
}

function hasOtherAmount(line: StatementLineFacts, paid: Decided['paid']): boolean {
  if (!paid.some(isOfOperation) || paid.some((one) => one.amountCents === null)) return false;
  if (paid.some((one) => payeeDiffers(line, one))) return false;
  return paid.reduce((sum, one) => sum + (one.amountCents ?? 0n), 0n) !== line.amountCents;
}

/** The debits of our bills with other amounts that they allow: whether it is the oldest of one. */
function linesOfBills(component: Component): ReadonlyMap<bigint, boolean> {
  const lines = component.lines
    .filter(({ isCredit }) => !isCredit)
    .sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1))
    .map((line) => ({ nsu: line.nsu, payments: billsOf(component, line) }))
    .filter(({ payments }) => payments.length > 0);
  const oldest = firstOfEach(lines);
  return new Map(lines.map(({ nsu }) => [nsu, oldest.has(nsu)]));
}

function billsOf(component: Component, line: StatementLineFacts): ExpectedPaymentFacts[] {
  if (paidBy(component, line).length > 0) return [];
  const named = component.referencedBy(line).map(({ payment }) => payment);
  return named.filter((payment) => {
    const { minimumCents: least, maximumCents: most } = payment.bill ?? {};
    if (least == null || most == null || component.paidCents(payment.id) !== 0n) return false;
    if (payment.isWithdrawn || payment.operationState === 'awaiting_approval') return false;
    if (payment.amountCents === line.amountCents) return false;
    return line.amountCents >= least && line.amountCents <= most && !payeeDiffers(line, payment);
  });
}

/** What the line pays. */
function paidBy(component: Component, { nsu }: StatementLineFacts): ExpectedPaymentFacts[] {
  return component
    .allocationsOfLine(nsu)
    .filter(({ role }) => role === 'payment')
    .flatMap(({ expectedPaymentId }) => component.paymentById.get(expectedPaymentId) ?? []);
}

function explainedBy(line: StatementLineFacts, paid: Decided['paid']): DebitEvidence['operation'] {
  const explains = paid.some((one) => isOfOperation(one) && !payeeDiffers(line, one));
  return explains ? 'explains' : null;
}

const isOfOperation = ({ operationId }: ExpectedPaymentFacts): boolean => operationId !== null;

function refundOf(component: Component, line: StatementLineFacts): string | null {
  const { typeName } = line;
  if (!isUndoingType(typeName) || !mayRefundPix(typeName)) return null;
  const [credit] = creditsRefundedBy(component, line);
  return credit && isRefundWithinOriginal(component, line) ? credit.nsu.toString() : null;
}

function reversesCredit(component: Component, line: StatementLineFacts): boolean {
  if (!isReversalType(line.typeName)) return false;
  const ids = [line.correlationId, line.movementId].filter((id) => id !== null);
  const named = component.lines.filter(
    ({ correlationId, movementId }) =>
      ids.includes(correlationId ?? '') || ids.includes(movementId ?? ''),
  );
  return [...creditsRefundedBy(component, line), ...named].some(
    ({ isCredit, amountCents }) => isCredit && amountCents >= line.amountCents,
  );
}

/** What was declared, or became a rule, after the debit explains nothing of it here. */
function declaredBy(
  { facts: { rules } }: Component,
  line: StatementLineFacts,
  { paid, outcome }: Decided,
): DebitEvidence['declared'] {
  const before = paid.filter(
    (one) =>
      !isOfOperation(one) && one.createdAtBankTime <= line.occurredAt && !payeeDiffers(line, one),
  );
  const [payment] = before;
  if (payment && before.length === paid.length)
    return inFull(
      before.every((one) => payeeAgrees(line, one)),
      before.every(hasAmount),
    );
  if (outcome?.outcome !== 'classified' || outcome.declared === null) return null;
  const { ruleId, version } = outcome.declared;
  const rule = rules.find((one) => one.ruleId === ruleId && one.version === version);
  if (!rule?.activatedAt || rule.activatedAt > line.occurredAt) return null;
  const { document, counterparty, maxCents } = rule.when;
  return inFull(document !== undefined || counterparty !== undefined, maxCents !== undefined);
}

function inFull(hasPayees: boolean, hasAmounts: boolean): DebitEvidence['declared'] {
  if (hasPayees && hasAmounts) return 'in_full';
  return hasPayees || hasAmounts ? 'in_part' : null;
}

const hasAmount = ({ amountCents, accepted }: ExpectedPaymentFacts): boolean =>
  amountCents !== null || accepted !== null;
