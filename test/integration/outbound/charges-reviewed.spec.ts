// The breaks and events of charges as their payments, cancellations and refunds are reviewed
// repeatedly.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chargeInclude, toChargeView } from '../../../src/outbound/charges/charge-view.js';
import { listNewestRefunds } from '../../../src/outbound/charges/charges.queries.js';
import { listExpectedPaymentRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let nsu = 0;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(async () => {
  await expectDeclaredEvents(service.database.pool, [
    'charge.paid',
    'charge.refunded',
    'refund.settled',
    'refund.reversed',
  ]);
  await service.drop();
});
beforeEach(() => {
  nsu += 10;
});

const fixture = new SentMoneyFixture(() => service);
const { run, addCharge } = fixture;
const listBreaks = () => fixture.listBreaksFrom(nsu);
const outcomes = async () =>
  (await fixture.outcomes()).filter((line) => line.nsu >= nsu).map(({ outcome }) => outcome);
const pix = { isCredit: true, typeName: 'CREDIT_PIX' };
/** The state in the list of expected payments, filtered by this state. */
const listedState = async (reference: string, state: string) => {
  const page = { operationId: null, afterId: null, today: '2026-01-01', limit: 2 };
  const filters = { ...page, reference, state };
  const rows = await listExpectedPaymentRows(service.database.prisma, service.accountId, filters);
  return rows.map((row) => row.state).join();
};

it('opens one break when a charge turns out to be cancelled after its payment', async () => {
  await addCharge('ended');
  await fixture.addLines({ ...pix, nsu, externalId: 'ended' });
  await fixture.reconcile();
  expect(await listBreaks()).toEqual([]);
  await run(
    `UPDATE charge SET cancelled_at = now(), checked_at = clock_timestamp()
     WHERE correlation_id = 'ended'`,
  );
  await fixture.makeAllDue();
  await fixture.reconcile();
  expect(await listBreaks()).toEqual([{ kind: 'paid_after_cancellation', state: 'open', nsu }]);
});

it('opens a break for each paid charge that ended, but for the one that was refunded', async () => {
  for (const [index, reference] of ['one', 'other', 'refunded early'].entries()) {
    await addCharge(reference);
    const endToEndId = `end ${reference}`;
    await fixture.addLines({ ...pix, nsu: nsu + index, externalId: reference, endToEndId, age: 9 });
  }
  await fixture.addLines({
    ...{ nsu: nsu + 3, typeName: 'DEBIT_PIX_REFUND' },
    originalEndToEndId: 'end refunded early',
  });
  await fixture.reconcile();
  await run(
    `UPDATE charge SET cancelled_at = now(), checked_at = now()
     WHERE correlation_id IN ('one', 'other', 'refunded early')`,
  );
  await fixture.makeAllDue();
  await fixture.reconcile();
  expect(await listBreaks()).toEqual([
    { kind: 'paid_after_cancellation', state: 'open', nsu },
    { kind: 'paid_after_cancellation', state: 'open', nsu: nsu + 1 },
  ]);
});

it('publishes charge.refunded when the bank refunds a duplicate payment, and resolves its break', async () => {
  await addCharge('twice');
  await fixture.addLines(
    { ...pix, nsu, externalId: 'twice', endToEndId: 'E1', age: 9 },
    { ...pix, nsu: nsu + 1, externalId: 'twice', endToEndId: 'E2', age: 8 },
  );
  await fixture.reconcile();
  expect(await listBreaks()).toEqual([{ kind: 'duplicate_payment', state: 'open', nsu: nsu + 1 }]);
  await fixture.addLines({ nsu: nsu + 2, typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E2' });
  await fixture.reconcile();
  expect(await listBreaks()).toEqual([
    { kind: 'duplicate_payment', state: 'resolved', nsu: nsu + 1 },
  ]);
  expect(await outcomes()).toContain('reversal by reversal');
  expect((await fixture.events()).at(-1)).toMatchObject({
    type: 'charge.refunded',
    data: { correlationId: 'twice', settlement: 'refunded', nsu: nsu + 2 },
  });
  await fixture.unlink(nsu + 2);
  expect(await outcomes()).toContain('unexpected');
});

describe('a manual decision about a payment', () => {
  it('is not replaced by a break of another kind once part of the first payment is refunded', async () => {
    await addCharge('accepted');
    await fixture.addLines(
      { ...pix, nsu, externalId: 'accepted', endToEndId: 'E3', age: 9 },
      { ...pix, nsu: nsu + 1, externalId: 'accepted', endToEndId: 'E4', age: 8 },
    );
    await fixture.reconcile();
    await fixture.actOnBreaksOf(nsu + 1, 'accept');
    const part = { typeName: 'DEBIT_PIX_REFUND', amountCents: 100 };
    await fixture.addLines({ ...part, nsu: nsu + 2, originalEndToEndId: 'E3' });
    await fixture.reconcile();
    await run(
      `UPDATE charge SET cancelled_at = now(), checked_at = now()
       WHERE correlation_id = 'accepted'`,
    );
    await fixture.makeAllDue();
    await fixture.reconcile();
    expect(await listBreaks()).toEqual([
      { kind: 'paid_after_cancellation', state: 'open', nsu },
      { kind: 'duplicate_payment', state: 'resolved', nsu: nsu + 1 },
    ]);
  });

  it('stays when the charge that the payment was linked to is cancelled', async () => {
    const id = await addCharge('linked');
    await fixture.addLines({ ...pix, nsu: nsu + 1 });
    await fixture.reconcile();
    await fixture.link(nsu + 1, id);
    await run(
      `UPDATE charge SET cancelled_at = now(), checked_at = now() WHERE correlation_id = 'linked'`,
    );
    await fixture.makeAllDue();
    await fixture.reconcile();
    expect(await listBreaks()).toEqual([{ kind: 'unexpected', state: 'resolved', nsu: nsu + 1 }]);
  });
});

describe('a resolved overpaid break', () => {
  const reconciledBreaks = async () => {
    await fixture.reconcile();
    const { rows } = await run(
      `SELECT kind, COALESCE(resolution, state::text) AS status, resolved_by AS by,
         amount_cents::int AS cents
       FROM break WHERE nsu BETWEEN $1 AND $1 + 9 ORDER BY nsu, kind`,
      nsu,
    );
    return rows;
  };
  const history = async () => {
    const { rows } = await run(
      `SELECT action, e.detail ->> 'fromCents' AS "from", e.detail ->> 'toCents' AS "to"
       FROM break b JOIN break_history_entry e ON e.break_id = b.id
       WHERE b.nsu = $1 ORDER BY sequence`,
      nsu + 1,
    );
    return rows;
  };
  const overpaid = (status: string, by: string | null, cents: number) => [
    { kind: 'overpaid', status, by, cents },
  ];
  /** A payment of R$ 11.00 for a charge of R$ 10.00. */
  const overpay = async (reference: string) => {
    const id = await addCharge(reference);
    const second = { nsu: nsu + 1, amountCents: 1_100, endToEndId: `second ${reference}`, age: 7 };
    await fixture.addLines({ ...pix, ...second, externalId: reference });
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 100));
    return id;
  };
  /** Records a payment of R$ 5.00 that happened before the payment of R$ 11.00. */
  const addEarlierPayment = (reference: string) => {
    const first = { nsu, amountCents: 500, endToEndId: `first ${reference}`, age: 9 };
    return fixture.addLines({ ...pix, ...first, externalId: reference });
  };
  const addRefund = (line: number, amountCents: number, originalEndToEndId: string) =>
    fixture.addLines({ nsu: line, typeName: 'DEBIT_PIX_REFUND', amountCents, originalEndToEndId });

  it('reopens when the excess exceeds the accepted amount, and is resolved again when it no longer does', async () => {
    await overpay('too much');
    await fixture.actOnBreaksOf(nsu + 1, 'accept');
    expect(await reconciledBreaks()).toEqual(overpaid('accept', 'clerk', 100));
    await addEarlierPayment('too much');
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 600));
    await addRefund(nsu + 2, 400, 'first too much');
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 200));
    // The excess is within the accepted amount again: the acceptance applies.
    await addRefund(nsu + 3, 150, 'second too much');
    expect(await reconciledBreaks()).toEqual(overpaid('accept', 'clerk', 100));
    expect(await history()).toEqual([
      { action: 'opened', from: null, to: null },
      { action: 'accept', from: null, to: null },
      { action: 'resolved', from: null, to: null },
      { action: 'reopened', from: '100', to: '600' },
      { action: 'revised', from: '600', to: '200' },
      { action: 'resolved', from: '200', to: '100' },
    ]);
  });

  it('is not accepted again automatically after a person has reopened it', async () => {
    await overpay('retaken');
    await fixture.actOnBreaksOf(nsu + 1, 'accept');
    await addEarlierPayment('retaken');
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 600));
    await fixture.actOnBreaksOf(nsu + 1, 'reopen');
    await addRefund(nsu + 2, 500, 'first retaken');
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 100));
  });

  it('reopens when a later payment causes an excess after the refund, even a smaller excess', async () => {
    await overpay('refunded');
    await addRefund(nsu + 2, 100, 'second refunded');
    expect(await reconciledBreaks()).toEqual(overpaid('automatic', null, 100));
    await fixture.addLines({ ...pix, nsu, externalId: 'refunded', amountCents: 50, age: 9 });
    expect(await reconciledBreaks()).toEqual(overpaid('open', null, 50));
  });
});

