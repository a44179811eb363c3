// What the data of each type of event has, for the API reference. A test compares it with the
// events that other tests record.
import { z } from 'zod';
import { groupBy } from '../platform/grouping.js';
import { apiVersion } from '../platform/http/openapi.js';
import { counterpartyView } from '../access/counterparties/counterparty.schema.js';
import {
  bigInteger,
  instant,
  integer,
  nameSchemas,
  plainDate,
  reais,
  storedWord,
} from '../bank-contract/wire.js';
import {
  AccountMode,
  DisputeKind,
  OperationSource,
  OperationState,
  ReconciliationRunTrigger,
  Settlement,
  TransferShape,
} from '../generated/service/enums.js';
import { operationKindNames } from '../bank-contract/operation-kinds.js';
import { resourceKinds } from './event.js';
import { eventTypeDeclarations, eventTypes, type EventType } from './event-types.js';

const id = z.string();
const optionalId = id.nullish();
const metadata = z.record(z.string(), z.string()).optional();
const settlement = z.enum({ ...Settlement, partially_refunded: 'partially_refunded' });

/** The line that moved the money, or the part of it that was allocated. */
const ofLine = {
  nsu: bigInteger,
  amount: reais,
  endToEndId: id.nullable(),
  occurredAt: instant.nullable(),
  paidAt: instant.nullish().describe('Of a credit: when the payer paid, where that is known.'),
  creditedAt: instant.optional(),
  fee: reais.optional().describe('What the bank kept of it.'),
  counterparty: counterpartyView.optional(),
};
const ofCharge = { correlationId: id, chargeType: id, chargeAmount: reais.nullable(), metadata };
const ofRefund = {
  ...{ operationId: id, refundId: id, correlationId: id.nullable(), originalNsu: bigInteger },
  ...{ originalEndToEndId: id.nullable(), metadata },
};
const ofBill = { operationId: id, billPaymentId: id, barCode: id.nullable(), metadata };
const ofDeclared = {
  ...{ expectedPaymentId: id, externalId: id, isCredit: z.boolean() },
  ...{ category: z.string().nullable(), costCentre: z.string().nullable() },
  project: z.string().nullish(),
  ...{ expectedAmount: reais.nullable(), metadata },
};

const chargePayment = z.object({ settlement, ...ofCharge, ...ofLine });
const chargeRefund = chargePayment.extend({
  refundId: optionalId.describe('Of a refund that we ordered.'),
  originalNsu: bigInteger.optional(),
});
const chargeEnd = z.object({ ...ofCharge, dueDate: plainDate.nullable() });

const unexpectedLine = z.object({
  ...{ breakKind: z.string(), isCredit: z.boolean(), transactionType: z.string() },
  ...{ correlationId: id.nullable(), ...ofLine },
});
const endedMatch = z.object({
  ...ofLine,
  ...{
    expectedPaymentId: id,
    role: z.enum(['payment', 'reversal']),
    operationId: optionalId,
    transferId: optionalId,
  },
  ...{ correlationId: optionalId, chargeType: optionalId, chargeAmount: reais.nullish() },
  ...{ externalId: optionalId, billPaymentId: optionalId, barCode: optionalId },
  ...{ refundId: optionalId, originalNsu: bigInteger.optional(), originalEndToEndId: optionalId },
  ...{ category: z.string().nullish(), costCentre: z.string().nullish() },
  project: z.string().nullish(),
  ...{ isCredit: z.boolean().optional(), expectedAmount: reais.nullish(), metadata },
});

const kind = z.enum(operationKindNames);
const operationChange = z.object({
  ...{ operationId: id, kind, state: z.enum(OperationState), idempotencyKey: id.nullable() },
  reason: z.string().nullish().describe('Why it has this state, unless the bank said it.'),
  ...{ correlationId: optionalId, externalId: optionalId, endToEndId: optionalId },
  ...{ barCode: optionalId, originalNsu: bigInteger.nullish(), originalEndToEndId: optionalId },
  metadata,
});
const awaitedApproval = operationChange.extend({
  amount: reais.nullable(),
  needed: integer.describe('How many approvals it needs.'),
  source: z.enum(OperationSource),
});

