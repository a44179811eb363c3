// What a declared rule says, and which expected payments a line may pay by it. Pure.
import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { formatCounterparty } from '../../expected-payments/counterparty.js';
import { owedCentsWhenPaid } from '../../expected-payments/settlement.js';

export const declaredCategories = ['fee', 'tariff', 'own_account_transfer', 'ignored'] as const;
export type DeclaredCategory = (typeof declaredCategories)[number];

/** By what a line and an expected payment must agree. */
export const criteria = ['document', 'amount', 'window', 'notes'] as const;
export type Criterion = (typeof criteria)[number];

/** Which lines a rule is about; every condition that is said must hold. */
export interface RuleCondition {
  isCredit?: boolean;
  /** Names of types; one that ends with `*` is a beginning. */
  types?: string[];
  minCents?: bigint;
  maxCents?: bigint;
  /** The other side's CPF or CNPJ, plain. */
  document?: string;
  counterparty?: { ispb: string; branch: string; number: string };
  /** Text that the notes contain, however it is accented or capitalised. */
  notes?: string;
}

export interface ClassifyAction {
  classify: DeclaredCategory;
  reason: string;
}

export interface MatchAction {
  by: Criterion[];
  toleranceCents: bigint;
  /** Hundredths of a percent of what is owed. */
  toleranceBasisPoints: bigint;
  /** Around the due date; around the day of creation where there is none. */
  window: { daysBefore: number; daysAfter: number } | null;
  /** One line may pay several whole. */
  combines: boolean;
  /** Several lines may pay one in parts. */
  instalments: boolean;
}

export type RuleAction = ({ do: 'classify' } & ClassifyAction) | ({ do: 'match' } & MatchAction);

/** A version of a rule as it is applied. */
export interface AppliedRule {
  ruleId: string;
  version: number;
  priority: number;
  when: RuleCondition;
  then: RuleAction;
  /** Not said of one that is only tried out. */
  activatedAt?: Date | null;
}

export interface RuledLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  counterparty: string | null;
  counterpartyDocument: string | null;
  notes: string | null;
  /** It names a Pix that it gives back: it pays nothing. */
  givesBack: boolean;
  /** When the statement first showed that some of it had gone back; null where none has. */
  wentBackAt: Date | null;
  occurredAt: Date;
  /** Expected payments that a person said it does not pay. */
  unlinkedFrom: readonly string[];
}

/** An expected payment that is still owed, less what is paid of it for good. */
export interface RuledExpected {
  expectedPaymentId: string;
  operationId: string;
  kind: string;
  operationState: string | null;
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  dueDate: string | null;
  terms: string | null;
  isMultiUse: boolean;
  counterpartyDocument: string | null;
  createdAt: Date;
  paidCents: bigint;
  /** What was owed in all when that was paid; null when nothing was paid, or the payer chose. */
  owedCents: bigint | null;
  /** Ids of ours that notes may name. */
  names: string[];
}

/** The lower priority first; of the same, the one that was declared first: its id says when. */
export function byPriority(a: AppliedRule, b: AppliedRule): number {
  return a.priority - b.priority || (a.ruleId < b.ruleId ? -1 : 1);
}

export function groupBy<Key, Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}

/** Without accents and capitals, as people who write notes by hand differ. */
export function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Shorter ones stand in notes by chance. */
const shortestName = 4;
const mostWords = 40;

