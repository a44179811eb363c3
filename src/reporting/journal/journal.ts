// The journal entry of a statement line: what its money is, the code that the mapping gives it, and
// amounts with both of their sides. What fits no entry of the mapping is unmapped, never guessed.
import { statementDayOf } from '../../brazil/statement-day.js';
import { toCoding, type Coding } from '../../statement/expected-payments/coding.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';
import {
  sumOfParts,
  type PaymentPart,
  type PaymentPartKind,
} from '../../statement/expected-payments/payment-parts.js';
import {
  codingOf,
  type CodingFacts,
  type MatchedPart,
} from '../../reconciliation/decide/line-coding.js';
import { lineKinds, type LineKind } from '../exports/line-kind.js';

/** What money of a line is: why it needs no match, or what the match makes of it. */
export const moneyClasses = {
  payment: 'Pagamento',
  refund: 'Devolução',
  reversal: 'Estorno',
  fee: 'Tarifa',
  tariff: 'Tarifa conferida',
  own_account_transfer: 'Transferência entre contas próprias',
  ignored: 'Ignorado',
  accepted: 'Aceito',
  refunded: 'Devolvido',
  withheld_ibs: 'IBS retido',
  withheld_cbs: 'CBS retida',
  withheld_iss: 'ISS retido',
  withheld_irrf: 'IRRF retido',
  withheld_inss: 'INSS retido',
  withheld_social_contributions: 'PIS, Cofins e CSLL retidos',
  withheld_other: 'Outra retenção',
} as const;
export type MoneyClass = keyof typeof moneyClasses;
export const moneyClassNames = Object.keys(moneyClasses) as [MoneyClass, ...MoneyClass[]];

/** Null fits all. */
export interface MappingEntry {
  isCredit: boolean | null;
  lineKind: LineKind | null;
  classification: MoneyClass | null;
  category: string | null;
  contraCode: string;
}

export interface Mapping {
  /** The code of the bank account itself. */
  bankCode: string;
  entries: readonly MappingEntry[];
}

export interface JournalLine extends CodingFacts {
  occurredAt: Date;
  isCredit: boolean;
  amountCents: bigint;
  state: string | null;
  lineKind: LineKind;
}

/** A part of the money of a line. All parts of a line, with their signs, sum to it. */
export interface JournalPart extends Coding {
  isCredit: boolean;
  amountCents: bigint;
  lineKind: LineKind;
  classification: MoneyClass;
}

/** A part with both of its sides: whatever the mapping says, it is in balance. */
export interface Posting extends JournalPart {
  debitCode: string;
  creditCode: string;
}

export type JournalState = 'entry' | 'open' | 'unmapped';
export interface JournalEntry {
  nsu: bigint;
  occurredAt: Date;
  state: JournalState;
  /** Of a line that is not open; without codes where nothing in the mapping fits. */
  parts: readonly (Posting | (JournalPart & { debitCode: null; creditCode: null }))[];
}

/** Null for a line from before the account went live: another book has it. */
export function journalOf(line: JournalLine, mapping: Mapping | null): JournalEntry | null {
  const { nsu, occurredAt, state, classification } = line;
  if (classification === 'before_go_live') return null;
  if (state !== 'matched' && state !== 'classified')
    return { nsu, occurredAt, state: 'open', parts: [] };
  const parts = partsOf(line).map((part) => postingOf(part, mapping));
  const isMapped = parts.every(({ debitCode }) => debitCode !== null);
  return { nsu, occurredAt, state: isMapped ? 'entry' : 'unmapped', parts };
}

export function isPosting(part: JournalEntry['parts'][number]): part is Posting {
  return part.debitCode !== null;
}

function partsOf(line: JournalLine): JournalPart[] {
  const { isCredit, lineKind, amountCents, parts } = line;
  if (parts.length === 0)
    return [{ isCredit, amountCents, lineKind, classification: classOf(line), ...codingOf(line) }];
  return parts.flatMap((part) => {
    const coding = codingOf(line, part);
    const isReversal = part.role === 'reversal';
    const classification = isReversal
      ? returned(isCredit)
      : part.paymentKind === 'refund_pix'
        ? 'refund'
        : 'payment';
    // The payment is paid in full, and with it what never came as money.
    const kept = keptOf(line, part);
    const whole = { isCredit, lineKind, amountCents: part.amountCents + sumOfParts(kept) };
    return [
      { ...whole, classification, ...coding },
      ...kept.map(({ kind, amountCents }) => ({
        ...{ isCredit: !isCredit, amountCents, lineKind: keptLineKinds[kind] ?? 'tax' },
        classification: kind === 'fee' ? kind : (`withheld_${kind}` as const),
        ...{ ...coding, category: null },
      })),
    ];
  });
}

