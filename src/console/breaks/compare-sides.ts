// Compares a statement line with an expected payment, field by field, as a person would: what is
// the same, what differs, and by how much.
import { daysBetween } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { Cents } from '../../brazil/cents.js';
import type { LineSide, PaymentSide } from '../../reconciliation/breaks/break-sides.service.js';

/** `near`: another value that is usual, such as a payment some days before it is due. */
export type Mark = 'same' | 'near' | 'differs' | 'unknown';

interface ComparedField<Field extends string, Value> {
  field: Field;
  /** Of the line, and of the expected payment. */
  line: Value | null;
  payment: Value | null;
  mark: Mark;
}

export type Comparison =
  | (ComparedField<'amount', Cents> & {
      /** What the line has more than is owed. */
      differenceCents: Cents | null;
    })
  | (ComparedField<'day', string> & {
      /** Days from the day of the payment to that of the line. */
      days: number;
    })
  | ComparedField<'direction', boolean>
  | ComparedField<'name' | 'taxId', string>
  | ComparedField<'references', readonly string[]>;

const nearDays = 10;
/** Shorter ids stand in texts by chance. */
const shortestInNotes = 6;

/** `owed` is what the payment owes on the day of the line, and null when the payer chooses it. */
export function compareSides(
  line: LineSide,
  payment: PaymentSide,
  { owed, day }: { owed: Cents | null; day: string },
): Comparison[] {
  return [
    compareAmounts(line.amountCents, owed),
    compareDays(saoPauloDay(line.occurredAt), day),
    field('direction', line.isCredit, payment.isCredit, (one, other) => one === other),
    field('name', line.counterparty.name, payment.counterparty.name, isSameName),
    field('taxId', line.counterparty.taxId, payment.counterparty.taxId, isSameText),
    compareReferences(line, payment),
  ];
}

function compareAmounts(line: Cents, payment: Cents | null): Comparison {
  const differenceCents = payment === null ? null : line - payment;
  const mark = payment === null ? 'unknown' : line === payment ? 'same' : 'differs';
  return { field: 'amount', line, payment, mark, differenceCents };
}

function compareDays(line: string, payment: string): Comparison {
  const days = daysBetween(payment, line);
  const mark = days === 0 ? 'same' : Math.abs(days) <= nearDays ? 'near' : 'differs';
  return { field: 'day', line, payment, mark, days };
}

/** Texts that are masked are compared as far as they are shown: equal ones prove nothing. */
function field<Field extends 'direction' | 'name' | 'taxId', Value extends string | boolean>(
  name: Field,
  line: Value | null,
  payment: Value | null,
  isSame: (one: Value, other: Value) => boolean,
): ComparedField<Field, Value> {
  const isOpen =
    line === null || payment === null || [line, payment].some((one) => `${one}`.includes('*'));
  const mark = isOpen ? 'unknown' : isSame(line, payment) ? 'same' : 'differs';
  return { field: name, line, payment, mark };
}

function compareReferences(line: LineSide, payment: PaymentSide): Comparison {
  const [ofLine, ofPayment] = [line, payment].map(({ references }) =>
    references.map(({ value }) => value),
  ) as [string[], string[]];
  const inNotes = ofPayment.filter(
    (value) => value.length >= shortestInNotes && line.notes?.includes(value),
  );
  const known = [...new Set([...inNotes, ...ofLine])];
  const mark = ofPayment.some((value) => known.includes(value)) ? 'same' : 'unknown';
  return { field: 'references', line: known, payment: ofPayment, mark };
}

const isSameText = (one: string, other: string) => one === other;

/** Banks write names without accents, in capitals, and with other spaces. */
function isSameName(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase().replace(/\s+/g, ' ').trim();
}
