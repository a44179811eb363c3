// Events about decided lines. They hold ids and amounts, never names or tax ids.
import { eventAmount, type EventResource, type NewEvent } from '../../events/event.js';
import type { EventType } from '../../events/event-types.js';
import { paymentTimesOf } from '../../statement/expected-payments/credit-days.js';
import type { ReferenceKind } from '../../statement/expected-payments/references.js';
import type { PaidSettlement } from '../../statement/expected-payments/settlement.js';
import { sentBy } from '../../bank-contract/operation-kinds.js';
import type { StoredMatch } from './decision-writer.queries.js';
import type { Component } from '../decide/component.js';
import type { Decision } from '../decide/decide.js';
import { feeCentsOf } from '../decide/net-settlement.js';
import {
  isRefundedInFull,
  type RefundSettlement,
  type ReversalSettlement,
} from '../decide/totals.js';
import type { DeclaredFacts } from '../decide/declared-conditions.js';
import type {
  ChargeFacts,
  ExpectedPaymentFacts,
  LineAllocation,
  StatementLineFacts,
} from '../decide/model.js';

type EventLine = Pick<
  StatementLineFacts,
  | (
      | 'nsu'
      | 'isCredit'
      | 'amountCents'
      | 'typeName'
      | 'correlationId'
      | 'endToEndId'
      | 'occurredAt'
    )
  | 'paidOn'
>;

// Receivers release goods on `charge.paid`: a partial payment must not use the same event type.
const chargeEventTypes: Record<PaidSettlement | RefundSettlement, EventType> = {
  settled: 'charge.paid',
  partially_settled: 'charge.partially_paid',
  overpaid: 'charge.overpaid',
  refunded: 'charge.refunded',
  partially_refunded: 'charge.partially_refunded',
};

/** Of payments that another system declared, in either direction. */
const declaredEventTypes: Record<PaidSettlement | ReversalSettlement, EventType> = {
  settled: 'expected_payment.paid',
  partially_settled: 'expected_payment.partially_paid',
  overpaid: 'expected_payment.overpaid',
  refunded: 'expected_payment.refunded',
  partially_refunded: 'expected_payment.refunded',
  reversed: 'expected_payment.reversed',
  partially_reversed: 'expected_payment.reversed',
};
type EventAllocation = Pick<LineAllocation, 'role' | 'amountCents'> & { evidence?: object };
/** By the nsu of a received Pix, the correlationId of the charge that it paid. */
type CorrelationIds = ReadonlyMap<bigint, string>;

interface MatchReport {
  settlement: PaidSettlement | ReversalSettlement;
  correlationIds: CorrelationIds;
}

/** What new matches report, in the order of their lines. */
export function eventsOfMatches(
  { component, results }: Decision,
  made: readonly LineAllocation[],
  correlationIds: CorrelationIds,
): NewEvent[] {
  const order = new Map(component.lines.map(({ nsu }, index) => [nsu, index]));
  const positionOf = ({ nsu }: LineAllocation) => order.get(nsu) ?? 0;
  return [...made]
    .sort((a, b) => positionOf(a) - positionOf(b))
    .flatMap((allocation) => {
      const line = component.lineByNsu.get(allocation.nsu);
      const payment = component.paymentById.get(allocation.expectedPaymentId);
      const result = results.get(allocation);
      if (!line || !payment || !result) return [];
      const report = { settlement: result.settlement, correlationIds };
      return [
        allocationEvent(line, payment, allocation, report) ?? [],
        orderedRefundEvents(component, allocation, made),
      ].flat();
    });
}