const transferReport = z.object({
  ...{ transferId: id, operationId: id, shape: z.enum(TransferShape), amount: reais },
  ...{ endToEndId: id.nullable(), externalId: id.nullable(), bankId: id.nullable() },
  ...{ errorCode: optionalId, metadata },
});
const transferLine = z.object({
  ...{ settlement, operationId: id, transferId: optionalId, externalId: optionalId, metadata },
  ...ofLine,
});
const billPaymentReport = z.object({
  ...{ ...ofBill, bankId: id.nullable(), amount: reais, scheduledFor: instant.nullable() },
});
const billPaymentLine = z.object({ settlement, ...ofBill, ...ofLine });
const refundLine = z.object({ settlement, ...ofRefund, ...ofLine });

const declaredPaymentLine = z.object({ settlement, ...ofDeclared, ...ofLine });
const missingPayment = z.object({ ...ofDeclared, dateFrom: plainDate, dateTo: plainDate });
const changedPayment = missingPayment.extend({ reason: z.string().nullable() });

const customerReport = z.object({
  ...{ customerId: id, bankCustomerId: id.nullable(), reportedBy: z.string() },
});
const disputeReport = z.object({
  ...{
    disputeId: id,
    kind: z.enum(DisputeKind),
    endToEndId: id.nullable(),
    amount: reais.nullable(),
  },
  deadlineAt: instant.nullable(),
});
const breakChange = z.object({
  ...{ breakId: id, breakKind: z.string(), amount: reais.nullable(), nsu: bigInteger.nullable() },
  ...{ expectedPaymentId: id.nullable(), resolution: z.string().nullable() },
  ...{ operationId: optionalId, correlationId: optionalId, externalId: optionalId, metadata },
  counterparty: counterpartyView.optional(),
});
const runEnd = z.object({
  ...{
    runId: id,
    trigger: z.enum(ReconciliationRunTrigger),
    durationMs: integer,
    error: z.string().nullable(),
  },
  window: z.object({ from: instant.nullable(), until: instant.nullable() }),
  counts: z.record(z.string(), integer),
  ...{ startedAt: instant, finishedAt: instant },
});
const certifiedDay = z.object({
  ...{ date: plainDate, revision: integer, sequence: integer, lines: integer, hash: z.string() },
  ...{ opening: reais, credits: reais, debits: reais, closing: reais },
});
const closedMonth = z.object({
  ...{ month: z.string(), revision: integer, hash: z.string(), lines: integer },
  ...{ opening: reais, credits: reais, debits: reais, closing: reais },
});
const amendedMonth = z.object({
  ...{ month: z.string(), revision: integer, lines: integer },
  balance: reais.describe('The amounts of lines that came later.'),
  outcomes: reais.describe('The amounts of lines whose outcome changed.'),
});
const reopenedMonth = z.object({ month: z.string(), revision: integer, actor: z.string() });
const raisedAlarm = z.object({
  ...{ nsu: bigInteger, amount: reais, counterparty: counterpartyView.optional() },
  debit: z.string().describe('The row of the table of debits.'),
  alertId: id.describe('Of the alert to acknowledge.'),
});
const accountMode = z.object({
  ...{ slug: id, mode: z.enum(AccountMode), actor: z.string(), reason: z.string() },
});

