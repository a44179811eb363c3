// A charge as business systems read it: what the bank answered, how it stands there, and what was paid for it.
import { paymentsLeft } from '../expected-payments/settlement.js';
import { settlementOfSent } from '../expected-payments/sent-settlement.js';
import { parseJson } from '../platform/exact-json.js';
import type { ChargeRow, PaymentRow, RefundRow } from './charges.queries.js';
import { settlementOf } from './settlement.js';

export function describeCharge(
  row: ChargeRow,
  payments: PaymentRow[],
  refundsOfAll: RefundRow[],
  today: string,
) {
  const owedCents = paymentsLeft(payments).at(-1)?.owedCents ?? row.amountCents;
  const answer = row.answer === null ? {} : (parseJson(row.answer) as Record<string, unknown>);
  return {
    type: row.type,
    createdAt: row.createdAt.toISOString(),
    ...(row.amountCents === null ? {} : { amount: row.amountCents }),
    ...(row.dueDate === null ? {} : { dueDate: row.dueDate }),
    ...answer,
    ...(row.bankStatus === null ? {} : { status: row.bankStatus }),
    ...(row.bankDueDate === null ? {} : { dueDate: row.bankDueDate }),
    correlationId: row.correlationId,
    operationId: row.operationId,
    operationState: row.operationState,
    settlement: settlementOf({
      amountCents: owedCents,
      isMultiUse: row.isMultiUse,
      dueDate: row.bankDueDate ?? row.dueDate,
      isCancelled: row.cancelledAt !== null,
      isExpired: row.expiredAt !== null,
      payments,
      today,
    }),
    cancelledAt: row.cancelledAt?.toISOString() ?? null,
    expiredAt: row.expiredAt?.toISOString() ?? null,
    payments: payments.map(({ nsu, amountCents, endToEndId, occurredAt }) => ({
      nsu,
      amount: amountCents,
      endToEndId,
      occurredAt: occurredAt.toISOString(),
    })),
    refunds: refundsOfAll
      .filter(({ originalNsu }) => payments.some(({ nsu }) => nsu === originalNsu))
      .map(describeRefund),
  };
}

function describeRefund(row: RefundRow) {
  const { id, originalNsu, amountCents: amount, state, nsu, orderedBy } = row;
  return { id, originalNsu, amount, state, settlement: settlementOfSent(row), nsu, orderedBy };
}