/** What a line, or the part of it that is allocated, did to an expected payment. */
function allocationEvent(
  line: EventLine,
  payment: ExpectedPaymentFacts,
  { role, amountCents, evidence = {} }: EventAllocation,
  { settlement, correlationIds }: MatchReport,
): NewEvent | null {
  const { charge } = payment;
  const part = paymentOf(line, amountCents, feeCentsOf(evidence));
  if (charge && settlement !== 'reversed' && settlement !== 'partially_reversed')
    return {
      type: chargeEventTypes[settlement],
      resource: resourceOf(payment),
      data: { settlement, ...chargeOf(payment, charge), ...part },
    };
  if (payment.declared)
    return {
      type: declaredEventTypes[settlement],
      resource: resourceOf(payment),
      data: { settlement, ...declaredOf(payment, payment.declared), ...part },
    };
  const sent = sentBy(payment.kind);
  if (sent === null) return null;
  const type: EventType = `${sent}.${role === 'payment' ? 'settled' : 'reversed'}`;
  const data = { settlement, ...operationOf(payment, correlationIds), ...part };
  return { type, resource: resourceOf(payment), data };
}

/**
 * What refunds that we ordered did to charges, beside their own events: one for each payment of a
 * charge and refund of it, when the later of the two is matched.
 */
function orderedRefundEvents(
  component: Component,
  { nsu, expectedPaymentId, role }: LineAllocation,
  made: readonly LineAllocation[],
): NewEvent[] {
  const payment = component.paymentById.get(expectedPaymentId);
  if (role !== 'payment' || !payment) return [];
  if (payment.refundOfNsu !== null)
    return refundEvents(component, component.allocationsOfLine(payment.refundOfNsu), [payment]);
  const refunds = component
    .ownRefundsOf(nsu)
    .filter(({ id }) => !made.some((other) => other.expectedPaymentId === id));
  const paid = component.allocationsOfLine(nsu);
  const ofThis = paid.filter((one) => one.expectedPaymentId === expectedPaymentId);
  return refundEvents(component, ofThis, refunds);
}

function refundEvents(
  component: Component,
  paid: readonly LineAllocation[],
  refunds: readonly ExpectedPaymentFacts[],
): NewEvent[] {
  return paid.flatMap((allocation) => {
    const payment = component.paymentById.get(allocation.expectedPaymentId);
    const credit = component.lineByNsu.get(allocation.nsu);
    if (allocation.role !== 'payment' || !payment?.charge || !credit) return [];
    const { charge } = payment;
    const lines = refunds.flatMap(({ id, operationId }) =>
      component.paymentsOf(id).map((refund) => ({ ...refund, operationId })),
    );
    return lines.flatMap(({ line, allocation: { amountCents }, operationId }) => {
      const isFull = isRefundedInFull(component, credit, line);
      const isShared = allocation.amountCents !== credit.amountCents;
      // A part of a refund cannot be attributed to one of several payments of a line.
      if (isShared && !isFull) return [];
      const settlement = isFull ? 'refunded' : 'partially_refunded';
      const data = {
        settlement,
        ...chargeOf(payment, charge),
        ...{ refundId: operationId, originalNsu: credit.nsu },
        ...paymentOf(line, isShared ? allocation.amountCents : amountCents),
      };
      return [{ type: chargeEventTypes[settlement], resource: resourceOf(payment), data }];
    });
  });
}

/** A declared payment did not come. Payments of operations are reported by `break.opened` alone. */
export function missingEvent(payment: ExpectedPaymentFacts): NewEvent | null {
  const { declared } = payment;
  if (!declared) return null;
  const { dateFrom, dateTo } = declared;
  const data = { dateFrom, dateTo, ...declaredOf(payment, declared) };
  return { type: 'expected_payment.missing', resource: resourceOf(payment), data };
}

/** A match ended: another decision about its line, or a person, took its place. */
export function unlinkedEvent(
  { lineByNsu, paymentById }: Component,
  { nsu, expectedPaymentId, role, amountCents }: StoredMatch,
  correlationIds: CorrelationIds,
): NewEvent {
  const payment = paymentById.get(expectedPaymentId);
  const line = lineByNsu.get(nsu);
  const subject = payment && subjectOf(payment, correlationIds);
  return {
    type: 'match.unlinked',
    // Of the same resource as the event of the match, so that a receiver can order them.
    resource: payment ? resourceOf(payment) : { kind: 'expected_payment', id: expectedPaymentId },
    data: {
      nsu,
      expectedPaymentId,
      role,
      amount: eventAmount(amountCents),
      endToEndId: line?.endToEndId ?? null,
      occurredAt: line?.occurredAt.toISOString() ?? null,
      ...subject,
    },
  };
}

