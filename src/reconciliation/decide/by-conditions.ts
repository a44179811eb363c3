// Matches lines that nothing else explains to declared payments, by the payments' own conditions.
// All competing lines and payments are decided at once, those of the account's match rules too: a
// pair is matched only if neither could be matched otherwise. Such a match is provisional.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { clockToleranceMs } from '../../outbound/operations/effect-period.js';
import { addTo, groupBy } from '../../platform/grouping.js';
import { contradicts as contradictsIds } from './by-reference.js';
import { findOptions, payableByRules, toRuleLine } from './by-rule.js';
import { lineReferences, maxBreakCandidates, type Component } from './component.js';
import { agreesWithTerms, type DeclaredFacts } from './declared-conditions.js';
import { isStillExpected } from './missing.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './model.js';
import {
  covers,
  findPossibleIds,
  ruleCandidateKind,
  someMatch,
  wasRefundedBefore,
  type RuleExpectedPayment,
  type RuleLine,
} from './rule.js';

/**
 * Of the payments that agree with a line in direction, amount, window and counterparty, the first
 * so many are compared. With more, the line cannot be distinguished.
 */
export const maxConditional = 200;

/** Whether the line is one that conditions may match. */
export const mayPayByConditions = ({
  originalEndToEndId,
}: Pick<StatementLineFacts, 'originalEndToEndId'>): boolean => originalEndToEndId === null;

interface DeclaredPayment {
  payment: ExpectedPaymentFacts;
  declared: DeclaredFacts;
}

/** Returns the payments that lines may pay that were found ambiguous. */
export function payByConditions(component: Component): ReadonlySet<string> {
  const contested = new Set<string>();
  const groups = conditionalPayments(component);
  if (groups.size === 0) return contested;
  const lines = component.lines.filter(
    (line) => mayPayByConditions(line) && component.isUnexpected(line.nsu),
  );
  const candidatesByLine = new Map<StatementLineFacts, Candidates>();
  const wanted = new Map<string, ExpectedPaymentFacts>();
  for (const line of lines) {
    const candidates = candidatesOf(component, line, groups);
    if (candidates.payments.length === 0) continue;
    candidatesByLine.set(line, candidates);
    for (const { payment } of candidates.payments) wanted.set(payment.id, payment);
  }
  if (candidatesByLine.size === 0) return contested;
  const byRules = new RuleOptions(component, [...wanted.values()]);
  const ownDebits = ownDebitsByAmount(component);
  const idsByLine = new Map<StatementLineFacts, ReadonlySet<string>>();
  const lineCounts = new Map<string, number>();
  for (const line of lines) {
    const candidates = candidatesByLine.get(line);
    if (!candidates && !byRules.reaches(line)) continue;
    const ids = new Set((candidates?.payments ?? []).map(({ payment }) => payment.id));
    for (const id of byRules.of(line)) ids.add(id);
    for (const id of ids) lineCounts.set(id, (lineCounts.get(id) ?? 0) + 1);
    for (const id of ownDebitsOf(component, line, ownDebits)) ids.add(id);
    idsByLine.set(line, ids);
  }
  // Decided before the first is matched: a match must not depend on the order of lines.
  const decided = [...candidatesByLine].map(([line, { payments, isMore }]) => {
    const ids = [...(idsByLine.get(line) ?? [])];
    const [only] = payments;
    const isSure = !isMore && ids.length === 1 && lineCounts.get(ids[0] ?? '') === 1;
    return { line, ids, paid: isSure ? only : undefined };
  });
  for (const { line, ids, paid } of decided) {
    if (paid) pay(component, line, paid);
    else leaveAmbiguous(component, line, ids);
    for (const id of paid ? [] : ids) contested.add(id);
  }
  return contested;
}

function pay(
  component: Component,
  { nsu, amountCents }: StatementLineFacts,
  { payment, declared }: DeclaredPayment,
): void {
  component.unmatched.delete(nsu);
  component.allocate({
    ...{ nsu, expectedPaymentId: payment.id, amountCents, role: 'payment', rule: 'declared' },
    ...{ ruleOwedCents: null, isTolerated: false, declared: null, linkedBy: null },
    evidence: evidenceOf(payment, declared),
  });
}

