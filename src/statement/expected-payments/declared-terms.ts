// The terms of a payment that another system declares: what a line must be to pay it. They are
// stored whole with each version.
import { z } from 'zod';
import { daysBetween, parsePlainDate, type PlainDate } from '../../brazil/calendar.js';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import type { Coding } from './coding.js';
import type { AcceptedAmounts } from './settlement.js';
import { storedCents, storedParts, type PaymentPart } from './payment-parts.js';
import { declarableKinds, type Reference } from './references.js';
import { problemOfPattern } from './text-pattern.js';

/** The kind of an expected payment that no operation created. */
export const declaredKind = 'declared';

export interface DeclaredTerms extends Coding {
  isCredit: boolean;
  /** Null for a range. */
  amountCents: bigint | null;
  amountFromCents: bigint | null;
  amountToCents: bigint | null;
  /** A difference from the amount that is accepted. */
  toleranceCents: bigint;
  /** Statement days, both included. */
  dateFrom: PlainDate;
  dateTo: PlainDate;
  references: Reference[];
  taxId: string | null;
  counterpartyName: string | null;
  text: string | null;
  metadata: Record<string, string> | null;
  /** Each kind once; undefined without parts. */
  parts?: PaymentPart[] | undefined;
}

const maxWindowDays = 366;

/** What is wrong with the terms as a whole, by the JSON path of the field. */
export function errorsOfTerms(terms: DeclaredTerms): Record<string, FieldError> {
  const { amountCents, amountFromCents: from, amountToCents: to, dateFrom, dateTo } = terms;
  const errors: Record<string, FieldError> = {};
  const isRange = from !== null || to !== null;
  if (amountCents === null && !isRange) errors.amount = fieldError('amount_or_range');
  if (amountCents !== null && isRange) errors.amount = fieldError('not_with_range');
  if (isRange && from === null) errors.amountFrom = fieldError('whole_range');
  if (isRange && to === null) errors.amountTo = fieldError('whole_range');
  if (from !== null && to !== null && from > to)
    errors.amountTo = fieldError('less_than_field', { field: 'amountFrom' });
  if (isRange && terms.toleranceCents > 0n) errors.tolerance = fieldError('not_with_range');
  if (amountCents !== null && terms.toleranceCents >= amountCents)
    errors.tolerance = fieldError('less_than_amount');
  if (isRange && terms.parts !== undefined) errors.parts = fieldError('not_with_range');
  // A date that does not exist is an error of its own.
  const areDates = [dateFrom, dateTo].every((date) => parsePlainDate(date) !== null);
  if (areDates && dateTo < dateFrom)
    errors.dateTo = fieldError('before_field', { field: 'dateFrom' });
  else if (areDates && daysBetween(dateFrom, dateTo) >= maxWindowDays)
    errors.dateTo = fieldError('window_days', { most: maxWindowDays });
  const isWide = isWideRange(from, to);
  const isNamed = terms.references.length > 0 || terms.taxId !== null || terms.text !== null;
  if (isRange && !isNamed) errors.references = fieldError('range_needs_identity');
  else if (isWide && terms.references.length === 0) errors.references = fieldError('wide_range');
  const problem = terms.text === null ? null : problemOfPattern(terms.text);
  if (problem !== null) errors.text = problem;
  return errors;
}

/**
 * Whether a line with one of the amounts differs from others by who pays or by its text. Of
 * amounts that differ by four orders of magnitude, nearly every line has one.
 */
function isIdentified({ taxId, text, ...terms }: DeclaredTerms): boolean {
  if (isWideRange(terms.amountFromCents, terms.amountToCents)) return false;
  return taxId !== null || (text !== null && problemOfPattern(text) === null);
}

const widestRange = 10_000n;

/** Whether amounts say nothing: the greatest is 10,000 times the least, or more. */
export function isWideRange(fromCents: bigint | null, toCents: bigint | null): boolean {
  if (fromCents === null || toCents === null) return false;
  return toCents >= (fromCents > 0n ? fromCents : 1n) * widestRange;
}

/** The amounts that settle the payment exactly: a range, or the amount and its tolerance. */
export function acceptedAmounts(
  terms: Pick<
    DeclaredTerms,
    'amountCents' | 'amountFromCents' | 'amountToCents' | 'toleranceCents'
  >,
): AcceptedAmounts | null {
  const { amountCents, amountFromCents, amountToCents, toleranceCents } = terms;
  if (amountFromCents !== null && amountToCents !== null)
    return { fromCents: amountFromCents, toCents: amountToCents };
  if (amountCents === null) return null;
  return { fromCents: amountCents - toleranceCents, toCents: amountCents + toleranceCents };
}

/**
 * The amounts of a line that pays it by its own conditions. Null for a range without tax id and
 * text: only its references match it.
 */
export function conditionAmounts(terms: DeclaredTerms): AcceptedAmounts | null {
  return terms.amountCents === null && !isIdentified(terms) ? null : acceptedAmounts(terms);
}

/** The stored form: JSON with cents as text, so that none is lost. */
export const storedTerms = z.object({
  isCredit: z.boolean(),
  amountCents: storedCents.nullable(),
  amountFromCents: storedCents.nullable(),
  amountToCents: storedCents.nullable(),
  toleranceCents: storedCents,
  dateFrom: z.string(),
  dateTo: z.string(),
  references: z.array(z.object({ kind: z.enum(declarableKinds), value: z.string() })),
  taxId: z.string().nullable(),
  counterpartyName: z.string().nullable(),
  text: z.string().nullable(),
  category: z.string().nullable(),
  costCentre: z.string().nullable(),
  /** Terms that were stored before there were projects have none. */
  project: z.string().nullable().default(null),
  metadata: z.record(z.string(), z.string()).nullable(),
  parts: storedParts.optional(),
});
export type StoredTerms = z.input<typeof storedTerms>;