export function unexpectedEvent(line: EventLine, breakKind: string): NewEvent {
  return {
    type: 'transaction.unexpected',
    resource: { kind: 'transaction', id: line.nsu.toString() },
    data: {
      breakKind,
      isCredit: line.isCredit,
      transactionType: line.typeName,
      correlationId: line.correlationId,
      ...paymentOf(line, line.amountCents),
    },
  };
}

/** A bill payment and a refund have the id of their operation. */
function resourceOf({
  id,
  kind,
  operationId,
  charge,
  transfer,
}: ExpectedPaymentFacts): EventResource {
  if (charge) return { kind: 'charge', id: charge.correlationId };
  if (transfer) return { kind: 'transfer', id: transfer.id };
  const sent = sentBy(kind);
  if (sent !== null && operationId) return { kind: sent, id: operationId };
  return { kind: 'expected_payment', id };
}

function subjectOf(payment: ExpectedPaymentFacts, correlationIds: CorrelationIds) {
  const { charge, declared } = payment;
  if (charge) return chargeOf(payment, charge);
  return declared ? declaredOf(payment, declared) : operationOf(payment, correlationIds);
}

function declaredOf(
  payment: ExpectedPaymentFacts,
  { externalId, category, costCentre, project }: DeclaredFacts,
) {
  const { id, isCredit, amountCents } = payment;
  const expectedAmount = amountCents === null ? null : eventAmount(amountCents);
  const metadata = metadataOf(payment);
  return {
    expectedPaymentId: id,
    externalId,
    category,
    costCentre,
    project,
    isCredit,
    expectedAmount,
    metadata,
  };
}

function chargeOf(payment: ExpectedPaymentFacts, { correlationId, type }: ChargeFacts) {
  const { amountCents } = payment;
  const chargeAmount = amountCents === null ? null : eventAmount(amountCents);
  return { correlationId, chargeType: type, chargeAmount, metadata: metadataOf(payment) };
}

/** The ids by which a business system finds what sent the money. */
function operationOf(payment: ExpectedPaymentFacts, correlationIds: CorrelationIds) {
  const { kind, operationId, transfer, refundOfNsu } = payment;
  const metadata = metadataOf(payment);
  if (transfer) {
    const { id: transferId, externalId } = transfer;
    return { operationId, metadata, transferId, externalId };
  }
  if (sentBy(kind) === 'bill_payment') {
    const barCode = referenceOf(payment, 'bill_code');
    return { operationId, metadata, billPaymentId: operationId, barCode };
  }
  if (refundOfNsu === null) return { operationId, metadata };
  return {
    operationId,
    metadata,
    refundId: operationId,
    correlationId: correlationIds.get(refundOfNsu) ?? null,
    originalNsu: refundOfNsu,
    originalEndToEndId: referenceOf(payment, 'original_end_to_end_id'),
  };
}

function referenceOf({ references }: ExpectedPaymentFacts, kind: ReferenceKind): string | null {
  return references.find((one) => one.kind === kind)?.value ?? null;
}

/** Undefined fields are left out of the event. */
const metadataOf = ({ metadata }: ExpectedPaymentFacts) => metadata ?? undefined;

function paymentOf(line: EventLine, amountCents: bigint, feeCents: bigint | null = null) {
  const { nsu, isCredit, endToEndId, occurredAt } = line;
  const { paidAt, creditedAt } = paymentTimesOf(line);
  return {
    nsu,
    amount: eventAmount(amountCents),
    endToEndId,
    occurredAt: occurredAt.toISOString(),
    ...(isCredit ? { paidAt, creditedAt: creditedAt.toISOString() } : {}),
    fee: feeCents === null ? undefined : eventAmount(feeCents),
  };
}