/** The conditions that hold, never the compared values, which may be personal data. */
function evidenceOf(
  { counterpartyDocument }: ExpectedPaymentFacts,
  { externalId, text }: DeclaredFacts,
) {
  const by = [
    'amount',
    'window',
    ...(counterpartyDocument === null ? [] : ['taxId']),
    ...(text === null ? [] : ['text']),
  ];
  return { referenceKind: 'conditions', referenceValue: externalId, by };
}

function leaveAmbiguous(component: Component, line: StatementLineFacts, ids: string[]): void {
  const candidates = [...ids]
    .sort()
    .slice(0, maxBreakCandidates)
    .map((referenceValue) => ({ evidence: { referenceKind: ruleCandidateKind, referenceValue } }));
  component.leaveUnmatched(line, 'ambiguous', { candidates });
}

/** The payments that share a direction and a counterparty, those with one amount by it. */
interface Group {
  byAmount: ReadonlyMap<bigint, readonly DeclaredPayment[]>;
  ranges: readonly DeclaredPayment[];
}

const groupKey = (isCredit: boolean, document: string | null): string =>
  `${isCredit} ${document ?? ''}`;

function conditionalPayments({ facts }: Component): ReadonlyMap<string, Group> {
  const all = facts.expectedPayments.flatMap((payment): DeclaredPayment[] => {
    const { declared, withdrawal } = payment;
    return declared?.matching && withdrawal === null ? [{ payment, declared }] : [];
  });
  const byKey = groupBy(all, ({ payment }) =>
    groupKey(payment.isCredit, payment.counterpartyDocument),
  );
  return new Map(
    [...byKey].map(([key, payments]) => {
      const byAmount = new Map<bigint, DeclaredPayment[]>();
      const ranges: DeclaredPayment[] = [];
      for (const one of payments) {
        const { matching } = one.declared;
        if (matching?.fromCents === matching?.toCents && matching)
          addTo(byAmount, matching.fromCents, one);
        else ranges.push(one);
      }
      return [key, { byAmount, ranges }];
    }),
  );
}

interface Candidates {
  payments: readonly DeclaredPayment[];
  /** More payments agree with the line than are compared. */
  isMore: boolean;
}

function candidatesOf(
  component: Component,
  line: StatementLineFacts,
  groups: ReadonlyMap<string, Group>,
): Candidates {
  const { isCredit, amountCents, counterpartyDocument: document } = line;
  const day = saoPauloDay(line.occurredAt);
  const keys = new Set([groupKey(isCredit, null), groupKey(isCredit, document)]);
  const agreeing = [...keys]
    .flatMap((key) => {
      const group = groups.get(key);
      if (!group) return [];
      const { byAmount, ranges } = group;
      const inRange = ranges.filter(
        ({ declared: { matching } }) =>
          matching && matching.fromCents <= amountCents && amountCents <= matching.toCents,
      );
      return [...(byAmount.get(amountCents) ?? []), ...inRange];
    })
    .filter(({ declared }) => declared.dateFrom <= day && day <= declared.dateTo)
    .sort((a, b) => (a.payment.id < b.payment.id ? -1 : 1));
  if (agreeing.length === 0) return { payments: [], isMore: false };
  const compared = toRuleLine(component, line);
  return {
    payments: agreeing
      .slice(0, maxConditional)
      .filter((one) => mayPay(component, compared, line, one)),
    isMore: agreeing.length > maxConditional,
  };
}

function mayPay(
  component: Component,
  compared: RuleLine,
  line: StatementLineFacts,
  { payment, declared }: DeclaredPayment,
): boolean {
  return (
    component.paidCents(payment.id) === 0n &&
    !component.isSeparated(line, payment.id) &&
    !wasRefundedBefore(compared, payment.createdAtBankTime) &&
    !contradicts(line, payment) &&
    agreesWithTerms(line, payment, declared)
  );
}

