import { describe, expect, it } from '@jest/globals';
import { lineFacts } from '../../../test/support/facts.js';
import { covers } from '../../reconciliation/decide/rule.js';
import { bankFees, readStored } from '../../reconciliation/load/stored-rule.js';
import { kindOfLine } from './line-kind.js';

const kindOf = (
  typeName: string,
  classification: string | null = null,
  billCode: string | null = null,
) => kindOfLine({ typeName, classification, billCode });

describe('the kind of a line', () => {
  it.each([
    ['CREDIT_PIX', 'transfer'],
    ['DEBIT_TRANSFER_INTERNAL', 'own_transfer'],
    ['Transferência enviada', 'transfer'],
    ['DEBIT_PIX_FEE', 'fee'],
    ['Tarifa de cobrança', 'fee'],
    ['DEBIT_TAXA', 'fee'],
    ['DEBIT_TAXES', 'tax'],
    ['IRRF', 'income_tax'],
    ['DEBIT_IOF', 'financial_tax'],
    ['CREDIT_FEE_REFUND', 'reversal'],
    ['Devolução Pix', 'reversal'],
    ['CREDIT_BANKSLIP', 'bank_slip'],
    ['DEBIT_BILL_PAYMENT', 'bill'],
    ['COFFEE', 'other'],
    ['', 'other'],
  ])('of type %j is %s', (typeName, kind) => expect(kindOf(typeName)).toBe(kind));

  it('is what its classification says, but for a reversal', () => {
    expect(kindOf('DEBIT_OTHER', 'tariff')).toBe('fee');
    expect(kindOf('DEBIT_PIX', 'own_account_transfer')).toBe('own_transfer');
    expect(kindOf('DEBIT_PIX', 'ignored')).toBe('transfer');
    expect(kindOf('CREDIT_FEE_REFUND', 'fee')).toBe('reversal');
  });

  it('is a tax where the paid bill is of a city hall, a government or a fine', () => {
    const paid = (start: string) => kindOf('DEBIT_BILL_PAYMENT', null, start.padEnd(44, '0'));
    expect(['816', '858', '876', '836', '341'].map(paid)).toEqual([
      ...['tax', 'tax', 'tax', 'bill', 'bill'],
    ]);
  });
});

it('a fee in files is a fee to the rule that every account begins with', () => {
  const { definition } = bankFees(1);
  const { when } = readStored({ ruleId: '', version: 1, priority: 1, definition });
  for (const typeName of [
    'DEBIT_FEE',
    'FEES',
    'DEBIT_TARIFF',
    'TARIFA',
    'DEBIT_TAXA',
    'DEBIT_PIX',
  ]) {
    const line = lineFacts({ isCredit: false, typeName });
    const isFee = kindOf(typeName) === 'fee';
    expect([typeName, covers(when, line)]).toEqual([typeName, isFee]);
  }
});
