// The rules that every account begins with; they can be retired and replaced like any other.
// Pure.
import { v5 as uuidv5 } from 'uuid';
import { writeStored } from './stored-rule.js';

const namespace = '0b5c5a0e-93f5-5c5e-8f0e-5b1d7c1f7a44';

const feeTypes = ['DEBIT_FEE', 'FEE', 'DEBIT_TARIFF', 'TARIFF', 'DEBIT_TARIFA', 'TARIFA'];

/** Classifies the bank's fees, by the type names that banks use. */
export function bankFees(accountId: number) {
  return {
    id: uuidv5(`${accountId} bank-fees`, namespace),
    name: 'Bank fees',
    priority: 1_000,
    definition: writeStored({
      when: { isCredit: false, types: feeTypes.map((type) => `${type}*`) },
      then: { do: 'classify', classify: 'fee', reason: 'The bank charged for its services.' },
    }),
  };
}