/** The line has another id of a kind that the payment names: it is another payment. */
function contradicts(line: StatementLineFacts, { references }: ExpectedPaymentFacts): boolean {
  return lineReferences(line).some(({ kind, value }) => {
    const own = references.filter((one) => one.kind === kind);
    return own.length > 0 && !own.some((one) => one.value === value);
  });
}

/**
 * Debits of our operations without a line. One of them may carry none of our ids, so that a
 * declared payment of its amount cannot be distinguished from it.
 */
function ownDebitsByAmount({ facts }: Component): ReadonlyMap<bigint, ExpectedPaymentFacts[]> {
  const byAmount = new Map<bigint, ExpectedPaymentFacts[]>();
  for (const payment of facts.expectedPayments) {
    const { isCredit, declared, amountCents, operationState, withdrawal } = payment;
    if (isCredit || declared !== null || amountCents === null || withdrawal !== null) continue;
    if (operationState === 'awaiting_approval' || !isStillExpected(payment)) continue;
    addTo(byAmount, amountCents, payment);
  }
  return byAmount;
}

function ownDebitsOf(
  component: Component,
  line: StatementLineFacts,
  byAmount: ReadonlyMap<bigint, readonly ExpectedPaymentFacts[]>,
): string[] {
  if (line.isCredit) return [];
  const day = saoPauloDay(line.occurredAt);
  return (byAmount.get(line.amountCents) ?? [])
    .filter(
      (payment) =>
        component.paidCents(payment.id) === 0n &&
        !component.isSeparated(line, payment.id) &&
        payment.createdAtBankTime.getTime() - clockToleranceMs <= line.occurredAt.getTime() &&
        (!payment.bill?.scheduledFor || saoPauloDay(payment.bill.scheduledFor) <= day) &&
        !contradictsIds(line, payment),
    )
    .map(({ id }) => id);
}

/** What the match rules of the account could match to a line. */
class RuleOptions {
  private readonly byDocument = new Map<string, RuleExpectedPayment[]>();
  private readonly byReference = new Map<string, RuleExpectedPayment[]>();
  private readonly wantedKeys = new Set<string>();

  /** `wanted`: the payments that lines may pay by conditions. */
  constructor(
    private readonly component: Component,
    wanted: readonly ExpectedPaymentFacts[],
  ) {
    const { rules } = component.facts;
    if (!someMatch(rules)) return;
    const ids = new Set(wanted.map(({ id }) => id));
    for (const each of payableByRules(component)) {
      const { counterpartyDocument: document, referenceValues, expectedPaymentId } = each;
      if (document) addTo(this.byDocument, document, each);
      for (const value of referenceValues) addTo(this.byReference, value, each);
      if (!ids.has(expectedPaymentId)) continue;
      for (const key of [document ?? [], referenceValues].flat()) this.wantedKeys.add(key);
    }
  }

  /** Whether the line shares a document or a word with a wanted payment. */
  reaches({ counterpartyDocument: document, notes }: StatementLineFacts): boolean {
    if (this.wantedKeys.size === 0) return false;
    return [document ?? '', ...findPossibleIds(notes)].some((key) => this.wantedKeys.has(key));
  }

  /** The ids of the payments of all options. */
  of(line: StatementLineFacts): string[] {
    const compared = toRuleLine(this.component, line);
    return this.component.facts.rules.flatMap(({ when, then, activatedAt }) => {
      if (then.do !== 'match' || !covers(when, compared)) return [];
      if (wasRefundedBefore(compared, activatedAt)) return [];
      const candidates = then.by.includes('document')
        ? (this.byDocument.get(line.counterpartyDocument ?? '') ?? [])
        : findPossibleIds(line.notes).flatMap((word) => this.byReference.get(word) ?? []);
      const options = findOptions(then, compared, [...new Set(candidates)]);
      return options.flat().map(({ expectedPaymentId }) => expectedPaymentId);
    });
  }
}
