// Applies the account's own rules to the lines that references leave unexplained.
import { decideByRules, type RuleDecision, type RulePayment } from './rule-decision.js';
import {
  isOpen,
  ruleCandidateKind,
  type AppliedRule,
  type RuleExpectedPayment,
  type RuleLine,
} from './rule.js';
import { owedCentsWhenPaid } from '../../expected-payments/settlement.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './model.js';
import type { Component } from './component.js';
import { debitsRefunding } from './refunds-and-reversals.js';
import { noteReferenceKinds } from '../../expected-payments/references.js';

export function applyRules(component: Component): void {
  const { rules } = component.facts;
  const lines = component.lines.filter(({ nsu }) => component.isUnexpected(nsu));
  if (rules.length === 0 || lines.length === 0) return;
  const decisions = decideByRules(
    rules,
    lines.map((line) => toRuleLine(component, line)),
    payableByRules(component),
  );
  for (const line of lines) {
    const decision = decisions.get(line.nsu);
    if (decision) record(component, line, decision);
  }
}

/** The expected payments that lines may pay by rules. */
export function payableByRules(component: Component): RuleExpectedPayment[] {
  return component.facts.expectedPayments
    .filter(({ withdrawal }) => withdrawal === null)
    .map((payment) => toRulePayment(component, payment))
    .filter(isOpen);
}

function record(component: Component, line: StatementLineFacts, decision: RuleDecision): void {
  switch (decision.outcome) {
    case 'nothing':
      return;
    case 'classified': {
      const { category, reason, rule } = decision;
      component.unmatched.set(line.nsu, {
        ...{ outcome: 'classified', category, rule: 'declared', reason },
        ...{ evidence: evidenceOf(rule), declared: declaredBy(rule) },
      });
      return;
    }
    case 'ambiguous': {
      const candidates = decision.candidateIds.map((referenceValue) => ({
        evidence: { referenceKind: ruleCandidateKind, referenceValue },
      }));
      return component.leaveUnmatched(line, 'ambiguous', { candidates });
    }
    case 'matched':
      component.unmatched.delete(line.nsu);
      for (const payment of decision.payments)
        component.allocate({
          ...{ nsu: line.nsu, role: 'payment', rule: 'declared' },
          ...allocatedBy(decision.rule, payment),
          linkedBy: null,
        });
  }
}

function allocatedBy(rule: AppliedRule, payment: RulePayment) {
  const { expected, amountCents, owedCents, differenceCents } = payment;
  const difference = differenceCents === 0n ? {} : { differenceCents: differenceCents.toString() };
  return {
    expectedPaymentId: expected.expectedPaymentId,
    amountCents,
    ruleOwedCents: owedCents,
    isTolerated: differenceCents !== 0n,
    declared: declaredBy(rule),
    evidence: { ...evidenceOf(rule), ...difference },
  };
}

/** The rule and its criteria, never the compared values, which may be personal data. */
function evidenceOf({ ruleId, version, then }: AppliedRule) {
  const by = then.do === 'match' ? then.by : ['condition'];
  return { referenceKind: 'rule', referenceValue: `${ruleId}/${version}`, by };
}

const declaredBy = ({ ruleId, version }: AppliedRule) => ({ ruleId, version });

export function toRuleLine(component: Component, line: StatementLineFacts): RuleLine {
  const refunded = debitsRefunding(component, line).map(({ occurredAt }) => occurredAt);
  return {
    ...line,
    firstRefundedAt:
      refunded.length === 0 ? null : new Date(Math.min(...refunded.map((at) => at.getTime()))),
    unlinkedFrom: [...component.separatedFrom(line.nsu)].sort(),
  };
}

function toRulePayment(component: Component, payment: ExpectedPaymentFacts): RuleExpectedPayment {
  const { id, references, ...others } = payment;
  return {
    ...others,
    expectedPaymentId: id,
    createdAt: payment.createdAtBankTime,
    cancelledAt: payment.charge?.cancelledAt ?? null,
    paidCents: component.paidCents(id),
    owedCents: owedWhenPaid(component, payment),
    referenceValues: references
      .filter(({ kind }) => noteReferenceKinds.includes(kind))
      .map(({ value }) => value)
      .sort(),
  };
}

/** The total owed when the last payment so far was made; null if there is none. */
function owedWhenPaid(component: Component, payment: ExpectedPaymentFacts): bigint | null {
  const last = component.paymentsOf(payment.id).at(-1);
  if (!last) return null;
  if (last.allocation.ruleOwedCents !== null) return last.allocation.ruleOwedCents;
  const day = saoPauloDay(last.line.occurredAt);
  return owedCentsWhenPaid(payment, component.paidCents(payment.id), day);
}
