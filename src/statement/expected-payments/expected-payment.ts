// What should appear on the statement, with the references that tie lines to it.
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { NewExpectedPaymentRow } from './expected-payments.queries.js';
import type { Metadata } from './metadata.js';
import type { Reference, ReferenceKind } from './references.js';

export interface NewExpectedPayment extends NewExpectedPaymentRow {
  references: Reference[];
  /** What a business system calls it; none if absent. */
  metadata?: Metadata | null;
}

/**
 * The payment that an outgoing operation expects: one debit of exactly `amountCents`. What is
 * scheduled is due on the day on which it takes effect.
 */
export function expectedDebit(
  amountCents: bigint,
  references: Reference[],
  effectAt: Date | null = null,
): NewExpectedPayment {
  const dueDate = effectAt && saoPauloDay(effectAt);
  return { dueDate, terms: null, isMultiUse: false, isCredit: false, amountCents, references };
}

/** The references of the ids that are known. */
export function referencesOf(
  ids: Partial<Record<ReferenceKind, string | bigint | null | undefined>>,
): Reference[] {
  return Object.entries(ids).flatMap(([kind, value]) =>
    value == null ? [] : [{ kind: kind as ReferenceKind, value: String(value) }],
  );
}