/** What an acquirer kept of sales, and what others withheld of the payment. */
function keptOf({ isCredit }: JournalLine, { feeCents, withheld }: MatchedPart): PaymentPart[] {
  const fee: PaymentPart[] =
    isCredit && feeCents > 0n ? [{ kind: 'fee', amountCents: feeCents }] : [];
  return [...fee, ...withheld];
}

const keptLineKinds: Partial<Record<PaymentPartKind, LineKind>> = {
  ...{ fee: 'fee', irrf: 'income_tax', other: 'other' },
};

/** Money that we sent is reversed, and money that we received is refunded. */
const returned = (isCredit: boolean) => (isCredit ? 'reversal' : 'refund');

/** A line without a match and a classification was linked to what it refunds. */
function classOf({ classification, isCredit }: JournalLine): MoneyClass {
  return moneyClassNames.find((one) => one === classification) ?? returned(isCredit);
}

function postingOf(part: JournalPart, mapping: Mapping | null): JournalEntry['parts'][number] {
  const found = mapping?.entries.find((entry) => fits(entry, part));
  if (!mapping || !found) return { ...part, debitCode: null, creditCode: null };
  const { bankCode } = mapping;
  const { contraCode } = found;
  return part.isCredit
    ? { ...part, debitCode: bankCode, creditCode: contraCode }
    : { ...part, debitCode: contraCode, creditCode: bankCode };
}

function fits(entry: MappingEntry, part: JournalPart): boolean {
  const { isCredit, lineKind, classification, category } = entry;
  return (
    (isCredit === null || isCredit === part.isCredit) &&
    (lineKind === null || lineKind === part.lineKind) &&
    (classification === null || classification === part.classification) &&
    (category === null ||
      (part.category !== null && normalizeText(category) === normalizeText(part.category)))
  );
}

/** Whether no money can be unmapped. */
export const fitsAll = ({ entries }: Mapping): boolean =>
  [true, false].every((isCredit) =>
    entries.some(
      (entry) =>
        (entry.isCredit ?? isCredit) === isCredit &&
        (entry.lineKind ?? entry.classification ?? entry.category) === null,
    ),
  );

/** Postings of a day with the same codes, class and coding, as one amount. */
export interface PostingSum extends Posting {
  day: string;
  firstNsu: bigint;
  lastNsu: bigint;
  lines: number;
}

export const sumsOfLine = ({ nsu, parts, occurredAt }: JournalEntry): PostingSum[] =>
  parts.filter(isPosting).map((part) => ({
    ...{ ...part, day: statementDayOf(occurredAt), firstNsu: nsu, lastNsu: nsu, lines: 1 },
  }));

/** Adds the postings of a line to the sums of its day. */
export function addToDay(sums: Map<string, PostingSum>, { nsu, ...entry }: JournalEntry): void {
  for (const part of sumsOfLine({ nsu, ...entry })) {
    const { debitCode, creditCode, classification, category, costCentre, project } = part;
    const codes = [debitCode, creditCode, classification];
    const key = JSON.stringify([...codes, category, costCentre, project]);
    const before = sums.get(key);
    const isNext = before !== undefined && before.lastNsu !== nsu;
    sums.set(key, {
      ...(before ?? part),
      amountCents: (before?.amountCents ?? 0n) + part.amountCents,
      firstNsu: before && before.firstNsu < nsu ? before.firstNsu : nsu,
      lastNsu: before && before.lastNsu > nsu ? before.lastNsu : nsu,
      lines: (before?.lines ?? 1) + (isNext ? 1 : 0),
    });
  }
}

/** A stored posting, whose texts this service wrote. */
export interface StoredPosting extends Coding {
  nsu: bigint;
  occurredAt: Date;
  isCredit: boolean;
  debitCode: string;
  creditCode: string;
  amountCents: bigint;
  lineKind: string;
  classification: string;
}

/** The entries of stored postings, which are in the order of their lines. */
export function readStoredEntries(stored: readonly StoredPosting[]): JournalEntry[] {
  const entries = new Map<bigint, JournalEntry & { parts: Posting[] }>();
  for (const { nsu, occurredAt, lineKind, classification, ...posting } of stored) {
    const entry = entries.get(nsu) ?? { nsu, occurredAt, state: 'entry', parts: [] };
    entry.parts.push({
      ...{ ...posting, ...toCoding(posting) },
      lineKind: lineKinds.find((one) => one === lineKind) ?? 'other',
      classification: moneyClassNames.find((one) => one === classification) ?? 'payment',
    });
    entries.set(nsu, entry);
  }
  return [...entries.values()];
}