/** A refund of the Pix `nsu` that the bank accepted; returns its id. */
async function orderRefund(endToEndId: string, amountCents: number): Promise<string> {
  const { operationId, expectedPaymentId } = await fixture.addOperation({
    ...{ kind: 'refund_pix', state: 'succeeded', amountCents },
    references: [{ kind: 'end_to_end_id', value: endToEndId }],
  });
  await run(
    `INSERT INTO refund (account_id, id, original_nsu, amount_cents, end_to_end_id, state,
       expected_payment_id)
     VALUES ($1, $2, $3, $4, $5, 'accepted', $6)`,
    ...[service.accountId, operationId, nsu, amountCents, endToEndId, expectedPaymentId],
  );
  return operationId;
}

it('publishes what our refund did to a charge that is linked after it', async () => {
  const id = await addCharge('linked late');
  await fixture.addLines({ ...pix, nsu, endToEndId: 'E12', age: 9 });
  const refundId = await orderRefund('D12', 400);
  await fixture.addLines({
    ...{ nsu: nsu + 1, typeName: 'DEBIT_PIX_REFUND', endToEndId: 'D12', amountCents: 400 },
  });
  await fixture.reconcile();
  const eventsOfCharge = async () =>
    (await fixture.events())
      .filter(({ type }) => type.startsWith('charge.'))
      .filter(({ data }) => data.correlationId === 'linked late');
  expect(await eventsOfCharge()).toEqual([]);
  await fixture.link(nsu, id);
  expect(await eventsOfCharge()).toMatchObject([
    { type: 'charge.paid', data: { nsu } },
    {
      type: 'charge.partially_refunded',
      data: { settlement: 'partially_refunded', nsu: nsu + 1, originalNsu: nsu, refundId },
    },
  ]);
});

