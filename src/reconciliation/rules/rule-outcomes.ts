// Converts between the decisions of rules and the outcomes of lines. Pure.
import type { InBreak, Matched, LineOutcome } from '../line-outcome.js';
import type { RuleDecision, RulePayment } from './rule-decision.js';
import { groupBy, type AppliedRule, type RuleExpectedPayment, type RuleLine } from './rule.js';

export function isUnexpected(outcome: LineOutcome): outcome is InBreak {
  return outcome.outcome === 'break' && outcome.kind === 'unexpected';
}

/**
 * For each expected payment that the batch pays by reference: its state after those payments.
 */
export function paidIn(
  outcomes: readonly LineOutcome[],
): Map<string, (before: RuleExpectedPayment) => RuleExpectedPayment> {
  const payments = outcomes.filter(
    (outcome): outcome is Matched & { role: 'payment' } =>
      outcome.outcome === 'matched' && outcome.role === 'payment',
  );
  const byExpected = groupBy(payments, ({ expectedPaymentId }) => expectedPaymentId);
  return new Map(
    [...byExpected].map(([id, paying]) => [
      id,
      (before) => {
        const isDisplaced = paying.some(({ displaces }) => displaces);
        const sum = paying.reduce((cents, { amountCents }) => cents + amountCents, 0n);
        const paidCents = (isDisplaced ? 0n : before.paidCents) + sum;
        return { ...before, paidCents, owedCents: paying.at(-1)?.owedCents ?? null };
      },
    ]),
  );
}

export function toOutcomes({ nsu, amountCents }: RuleLine, decision: RuleDecision): LineOutcome[] {
  if (decision.outcome === 'matched')
    return decision.payments.map((payment) => toMatched(nsu, decision.rule, payment));
  if (decision.outcome === 'classified') {
    const { rule, category, reason } = decision;
    const evidence = evidenceOf(rule);
    const declared = declaredBy(rule);
    return [{ outcome: 'classified', nsu, rule: 'declared', category, reason, evidence, declared }];
  }
  const candidateIds = decision.outcome === 'ambiguous' ? decision.candidateIds : [];
  const candidates = candidateIds.map((id) => ({
    referenceKind: 'expected_payment',
    referenceValue: id,
  }));
  const kind = decision.outcome === 'ambiguous' ? 'ambiguous' : 'unexpected';
  return [{ outcome: 'break', nsu, kind, amountCents, expectedPaymentId: null, candidates }];
}

function toMatched(nsu: bigint, rule: AppliedRule, payment: RulePayment): Matched {
  const { expected, amountCents, owedCents, differenceCents, settlement } = payment;
  const { expectedPaymentId, operationId, kind, operationState } = expected;
  const difference = differenceCents === 0n ? {} : { differenceCents: differenceCents.toString() };
  return {
    outcome: 'matched',
    nsu,
    expectedPaymentId,
    operation: { operationId, kind, operationState },
    amountCents,
    owedCents,
    evidence: Object.assign(evidenceOf(rule), difference),
    declared: declaredBy(rule),
    role: 'payment',
    rule: 'declared',
    settlement,
    displaces: false,
    wasWithdrawn: false,
  };
}

/** The rule and its criteria, never the compared values, which may be personal data. */
function evidenceOf(rule: AppliedRule) {
  const { ruleId, version, then } = rule;
  const by = then.do === 'match' ? then.by : ['condition'];
  return { referenceKind: 'rule', referenceValue: `${ruleId}/${version}`, by };
}

function declaredBy({ ruleId, version }: AppliedRule) {
  return { ruleId, version };
}
