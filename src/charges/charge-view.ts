// A charge as business systems read it: the bank's response, the bank's current status, and the
// payments and refunds on the statement.
import { decidingOwedCents } from '../expected-payments/settlement.js';
import { outgoingSettlement } from '../expected-payments/outgoing-settlement.js';
import { parseJson } from '../platform/exact-json.js';
import type { StoredChargeRow, MatchedChargePayment, ChargeRefundRow } from './charges.queries.js';
import { chargeSettlement } from './charge-settlement.js';

export function toChargeView(
  row: StoredChargeRow,
  payments: MatchedChargePayment[],
  refunds: ChargeRefundRow[],
  today: string,
) {
  const response =
    row.response === null ? {} : (parseJson(row.response) as Record<string, unknown>);
  return {
    type: row.type,
    createdAt: row.createdAt.toISOString(),
    ...(row.amountCents === null ? {} : { amount: row.amountCents }),
    ...(row.dueDate === null ? {} : { dueDate: row.dueDate }),
    ...response,
    ...(row.bankStatus === null ? {} : { status: row.bankStatus }),
    ...(row.bankDueDate === null ? {} : { dueDate: row.bankDueDate }),
    correlationId: row.correlationId,
    operationId: row.operationId,
    operationState: row.operationState,
    settlement: chargeSettlement({
      amountCents: decidingOwedCents(row, payments),
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
    refunds: refunds
      .filter(({ originalNsu }) => payments.some(({ nsu }) => nsu === originalNsu))
      .map(toChargeRefundView),
  };
}

function toChargeRefundView(row: ChargeRefundRow) {
  const { id, originalNsu, amountCents: amount, state, nsu, orderedBy } = row;
  return { id, originalNsu, amount, state, settlement: outgoingSettlement(row), nsu, orderedBy };
}
