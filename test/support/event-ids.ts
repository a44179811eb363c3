// The ids that events of each type always have, by the table of docs/reference/events.md.
// `metadata`, and the ids of operations and breaks that exist for some kinds only, are left out.
import { expect } from '@jest/globals';
import type { EventType } from '../../src/events/event-types.js';

const charge = ['correlationId'];
const payment = ['nsu', 'endToEndId'];
const transfer = ['externalId', 'transferId', 'operationId', 'endToEndId'];
const bill = ['billPaymentId', 'barCode', 'operationId'];
const refund = ['correlationId', 'refundId', 'originalEndToEndId', 'originalNsu', 'operationId'];
const operation = ['idempotencyKey', 'operationId'];
const declared = ['externalId', 'expectedPaymentId'];
const brokenOff = ['breakId', 'nsu', 'expectedPaymentId'];

export const idsOfEvents: Record<EventType, readonly string[]> = {
  'charge.paid': [...charge, ...payment],
  'charge.partially_paid': [...charge, ...payment],
  'charge.overpaid': [...charge, ...payment],
  'charge.refunded': [...charge, ...payment],
  'charge.partially_refunded': [...charge, ...payment],
  'charge.cancelled': charge,
  'charge.expired': charge,
  'transfer.effective': transfer,
  'transfer.failed': transfer,
  'transfer.settled': transfer,
  'transfer.reversed': transfer,
  'bill_payment.scheduled': bill,
  'bill_payment.failed': bill,
  'bill_payment.settled': bill,
  'bill_payment.reversed': bill,
  'refund.settled': refund,
  'refund.reversed': refund,
  'match.unlinked': ['nsu', 'expectedPaymentId'],
  'operation.unknown': operation,
  'operation.succeeded': operation,
  'operation.rejected': operation,
  'operation.not_executed': operation,
  'operation.needs_operator': operation,
  'operation.awaiting_approval': operation,
  'operation.approved': operation,
  'operation.declined': operation,
  'operation.expired': operation,
  'expected_payment.paid': [...declared, ...payment],
  'expected_payment.partially_paid': [...declared, ...payment],
  'expected_payment.overpaid': [...declared, ...payment],
  'expected_payment.refunded': [...declared, ...payment],
  'expected_payment.reversed': [...declared, ...payment],
  'expected_payment.missing': declared,
  'expected_payment.amended': declared,
  'expected_payment.cancelled': declared,
  'transaction.unexpected': ['correlationId', ...payment],
  'customer.approved': ['customerId', 'bankCustomerId'],
  'customer.refused': ['customerId', 'bankCustomerId'],
  'dispute.reported': ['endToEndId', 'disputeId'],
  'dispute.accepted': ['endToEndId', 'disputeId'],
  'dispute.rejected': ['endToEndId', 'disputeId'],
  'break.opened': brokenOff,
  'break.resolved': brokenOff,
  'reconciliation.finished': ['runId'],
  'reconciliation.failed': ['runId'],
  'day_close.certified': ['date'],
  'day_close.amended': ['date'],
  'account.stopped': [],
  'account.released': [],
  'account.reconcile_only': [],
};

interface Events {
  query(sql: string): Promise<{ rows: { type: EventType; data: string }[] }>;
}

/** Asserts that every stored event has the ids of its type, and that these types are stored. */
export async function expectIdsOfEvents(
  database: Events,
  types: readonly EventType[],
): Promise<void> {
  const { rows } = await database.query('SELECT DISTINCT ON (type) type, data FROM event');
  const stored = rows.map(({ type }) => type);
  expect(stored).toEqual(expect.arrayContaining([...types]));
  for (const { type, data } of rows) {
    const fields = Object.keys(JSON.parse(data) as object);
    expect([type, fields]).toEqual([type, expect.arrayContaining([...idsOfEvents[type]])]);
  }
}
