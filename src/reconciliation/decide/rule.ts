// The terms of a declared rule, and which expected payments a line may pay by it. Pure.
import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { Coding } from '../../statement/expected-payments/coding.js';
import { formatCounterparty } from '../../statement/expected-payments/counterparty.js';
import { isPix, type CreditedLine } from '../../statement/expected-payments/credit-days.js';
import { dueDateAt, type DueDates } from '../../statement/expected-payments/due-dates.js';
import { possiblePaymentDays } from '../../statement/expected-payments/payment-days.js';
import {
  owedCentsWhenPaid,
  type AcceptedAmounts,
} from '../../statement/expected-payments/settlement.js';
import {
  compileTextPattern,
  normalizeText,
} from '../../statement/expected-payments/text-pattern.js';
import { agreesWithTerms, type DeclaredFacts } from './declared-conditions.js';

/** The reference kind of the candidates of a line that a rule found ambiguous. */
export const ruleCandidateKind = 'expected_payment';

export const declaredCategories = ['fee', 'tariff', 'own_account_transfer', 'ignored'] as const;
export type DeclaredCategory = (typeof declaredCategories)[number];

/** What a line and an expected payment must share. */
export const criteria = ['document', 'amount', 'window', 'notes'] as const;
export type Criterion = (typeof criteria)[number];

/** Which lines a rule covers; every given condition must hold. */
export interface RuleCondition {
  isCredit?: boolean;
  /** Names of types; a name that ends with `*` is a prefix. */
  types?: string[];
  minCents?: bigint;
  maxCents?: bigint;
  /** The counterparty's CPF or CNPJ, unmasked. */
  document?: string;
  counterparty?: { ispb: string; branch: string; number: string };
  /** Text that the notes contain, without regard to accents and case. */
  notes?: string;
  /** A pattern that a part of the notes matches, without regard to accents and case. */
  notesPattern?: string;
}

export interface ClassifyAction {
  classify: DeclaredCategory;
  reason: string;
}

/** Instalments on days of their own, each an equal part of the amount. */
export interface InstalmentPlan {
  count: number;
  /** Null if the instalments are a month apart. */
  intervalDays: number | null;
  /** How many days a payment may come before and after the day of its instalment. */
  toleranceDays: number;
}

/** One line for all sales of a group, less a fee within these bounds. */
export interface NetSettlement {
  /** The sales due on one day, all in the window, or all whose ids the notes contain. */
  groupBy: SalesGroup;
  minFeeBasisPoints: bigint;
  maxFeeBasisPoints: bigint;
  minFeeCentsPerSale: bigint;
  maxFeeCentsPerSale: bigint;
}

export const salesGroups = ['day', 'window', 'notes'] as const;
export type SalesGroup = (typeof salesGroups)[number];

export interface MatchAction {
  by: Criterion[];
  toleranceCents: bigint;
  /** In basis points of the amount owed. */
  toleranceBasisPoints: bigint;
  /** No difference above it is tolerated. Versions from before this cap have none. */
  toleranceMaxCents?: bigint;
  /** Around the due date at the time of the line, or around the day of creation without one. */
  window: { daysBefore: number; daysAfter: number } | null;
  /** One line may pay several expected payments in full. */
  combines: boolean;
  /** Several lines may pay one expected payment in parts. */
  instalments: boolean;
  /** Not given in versions from before it existed, as the next. */
  plan?: InstalmentPlan;
  netSettlement?: NetSettlement;
}

export type RuleAction = (
  ({ do: 'classify' } & ClassifyAction) | ({ do: 'match' } & MatchAction)
) & {
  /** What it says of the money of its lines. Not given in versions without any. */
  coding?: Coding;
};

/** A version of a rule, ready to apply. */
export interface AppliedRule {
  ruleId: string;
  version: number;
  priority: number;
  when: RuleCondition;
  then: RuleAction;
  /** In bank time. Not set for a version in trial. */
  activatedAt?: Date | null;
}

