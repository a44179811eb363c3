import { addDays } from '../../brazil/calendar.js';
import { buildBankSlip } from '../../brazil/bank-slip.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { outsideBank } from '../accounts/party.js';
import { companies } from './people.js';
import { plainReais, type LineInputs, type PlannedLine } from './planned-line.js';

/** The payment of another institution's bill. */
export function paidBill({ random, amountCents, at }: LineInputs): PlannedLine {
  const beneficiary = random.pick(companies);
  const serial = random.below(1_000_000_000);
  const dueDate = addDays(statementDayOf(at), 1 + random.below(5));
  const codes = buildBankSlip({
    bankCode: '237',
    amountCents,
    dueDate,
    freeField: String(serial).padStart(25, '0'),
  });
  return {
    id: random.uuid(),
    typeName: 'DEBIT_BILL_PAYMENT',
    changeCents: -amountCents,
    internal: 'clearing',
    at,
    notes: `Pagamento a ${beneficiary.name}`,
    idempotencyKey: random.uuid(),
    proof: {
      id: random.uuid(),
      identifierNumber: String(serial),
      ...codes,
      status: 'PAID',
      dueDate: `${dueDate}T23:59:59`,
      createdAt: at.toISOString(),
      originalAmount: plainReais(amountCents),
      paidAmount: plainReais(amountCents),
      beneficiary: { ...beneficiary, fantasyName: beneficiary.name, type: 'LEGAL' },
      issuer: { ...outsideBank, nameFantasy: outsideBank.name },
    },
  };
}

export function feeLine({ random, amountCents, at }: LineInputs): PlannedLine {
  return {
    id: random.uuid(),
    typeName: 'DEBIT_FEE',
    changeCents: -amountCents,
    internal: 'other',
    at,
    notes: 'Tarifa de serviço',
  };
}