nameSchemas({
  ...{ ChargePaymentData: chargePayment, ChargeRefundData: chargeRefund },
  ...{ ChargeEndData: chargeEnd, UnexpectedLineData: unexpectedLine, EndedMatchData: endedMatch },
  ...{ OperationData: operationChange, AwaitedApprovalData: awaitedApproval },
  ...{ TransferReportData: transferReport, TransferLineData: transferLine },
  ...{ BillPaymentReportData: billPaymentReport, BillPaymentLineData: billPaymentLine },
  ...{ RefundLineData: refundLine, ExpectedPaymentLineData: declaredPaymentLine },
  ...{ MissingPaymentData: missingPayment, ChangedPaymentData: changedPayment },
  ...{ CustomerData: customerReport, DisputeData: disputeReport, BreakData: breakChange },
  ...{ ReconciliationData: runEnd, DayCloseData: certifiedDay, AccountModeData: accountMode },
  ...{ ClosedMonthData: closedMonth, AmendedMonthData: amendedMonth },
  ...{ ReopenedMonthData: reopenedMonth, RaisedAlarmData: raisedAlarm },
});

export const eventData: Record<EventType, z.ZodObject> = {
  'charge.paid': chargePayment,
  'charge.partially_paid': chargePayment,
  'charge.overpaid': chargePayment,
  'charge.refunded': chargeRefund,
  'charge.partially_refunded': chargeRefund,
  'transaction.unexpected': unexpectedLine,
  'match.unlinked': endedMatch,
  'charge.cancelled': chargeEnd,
  'charge.expired': chargeEnd,
  'operation.unknown': operationChange,
  'operation.succeeded': operationChange,
  'operation.rejected': operationChange,
  'operation.not_executed': operationChange,
  'operation.needs_operator': operationChange,
  'operation.awaiting_approval': awaitedApproval,
  'operation.approved': operationChange,
  'operation.declined': operationChange,
  'operation.expired': operationChange,
  'transfer.effective': transferReport,
  'transfer.failed': transferReport,
  'transfer.settled': transferLine,
  'transfer.reversed': transferLine,
  'bill_payment.scheduled': billPaymentReport,
  'bill_payment.failed': billPaymentReport,
  'bill_payment.settled': billPaymentLine,
  'bill_payment.reversed': billPaymentLine,
  'refund.settled': refundLine,
  'refund.reversed': refundLine,
  'expected_payment.paid': declaredPaymentLine,
  'expected_payment.partially_paid': declaredPaymentLine,
  'expected_payment.overpaid': declaredPaymentLine,
  'expected_payment.refunded': declaredPaymentLine,
  'expected_payment.reversed': declaredPaymentLine,
  'expected_payment.missing': missingPayment,
  'expected_payment.amended': changedPayment,
  'expected_payment.cancelled': changedPayment,
  'customer.approved': customerReport,
  'customer.refused': customerReport,
  'dispute.reported': disputeReport,
  'dispute.accepted': disputeReport,
  'dispute.rejected': disputeReport,
  'break.opened': breakChange,
  'break.resolved': breakChange,
  'reconciliation.finished': runEnd,
  'reconciliation.failed': runEnd,
  'day_close.certified': certifiedDay,
  'day_close.amended': certifiedDay,
  'month.closed': closedMonth,
  'month.amended': amendedMonth,
  'month.reopened': reopenedMonth,
  'alarm.raised': raisedAlarm,
  'account.stopped': accountMode,
  'account.released': accountMode,
  'account.reconcile_only': accountMode,
};

/** Each form of data, with its types. */
export const eventForms = [...groupBy(eventTypes, (type) => eventData[type])];

/** What each event has besides its type and data. */
export const eventFields = {
  apiVersion: z.enum([apiVersion]).describe('The version of `data`; the same in each repeat.'),
  /** What the event is about. */
  resource: z.object({ kind: storedWord(resourceKinds), id: z.string() }),
  sequence: integer.describe('1, 2, 3 … of the resource.'),
};

/** The events that endpoints receive, for the API reference: `data` follows from `type`. */
export const eventWebhooks = Object.fromEntries(
  eventTypes.map((type) => {
    const fields = { type: z.literal(type), ...eventFields, timestamp: instant };
    const body = z.object({ ...fields, data: eventData[type] });
    const { when } = eventTypeDeclarations[type];
    return [type, { summary: when.replace(/\[(.+?)\]\(.+?\)/g, '$1'), body }];
  }),
);
