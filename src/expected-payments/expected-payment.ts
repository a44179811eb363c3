// What should appear on the statement, with the references that tie lines to it.
import type { NewExpectedPaymentRow } from './expected-payments.queries.js';
import type { Metadata } from './metadata.js';
import type { Reference, ReferenceKind } from './references.js';

export interface NewExpectedPayment extends NewExpectedPaymentRow {
  references: Reference[];
  /** What a business system calls it; none if absent. */
  metadata?: Metadata | null;
}

/** The payment that an outgoing operation expects: one debit of exactly `amountCents`. */
export function expectedDebit(amountCents: bigint, references: Reference[]): NewExpectedPayment {
  const common = { dueDate: null, terms: null, isMultiUse: false };
  return { ...common, isCredit: false, amountCents, references };
}

/** The references of the ids that are known. */
export function referencesOf(
  ids: Partial<Record<ReferenceKind, string | bigint | null | undefined>>,
): Reference[] {
  return Object.entries(ids).flatMap(([kind, value]) =>
    value == null ? [] : [{ kind: kind as ReferenceKind, value: String(value) }],
  );
}