it('shows the reversal of a refund with its charge', async () => {
  await addCharge('refund reversed');
  await fixture.addLines({ ...pix, nsu, externalId: 'refund reversed', endToEndId: 'E9', age: 9 });
  const refundId = await orderRefund('D3', 1_000);
  const settlements = async () => {
    await fixture.reconcile();
    const { prisma } = service.database;
    const row = await prisma.charge.findFirstOrThrow({
      where: { accountId: service.accountId, correlationId: 'refund reversed' },
      include: chargeInclude,
    });
    const refunds = await listNewestRefunds(prisma, service.accountId, [row.expectedPaymentId]);
    const view = toChargeView(row, { payments: [], refunds }, '2026-01-01');
    expect(await listedState('refund reversed', view.settlement)).toBe(view.settlement);
    return { charge: view.settlement, refunds: view.refunds };
  };
  const openRefund = { orderedBy: 'us', settlement: 'open' };
  expect(await settlements()).toMatchObject({ charge: 'settled', refunds: [openRefund] });
  await fixture.addLines({ nsu: nsu + 1, typeName: 'DEBIT_PIX_REFUND', endToEndId: 'D3', age: 6 });
  const settledRefund = { settlement: 'settled' };
  expect(await settlements()).toMatchObject({ charge: 'refunded', refunds: [settledRefund] });
  expect((await fixture.events()).at(-1)).toMatchObject({
    type: 'charge.refunded',
    data: {
      ...{ settlement: 'refunded', correlationId: 'refund reversed' },
      ...{ nsu: nsu + 1, originalNsu: nsu, refundId },
    },
  });
  // The charge is paid again. A fully refunded payment counts neither here nor in breaks.
  await fixture.addLines({
    ...pix,
    nsu: nsu + 3,
    externalId: 'refund reversed',
    endToEndId: 'E10',
    age: 2,
  });
  expect(await settlements()).toMatchObject({ charge: 'settled', refunds: [settledRefund] });
  expect(await listBreaks()).toEqual([]);
  const published = await run(
    `SELECT type FROM event WHERE data LIKE '%refund reversed%' ORDER BY position`,
  );
  // The event of the refund names the charge, too.
  expect(published.rows).toEqual([
    { type: 'charge.paid' },
    { type: 'refund.settled' },
    { type: 'charge.refunded' },
    { type: 'charge.paid' },
  ]);
  await fixture.addLines({ nsu: nsu + 2, isCredit: true, endToEndId: 'D3' });
  const reversedRefund = { settlement: 'reversed', state: 'accepted' };
  expect(await settlements()).toMatchObject({ charge: 'overpaid', refunds: [reversedRefund] });
});

it('keeps the settlement of a charge whose payment is refunded in part', async () => {
  await addCharge('refunded in part');
  const reference = { externalId: 'refunded in part', endToEndId: 'E11' };
  await fixture.addLines(
    { ...pix, nsu, ...reference, age: 9 },
    { nsu: nsu + 1, typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E11', amountCents: 400 },
  );
  await fixture.reconcile();
  expect(await listedState('refunded in part', 'settled')).toBe('settled');
  await fixture.addLines({
    ...{ nsu: nsu + 2, typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E11' },
    amountCents: 600,
  });
  await fixture.reconcile();
  expect(await listedState('refunded in part', 'refunded')).toBe('refunded');
});
