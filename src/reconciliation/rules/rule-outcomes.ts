// Rulings as verdicts, and verdicts as what rules must know of them. Pure.
import type { InBreak, Matched, LineOutcome } from '../line-outcome.js';
import type { Ruling, RuledPayment } from './rule-decision.js';
import { groupBy, type AppliedRule, type RuledExpected, type RuledLine } from './rule.js';

export function isUnexpected(outcome: LineOutcome): outcome is InBreak {
  return outcome.outcome === 'break' && outcome.kind === 'unexpected';
}

/** What a batch pays of each expected payment by other means: the expected payment as it is after that. */
export function paidIn(
  outcomes: readonly LineOutcome[],
): Map<string, (before: RuledExpected) => RuledExpected> {
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

export function toOutcomes({ nsu, amountCents }: RuledLine, ruling: Ruling): LineOutcome[] {
  if (ruling.of === 'matched')
    return ruling.payments.map((payment) => toMatched(nsu, ruling.rule, payment));
  if (ruling.of === 'classified') {
    const { rule, category, reason } = ruling;
    const evidence = evidenceOf(rule);
    const declared = declaredBy(rule);
    return [{ outcome: 'classified', nsu, rule: 'declared', category, reason, evidence, declared }];
  }
  const could = ruling.of === 'ambiguous' ? ruling.could : [];
  const candidates = could.map((id) => ({ referenceKind: 'expected_payment', referenceValue: id }));
  const kind = ruling.of === 'ambiguous' ? 'ambiguous' : 'unexpected';
  return [{ outcome: 'break', nsu, kind, amountCents, expectedPaymentId: null, candidates }];
}

function toMatched(nsu: bigint, rule: AppliedRule, payment: RuledPayment): Matched {
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

/** The rule and what it went by; never what it compared, which may be of a person. */
function evidenceOf(rule: AppliedRule) {
  const { ruleId, version, then } = rule;
  const by = then.do === 'match' ? then.by : ['condition'];
  return { referenceKind: 'rule', referenceValue: `${ruleId}/${version}`, by };
}

function declaredBy({ ruleId, version }: AppliedRule) {
  return { ruleId, version };
}
