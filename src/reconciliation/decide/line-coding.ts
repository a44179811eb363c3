// Which coding the money of a line has: what a person decided stands above the rule, and that above
// what the matched payment says. Each field is decided alone.
import { codingNames, toCoding, type Coding } from '../../statement/expected-payments/coding.js';
import type { PaymentPart } from '../../statement/expected-payments/payment-parts.js';

type Source = Partial<Coding> | null;

/** A match of the line: the parts of a line sum to it. */
export interface MatchedPart {
  amountCents: bigint;
  role: 'payment' | 'reversal';
  /** The kind of its expected payment: of the operation that made it, or `declared`. */
  paymentKind: string;
  /** What the bank kept of the payment, besides the amount. */
  feeCents: bigint;
  /** What others withheld of it, by its declaration; only of a match that pays it in full. */
  withheld: readonly PaymentPart[];
  rule: Source;
  payment: Source;
}

export interface CodingFacts {
  nsu: bigint;
  /** Why the line needs no match. */
  classification: string | null;
  /** Of the rule that classified it. */
  rule: Source;
  manual: Source;
  parts: MatchedPart[];
}

/** Of a part of the line, or of a line without a match. */
export const codingOf = ({ manual, rule }: CodingFacts, part?: MatchedPart): Coding =>
  toCoding(manual, part ? part.rule : rule, part?.payment);

/** The texts of all parts, in one field each. Without a category the classification is it. */
export function codingTexts(facts: CodingFacts | undefined): Coding {
  if (!facts) return toCoding();
  const { parts, classification } = facts;
  const codings =
    parts.length === 0 ? [codingOf(facts)] : parts.map((part) => codingOf(facts, part));
  const texts = codingNames.map((name) => {
    const all = new Set(codings.flatMap((one) => one[name] ?? []));
    return [name, all.size === 0 ? null : [...all].sort().join(' ')];
  });
  const joined = Object.fromEntries(texts) as Coding;
  const category = joined.category ?? (parts.length === 0 ? classification : null);
  return { ...joined, category };
}
