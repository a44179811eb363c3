// What a decision shows of its debits, for who is notified of them. It follows what was decided: a
// debit that a person decided has none.
import { isReversalType, isUndoingType, mayRefundPix } from '../../bank-contract/line-types.js';
import type { ReferenceKind } from '../../statement/expected-payments/references.js';
import { payeeDiffers } from './by-reference.js';
import type { Component } from './component.js';
import { mayNotify, type DebitEvidence } from './debit-notice.js';
import type { ExpectedPaymentFacts, StatementLineFacts, UnmatchedOutcome } from './model.js';
import { creditsRefundedBy, isRefundWithinOriginal } from './refunds.js';
import { isOfImport, mayBeOfOthers } from './unrequested-debits.js';

/** Ids that the bank or this service made for one operation. Anybody may pay the code of a bill. */
const ownReferences: readonly ReferenceKind[] = [
  ...(['idempotency_key', 'nsu', 'movement_id'] as const),
  ...(['end_to_end_id', 'external_id', 'correlation_id'] as const),
];
const ownKinds: readonly string[] = ownReferences;

export interface NotedLine {
  nsu: bigint;
  evidence: DebitEvidence;
}

/** The debits of which somebody may be notified. */
export function notedDebits(component: Component): NotedLine[] {
  return component.lines.flatMap((line) => {
    const evidence = line.isCredit ? null : evidenceOf(component, line);
    return evidence && mayNotify(evidence) ? [{ nsu: line.nsu, evidence }] : [];
  });
}

function evidenceOf(component: Component, line: StatementLineFacts): DebitEvidence | null {
  const outcome = component.unmatched.get(line.nsu);
  if (isDecidedByPerson(component, line, outcome)) return null;
  const isBeforeGoLive = line.occurredAt < component.facts.goLiveAt;
  if (isBeforeGoLive && isOfImport(component, line)) return null;
  const paid = component
    .allocationsOfLine(line.nsu)
    .filter(({ role }) => role === 'payment')
    .flatMap(({ expectedPaymentId }) => component.paymentById.get(expectedPaymentId) ?? []);
  return {
    isEarlier: isBeforeGoLive || mayBeOfOthers(component, line),
    own: ownOf(component, line, { paid, outcome }),
    operation: operationOf(line, { paid, outcome }),
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

function operationOf(
  line: StatementLineFacts,
  { paid, outcome }: Decided,
): DebitEvidence['operation'] {
  const explains = paid.some((one) => isOfOperation(one) && !payeeDiffers(line, one));
  if (explains) return 'explains';
  const mayBe =
    outcome?.outcome === 'pending' ||
    (outcome?.outcome === 'break' && outcome.kind === 'ambiguous');
  return mayBe ? 'may_explain' : null;
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

/** What was declared, or became a rule, after the line was there explains nothing of it here. */
function declaredBy(
  { facts: { rules } }: Component,
  line: StatementLineFacts,
  { paid, outcome }: Decided,
): DebitEvidence['declared'] {
  const before = paid.filter(
    (one) => !isOfOperation(one) && one.createdAt <= line.recordedAt && !payeeDiffers(line, one),
  );
  const [payment] = before;
  if (payment && before.length === paid.length)
    return inFull(before.every(hasPayee), before.every(hasAmount));
  if (outcome?.outcome !== 'classified' || outcome.declared === null) return null;
  const { ruleId, version } = outcome.declared;
  const rule = rules.find((one) => one.ruleId === ruleId && one.version === version);
  // What a rule decided that is retired now was noted when the rule was in use.
  if (!rule) return 'in_full';
  if (!rule.activatedAt || rule.activatedAt > line.occurredAt) return null;
  const { document, counterparty, maxCents } = rule.when;
  return inFull(document !== undefined || counterparty !== undefined, maxCents !== undefined);
}

function inFull(hasPayees: boolean, hasAmounts: boolean): DebitEvidence['declared'] {
  if (hasPayees && hasAmounts) return 'in_full';
  return hasPayees || hasAmounts ? 'in_part' : null;
}

const hasPayee = ({ counterpartyDocument, references }: ExpectedPaymentFacts): boolean =>
  counterpartyDocument !== null || references.some(({ kind }) => kind === 'counterparty');

const hasAmount = ({ amountCents, accepted }: ExpectedPaymentFacts): boolean =>
  amountCents !== null || accepted !== null;
