// What money that is sent should make appear on the statement: one debit of just so much.
import type { NewExpectedPayment } from './expected-payments.service.js';
import type { Reference } from './references.js';

export function expectedDebit(amountCents: bigint, references: Reference[]): NewExpectedPayment {
  return {
    isCredit: false,
    amountCents,
    dueDate: null,
    terms: null,
    isMultiUse: false,
    references,
  };
}
