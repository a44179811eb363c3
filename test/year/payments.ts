// Adds charges and transfers to the year, and the lines that pay them.
import { addDays } from '../../src/brazil/calendar.js';
import { saoPauloDay } from '../../src/brazil/statement-day.js';
import type { CorrectOutcome, YearBuilder, YearLine, YearPayment } from './year-builder.js';

const dayMs = 86_400_000;

export interface ChargeDueTerms {
  dueDate: string;
  terms?: string;
}

/** A charge that was created some days before `at`. Without `dueTerms` it is due after `at`. */
export function addCharge(
  builder: YearBuilder,
  at: number,
  dueTerms?: ChargeDueTerms,
): YearPayment {
  const { dice } = builder;
  const correlationId = builder.uniqueName('charge');
  const cents = dice.integer(500, 300_000);
  const dueDate = addDays(saoPauloDay(new Date(at)), dice.integer(0, 10));
  return builder.addPayment({
    ...{ kind: 'create_charge', cents, createdAt: at - dice.integer(21, 40) * dayMs },
    dueDate,
    ...dueTerms,
    references: [{ kind: 'correlation_id', value: correlationId }],
    charge: { correlationId, type: dice.pick(['BANKSLIP', 'BANKSLIP_PIX']) },
  });
}

/** A line that pays a charge, by bank slip or by Pix. Only a Pix can be refunded. */
export function addChargeLine(
  builder: YearBuilder,
  charge: YearPayment,
  at: number,
  correct: Partial<CorrectOutcome>,
  cents = charge.cents ?? 0,
): YearLine {
  const isSlip = charge.charge?.type === 'BANKSLIP' && builder.dice.chance(0.2);
  const isRefunded = /refund/.test(builder.scenario);
  return builder.addLine({
    ...{ at, cents, payment: charge, correct },
    typeName: isSlip && !isRefunded ? 'CREDIT_BANKSLIP' : 'CREDIT_PIX',
    correlationId: charge.charge?.correlationId ?? null,
    proof: isSlip && !isRefunded ? {} : { endToEndId: builder.endToEndId() },
  });
}

/** A transfer that the bank accepted just before `at`. */
export function addTransfer(
  builder: YearBuilder,
  at: number,
  { kind = 'create_transfer' }: { kind?: string } = {},
): YearPayment {
  const transfer = {
    counterparty: `88888888/1/${builder.dice.integer(1, 5_000)}`,
    endToEndId: builder.endToEndId(),
    externalId: builder.uniqueName('transfer'),
    bankId: builder.uuid('transfer', builder.payments.length),
  };
  return builder.addPayment({
    ...{ kind, cents: builder.dice.integer(100, 250_000), isCredit: false, createdAt: at - 1_000 },
    transfer,
    references: [
      { kind: 'external_id', value: transfer.externalId },
      { kind: 'end_to_end_id', value: transfer.endToEndId },
      { kind: 'movement_id', value: transfer.bankId },
      { kind: 'counterparty', value: transfer.counterparty },
    ],
  });
}

/** The debit of a transfer. It has all ids of the transfer, or only some. */
export function addTransferLine(
  builder: YearBuilder,
  payment: YearPayment,
  at: number,
  correct: Partial<CorrectOutcome>,
): YearLine {
  const { endToEndId, externalId, bankId: id } = payment.transfer ?? {};
  const proof = builder.dice.pick([
    { endToEndId, externalId, id },
    { endToEndId, externalId, id },
    { endToEndId },
    { endToEndId, id },
  ]);
  return builder.addLine({
    ...{ at, cents: payment.cents ?? 0, typeName: 'DEBIT_PIX', payment },
    ...{ proof, correct },
  });
}