/** What a rule's condition is about. */
export interface CoveredLine {
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  counterparty: string | null;
  counterpartyDocument: string | null;
  notes: string | null;
}

export interface RuleLine extends CoveredLine, CreditedLine {
  nsu: bigint;
  /** The Pix that the line refunds or reverses: such a line pays nothing. */
  originalEndToEndId: string | null;
  /** When the line was first refunded, at the bank; null if it was not. */
  firstRefundedAt: Date | null;
  /** Expected payments from which a person has unlinked the line. */
  unlinkedFrom: readonly string[];
}

/** A payment by other evidence than rules, or by a final match. */
export type PaidPart = Pick<RuleLine, 'nsu' | 'occurredAt' | 'amountCents'>;

/** An expected payment with the amount that other evidence than rules has paid. */
export interface RuleExpectedPayment extends DueDates {
  expectedPaymentId: string;
  isCredit: boolean;
  /** Null if the payer chooses it. */
  amountCents: bigint | null;
  terms: string | null;
  isMultiUse: boolean;
  counterpartyDocument: string | null;
  /** In bank time. */
  createdAt: Date;
  /** When its charge was cancelled, in bank time: a later line does not pay it by a rule. */
  cancelledAt: Date | null;
  paidCents: bigint;
  /** The payments that are `paidCents`, in the order in which they happened. */
  payments: readonly PaidPart[];
  /** The total owed when `paidCents` was paid; null if nothing was paid or the payer chose. */
  owedCents: bigint | null;
  /** Ids that the notes of a line may contain: correlationId and externalId. */
  referenceValues: string[];
  /** A declared payment is paid by a rule only where its own conditions hold too. */
  accepted: AcceptedAmounts | null;
  declared: DeclaredFacts | null;
}

export function compareByTime(a: PaidPart, b: PaidPart): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || Number(a.nsu - b.nsu);
}

/** Lower priority first; among equals the older rule first, since rule ids ascend with time. */
export function byPriority(a: AppliedRule, b: AppliedRule): number {
  return a.priority - b.priority || (a.ruleId < b.ruleId ? -1 : 1);
}

/** Shorter ids occur in notes by chance. */
const minReferenceLength = 4;
const maxWords = 40;