/** The words of a line's notes that may be ids of ours. */
export function wordsOf(notes: string | null): string[] {
  if (notes === null) return [];
  const words = notes
    .split(/[\s,;:()[\]{}"'|<>!?#]+/)
    .map((word) => word.replace(/^[.\-_/]+|[.\-_/]+$/g, ''))
    .filter(({ length }) => length >= shortestName && length <= 100);
  return [...new Set(words)].slice(0, mostWords);
}

/** Whether the rule is about the line. */
export function isAbout(when: RuleCondition, line: RuledLine): boolean {
  const { isCredit, types, minCents, maxCents, document, counterparty, notes } = when;
  return (
    (isCredit === undefined || line.isCredit === isCredit) &&
    (types === undefined || types.some((type) => isOfType(line.typeName, type))) &&
    (minCents === undefined || line.amountCents >= minCents) &&
    (maxCents === undefined || line.amountCents <= maxCents) &&
    (document === undefined || line.counterpartyDocument === document) &&
    (counterparty === undefined || line.counterparty === formatCounterparty(counterparty)) &&
    (notes === undefined || (line.notes !== null && folded(line.notes).includes(folded(notes))))
  );
}

/** How far competition reaches by the match rules: which lines it goes through, and by what. */
export interface Reach {
  isAbout: (line: RuledLine) => boolean;
  byDocument: boolean;
  byNotes: boolean;
}

export function reachOf(rules: readonly AppliedRule[]): Reach {
  const matching = rules.flatMap(({ when, then }) =>
    then.do === 'match' ? [{ when, by: then.by }] : [],
  );
  const isByDocument = ({ by }: { by: Criterion[] }) => by.includes('document');
  return {
    isAbout: (line) => !line.givesBack && matching.some(({ when }) => isAbout(when, line)),
    byDocument: matching.some(isByDocument),
    byNotes: matching.some((one) => !isByDocument(one)),
  };
}

function isOfType(name: string, type: string): boolean {
  return type.endsWith('*') ? name.startsWith(type.slice(0, -1)) : name === type;
}

/** Whether anything of it is still to come. */
export function isOpen({ isMultiUse, amountCents, owedCents, paidCents }: RuledExpected): boolean {
  if (isMultiUse || paidCents === 0n) return true;
  return amountCents !== null && paidCents < (owedCents ?? amountCents);
}

/** What is still owed of an expected payment, were it paid with this much on the line's day; null: the payer chooses. */
export function stillOwed(
  expected: RuledExpected,
  { amountCents, occurredAt }: RuledLine,
): bigint | null {
  const before = paidBefore(expected);
  const owed = owedCentsWhenPaid(expected, before + amountCents, saoPauloDay(occurredAt));
  return owed === null ? null : owed - before;
}

/** What was paid of the same debt: each payment of what may be paid many times stands for itself. */
export function paidBefore({ isMultiUse, paidCents }: RuledExpected): bigint {
  return isMultiUse ? 0n : paidCents;
}

/** By how much a payment may differ from what is owed. */
export function toleranceOf(action: MatchAction, owedCents: bigint): bigint {
  const ofPercent = (owedCents * action.toleranceBasisPoints) / 10_000n;
  return ofPercent > action.toleranceCents ? ofPercent : action.toleranceCents;
}

/**
 * Whether some of it was gone before anybody could say what it paid: that is told nobody as paid. What goes back later is
 * the return of what it had paid, whichever of both lines was read first.
 */
export function wasGone({ wentBackAt }: RuledLine, since: Date | null | undefined): boolean {
  return wentBackAt !== null && since != null && wentBackAt <= since;
}

/** Whether all but the amount speaks for the line to pay it. */
function agrees(action: MatchAction, line: RuledLine, expected: RuledExpected): boolean {
  const { by, window } = action;
  if (line.givesBack || line.isCredit !== expected.isCredit) return false;
  if (wasGone(line, expected.createdAt)) return false;
  if (line.unlinkedFrom.includes(expected.expectedPaymentId)) return false;
  if (by.includes('document')) {
    const { counterpartyDocument: document } = line;
    if (document === null || document !== expected.counterpartyDocument) return false;
  }
  if (by.includes('notes')) {
    const words = wordsOf(line.notes);
    if (!expected.names.some((name) => words.includes(name))) return false;
  }
  if (!by.includes('window') || window === null) return true;
  const day = saoPauloDay(line.occurredAt);
  const middle = expected.dueDate ?? saoPauloDay(expected.createdAt);
  return day >= addDays(middle, -window.daysBefore) && day <= addDays(middle, window.daysAfter);
}

/** Lines of which this is the same have the same ways to pay. */
export function likenessOf(action: MatchAction, line: RuledLine): string {
  const { isCredit, givesBack, wentBackAt, amountCents, counterpartyDocument, unlinkedFrom } = line;
  const notes = action.by.includes('notes') ? line.notes : null;
  const day = saoPauloDay(line.occurredAt);
  const amount = amountCents.toString();
  return JSON.stringify([
    isCredit,
    givesBack,
    wentBackAt,
    amount,
    counterpartyDocument,
    unlinkedFrom,
    notes,
    day,
  ]);
}

function agreesInAmount(action: MatchAction, line: RuledLine, expected: RuledExpected): boolean {
  if (!action.by.includes('amount')) return true;
  const owed = stillOwed(expected, line);
  if (owed === null) return false;
  const difference = line.amountCents - owed;
  const tolerance = toleranceOf(action, owed);
  return difference <= tolerance && (action.instalments || -difference <= tolerance);
}

/** Of more than so many, only all together are looked at. */
const mostCombined = 12;

/** Every way in which the line may pay what is expected: one, or several whole. */
export function waysToPay(
  action: MatchAction,
  line: RuledLine,
  expected: readonly RuledExpected[],
): RuledExpected[][] {
  const could = expected.filter((each) => agrees(action, line, each));
  const alone = could.filter((each) => agreesInAmount(action, line, each)).map((each) => [each]);
  return action.combines ? [...alone, ...combinations(line, could)] : alone;
}

/** Two or more that are owed just what the line is of. */
function combinations(line: RuledLine, could: readonly RuledExpected[]): RuledExpected[][] {
  const owed = could.flatMap((expected) => {
    const cents = expected.isMultiUse ? null : stillOwed(expected, { ...line, amountCents: 0n });
    return cents === null || cents <= 0n ? [] : [{ expected, cents }];
  });
  if (owed.length < 2) return [];
  const found: RuledExpected[][] = [];
  const total = owed.reduce((sum, { cents }) => sum + cents, 0n);
  if (owed.length > mostCombined)
    return total === line.amountCents ? [owed.map(({ expected }) => expected)] : [];
  const choose = (from: number, chosen: RuledExpected[], left: bigint, rest: bigint): void => {
    // Two are enough to know that it is not told which.
    if (found.length > 1 || left < 0n || left > rest) return;
    if (left === 0n && chosen.length > 1) found.push(chosen);
    const next = owed[from];
    if (left === 0n || !next) return;
    choose(from + 1, [...chosen, next.expected], left - next.cents, rest - next.cents);
    choose(from + 1, chosen, left, rest - next.cents);
  };
  choose(0, [], line.amountCents, total);
  return found;
}
