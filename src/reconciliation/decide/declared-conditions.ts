// Whether a line fulfils the conditions of a declared payment: its window, counterparty and text. A
// condition that the payment does not state holds for every line.
import { saoPauloDay } from '../../brazil/statement-day.js';
import {
  compileTextPattern,
  type TextPattern,
} from '../../statement/expected-payments/text-pattern.js';
import type { Coding } from '../../statement/expected-payments/coding.js';
import type { PaymentPart } from '../../statement/expected-payments/payment-parts.js';
import type { AcceptedAmounts } from '../../statement/expected-payments/settlement.js';

/** The current terms of a payment that another system declared. */
export interface DeclaredFacts extends Coding {
  externalId: string;
  /** The amounts of a line that pays it by its own conditions; null where only ids match it. */
  matching: AcceptedAmounts | null;
  /** The window of statement days, both included. */
  dateFrom: string;
  dateTo: string;
  /** A pattern that the line must contain. */
  text: string | null;
  /** What others withhold beside the amount. */
  parts: readonly PaymentPart[];
  /** In bank time. */
  cancelledAt: Date | null;
}

interface ComparedLine {
  occurredAt: Date;
  counterpartyDocument: string | null;
  typeName: string;
  notes: string | null;
}

/** Everything but the direction and the amount. `hasOwnDay`: the window does not decide. */
export function agreesWithTerms(
  line: ComparedLine,
  { counterpartyDocument: document }: { counterpartyDocument: string | null },
  { dateFrom, dateTo, text }: DeclaredFacts,
  { hasOwnDay = false } = {},
): boolean {
  const day = saoPauloDay(line.occurredAt);
  if (!hasOwnDay && (day < dateFrom || day > dateTo)) return false;
  if (document !== null && document !== line.counterpartyDocument) return false;
  return text === null || containsText(line, text);
}

/** The text may stand in the notes or in the type that the bank gives the line. */
function containsText({ notes, typeName }: ComparedLine, text: string): boolean {
  const pattern = patternOf(text);
  return (notes !== null && pattern.matches(notes)) || pattern.matches(typeName);
}

const maxPatterns = 1_000;
const patterns = new Map<string, TextPattern>();

/** The compiled pattern. A pattern is compared with many lines, and compiled once. */
function patternOf(text: string): TextPattern {
  let pattern = patterns.get(text);
  if (!pattern) {
    if (patterns.size >= maxPatterns) patterns.clear();
    patterns.set(text, (pattern = compileTextPattern(text)));
  }
  return pattern;
}