/** The words of a line's notes that may be our ids. */
export function findPossibleIds(notes: string | null): string[] {
  if (notes === null) return [];
  const words = notes
    .split(/[\s,;:()[\]{}"'|<>!?#]+/)
    .map((word) => word.replace(/^[.\-_/]+|[.\-_/]+$/g, ''))
    .filter(({ length }) => length >= minReferenceLength && length <= 100);
  return [...new Set(words)].slice(0, maxWords);
}

/** Whether a rule with this condition covers the line. */
export function covers(when: RuleCondition, line: CoveredLine): boolean {
  const { isCredit, types, minCents, maxCents, document, counterparty } = when;
  return (
    (isCredit === undefined || line.isCredit === isCredit) &&
    (types === undefined || types.some((type) => isOfType(line.typeName, type))) &&
    (minCents === undefined || line.amountCents >= minCents) &&
    (maxCents === undefined || line.amountCents <= maxCents) &&
    (document === undefined || line.counterpartyDocument === document) &&
    (counterparty === undefined || line.counterparty === formatCounterparty(counterparty)) &&
    coversNotes(when, line.notes)
  );
}

function coversNotes({ notes, notesPattern }: RuleCondition, text: string | null): boolean {
  if (notes === undefined && notesPattern === undefined) return true;
  if (text === null) return false;
  return (
    (notes === undefined || normalizeText(text).includes(normalizeText(notes))) &&
    (notesPattern === undefined || compileTextPattern(notesPattern).matches(text))
  );
}

/** How match rules connect competing lines: which lines they cover, and by which criteria. */
export interface Reach {
  covers: (line: CoveredLine & Pick<RuleLine, 'originalEndToEndId'>) => boolean;
  byDocument: boolean;
  byNotes: boolean;
  /** Rules by which a line settles all sales of a document in a window of due days. */
  settlingSales: readonly {
    covers: (line: CoveredLine) => boolean;
    window: { daysBefore: number; daysAfter: number };
  }[];
}

/** Whether one of the rules matches lines with expected payments. */
export const someMatch = (rules: readonly AppliedRule[]): boolean =>
  rules.some(({ then }) => then.do === 'match');

export function reachOf(rules: readonly AppliedRule[]): Reach {
  const matching = rules.flatMap(({ when, then }) =>
    then.do === 'match' ? [{ when, by: then.by, window: then.window, then }] : [],
  );
  const isByDocument = ({ by }: { by: Criterion[] }) => by.includes('document');
  return {
    covers: (line) =>
      line.originalEndToEndId === null && matching.some(({ when }) => covers(when, line)),
    byDocument: matching.some(isByDocument),
    byNotes: matching.some((one) => !isByDocument(one)),
    settlingSales: matching.flatMap(({ when, window, then: { netSettlement } }) =>
      netSettlement && window ? [{ covers: (line) => covers(when, line), window }] : [],
    ),
  };
}

function isOfType(name: string, type: string): boolean {
  return type.endsWith('*') ? name.startsWith(type.slice(0, -1)) : name === type;
}

/** Whether an expected payment is still open to payments. */
export function isOpen({
  isMultiUse,
  amountCents,
  owedCents,
  paidCents,
}: RuleExpectedPayment): boolean {
  if (isMultiUse || paidCents === 0n) return true;
  return amountCents !== null && paidCents < (owedCents ?? amountCents);
}

/**
 * The amount still owed if this line pays it on its day; null if the payer chooses the amount.
 */
export function stillOwed(expected: RuleExpectedPayment, line: RuleLine): bigint | null {
  const before = paidBefore(expected);
  const owed = owedCentsWhenPaid(expected, before + line.amountCents, line);
  return owed === null ? null : owed - before;
}

/**
 * The amount already paid; zero for multi-use expected payments, whose payments are
 * independent.
 */
export function paidBefore({ isMultiUse, paidCents }: RuleExpectedPayment): bigint {
  return isMultiUse ? 0n : paidCents;
}

/** The allowed difference from the amount owed: the larger of both tolerances, up to the cap. */
export function toleranceOf(action: MatchAction, owedCents: bigint): bigint {
  const { toleranceCents, toleranceBasisPoints, toleranceMaxCents } = action;
  const ofPercent = (owedCents * toleranceBasisPoints) / 10_000n;
  const larger = ofPercent > toleranceCents ? ofPercent : toleranceCents;
  return toleranceMaxCents !== undefined && larger > toleranceMaxCents ? toleranceMaxCents : larger;
}

/**
 * Whether a part of the line was refunded before the expected payment or the rule existed. Such a
 * line pays nothing. A later refund reverses the payment of the line, whichever of the two
 * was read first.
 */
export function wasRefundedBefore(
  { firstRefundedAt }: RuleLine,
  since: Date | null | undefined,
): boolean {
  return firstRefundedAt !== null && since != null && firstRefundedAt <= since;
}

/**
 * Whether the line and the expected payment agree in everything but the amount. A line for an
 * instalment comes on the day of that, which may be after the window of a declared payment.
 */
export function agrees(
  action: MatchAction,
  line: RuleLine,
  expected: RuleExpectedPayment,
  { hasOwnDay = false } = {},
): boolean {
  const { by, window } = action;
  if (line.originalEndToEndId !== null || line.isCredit !== expected.isCredit) return false;
  if (wasRefundedBefore(line, expected.createdAt)) return false;
  if (line.unlinkedFrom.includes(expected.expectedPaymentId)) return false;
  const { declared } = expected;
  if (declared && !agreesWithTerms(line, expected, declared, { hasOwnDay })) return false;
  if (by.includes('document')) {
    const { counterpartyDocument: document } = line;
    if (document === null || document !== expected.counterpartyDocument) return false;
  }
  if (by.includes('notes')) {
    const words = findPossibleIds(line.notes);
    if (!expected.referenceValues.some((value) => words.includes(value))) return false;
  }
  if (expected.cancelledAt !== null && expected.cancelledAt <= line.occurredAt) return false;
  if (hasOwnDay || !by.includes('window') || window === null) return true;
  const day = saoPauloDay(line.occurredAt);
  const middle = dueDateAt(expected, line.occurredAt) ?? saoPauloDay(expected.createdAt);
  return day >= addDays(middle, -window.daysBefore) && day <= addDays(middle, window.daysAfter);
}

/**
 * Lines with the same key have the same payment options among charges that were not cancelled on
 * their day.
 */
export function lineGroupKey(action: MatchAction, line: RuleLine): string {
  const {
    isCredit,
    originalEndToEndId,
    firstRefundedAt,
    amountCents,
    counterpartyDocument,
    unlinkedFrom,
  } = line;
  const notes = action.by.includes('notes') ? line.notes : null;
  const day = saoPauloDay(line.occurredAt);
  // A Pix that was sent just before midnight.
  const earlier = isPix(line) ? possiblePaymentDays(line).slice(1) : [line.paidOn];
  const amount = amountCents.toString();
  return JSON.stringify([
    isCredit,
    originalEndToEndId !== null,
    firstRefundedAt,
    amount,
    counterpartyDocument,
    unlinkedFrom,
    notes,
    ...[day, isPix(line), earlier],
  ]);
}

function agreesInAmount(
  action: MatchAction,
  line: RuleLine,
  expected: RuleExpectedPayment,
): boolean {
  const { accepted, paidCents } = expected;
  // A declared payment is paid by an amount that it accepts, or in parts.
  if (accepted !== null) {
    const total = paidCents + line.amountCents;
    if (total > accepted.toCents || (total < accepted.fromCents && !action.instalments))
      return false;
  }
  if (!action.by.includes('amount')) return true;
  const owed = stillOwed(expected, line);
  if (owed === null) return false;
  const difference = line.amountCents - owed;
  const tolerance = toleranceOf(action, owed);
  return difference <= tolerance && (action.instalments || -difference <= tolerance);
}

/** Among more candidates than this, only all of them together are tried. */
const maxCombined = 12;

/** All options of the line: one expected payment, or several in full. */
export function findPaymentOptions(
  action: MatchAction,
  line: RuleLine,
  expected: readonly RuleExpectedPayment[],
): RuleExpectedPayment[][] {
  const candidates = expected.filter((each) => agrees(action, line, each));
  const alone = candidates
    .filter((each) => agreesInAmount(action, line, each))
    .map((each) => [each]);
  return action.combines ? [...alone, ...combinations(line, candidates)] : alone;
}

/** Sets of two or more candidates whose amounts owed sum to the line. */
function combinations(
  line: RuleLine,
  candidates: readonly RuleExpectedPayment[],
): RuleExpectedPayment[][] {
  const owed = candidates.flatMap((expected) => {
    const cents = expected.isMultiUse ? null : stillOwed(expected, { ...line, amountCents: 0n });
    return cents === null || cents <= 0n ? [] : [{ expected, cents }];
  });
  if (owed.length < 2) return [];
  const found: RuleExpectedPayment[][] = [];
  const total = owed.reduce((sum, { cents }) => sum + cents, 0n);
  if (owed.length > maxCombined)
    return total === line.amountCents ? [owed.map(({ expected }) => expected)] : [];
  const choose = (
    from: number,
    chosen: RuleExpectedPayment[],
    left: bigint,
    remaining: bigint,
  ): void => {
    // Two sets are enough: the line is ambiguous.
    if (found.length > 1 || left < 0n || left > remaining) return;
    if (left === 0n && chosen.length > 1) found.push(chosen);
    const next = owed[from];
    if (left === 0n || !next) return;
    choose(from + 1, [...chosen, next.expected], left - next.cents, remaining - next.cents);
    choose(from + 1, chosen, left, remaining - next.cents);
  };
  choose(0, [], line.amountCents, total);
  return found;
}
