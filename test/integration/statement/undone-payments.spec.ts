// Refunds and reversals after a person unlinks the payment that they are of. An expected payment
// never has more reversed than paid.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { DeclaredPaymentsSetup } from '../../support/declared-payments-setup.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

describe('a refund or reversal whose payment is unlinked', () => {
  let service: ServiceDatabase;
  let nsu = 0;
  const fixture = new SentMoneyFixture(() => service);
  const pix = { isCredit: true, typeName: 'CREDIT_PIX' };
  const refund = { typeName: 'DEBIT_PIX_REFUND' };

  beforeAll(async () => {
    service = await serviceDatabase();
    const { accountId } = service;
    const data = { accountId, lastSyncStartedAt: new Date() };
    await service.database.prisma.statementState.create({ data });
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    nsu += 10;
  });

  const outcomes = async () =>
    (await fixture.outcomes()).filter((line) => line.nsu >= nsu).map(({ outcome }) => outcome);
  const sums = async (id: string) => {
    const { rows } = await fixture.run(
      `SELECT COALESCE(sum(amount_cents) FILTER (WHERE role = 'payment'), 0)::int AS paid,
              COALESCE(sum(amount_cents) FILTER (WHERE role = 'reversal'), 0)::int AS reversed
       FROM match WHERE expected_payment_id = $1 AND unlinked_at IS NULL`,
      id,
    );
    return rows[0];
  };
  const isMissing = async (id: string) => {
    const { accountId } = service;
    const where = { accountId, kind: 'missing', state: 'open' as const, expectedPaymentId: id };
    return (await service.database.prisma.break.count({ where })) > 0;
  };

  it('is decided again: the charge is missing after its refunded payment is unlinked', async () => {
    const sent = await fixture.addOperation({ kind: 'create_charge', state: 'succeeded' });
    const id = sent.expectedPaymentId;
    await fixture.run(
      `UPDATE expected_payment SET is_credit = true, due_date = '2026-01-01' WHERE id = $1`,
      id,
    );
    await fixture.addReferences(id, { kind: 'external_id', value: 'unlinked' });
    await fixture.addLines(
      { ...pix, nsu, externalId: 'unlinked', endToEndId: 'U1', age: 9 },
      { ...refund, nsu: nsu + 1, originalEndToEndId: 'U1' },
    );
    await fixture.reconcile();
    expect(await sums(id)).toEqual({ paid: 1_000, reversed: 1_000 });
    await fixture.unlink(nsu);
    expect(await sums(id)).toEqual({ paid: 0, reversed: 0 });
    for (const _ of ['once', 'twice']) {
      await fixture.reconcile();
      expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
      expect(await isMissing(id)).toBe(true);
    }
  });

  it('stays matched when it is of another payment, and is unlinked with its own payment', async () => {
    const id = await fixture.addCharge('two');
    await fixture.addLines(
      { ...pix, nsu, externalId: 'two', endToEndId: 'T1', age: 9 },
      { ...pix, nsu: nsu + 1, externalId: 'two', endToEndId: 'T2', age: 8 },
      { ...refund, nsu: nsu + 2, originalEndToEndId: 'T1', amountCents: 400, age: 2 },
      { ...refund, nsu: nsu + 3, originalEndToEndId: 'T2', amountCents: 300, age: 1 },
    );
    await fixture.reconcile();
    await fixture.unlink(nsu + 1);
    expect(await sums(id)).toEqual({ paid: 1_000, reversed: 400 });
    await fixture.reconcile();
    const [matched, unlinked, refundOfMatched, refundOfUnlinked] = await outcomes();
    expect([matched, refundOfMatched]).toEqual(['payment by reference', 'reversal by reversal']);
    expect([unlinked, refundOfUnlinked]).toEqual(['unexpected', 'unexpected']);
  });

  it('is unlinked with its debit, whether matched by an id or by a person', async () => {
    const transfer = await fixture.addOperation({
      state: 'succeeded',
      transferState: 'failed',
      references: [{ kind: 'end_to_end_id', value: 'D1' }],
    });
    const id = transfer.expectedPaymentId;
    await fixture.addLines(
      { nsu, endToEndId: 'D1', age: 9 },
      { nsu: nsu + 1, isCredit: true, endToEndId: 'D1', amountCents: 600, age: 2 },
      { nsu: nsu + 2, isCredit: true, amountCents: 400, age: 1 },
    );
    await fixture.reconcile();
    await fixture.link(nsu + 2, id);
    expect(await sums(id)).toEqual({ paid: 1_000, reversed: 1_000 });
    await fixture.unlink(nsu);
    expect(await sums(id)).toEqual({ paid: 0, reversed: 0 });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'pending', 'unexpected']);
    const { rows } = await fixture.run(
      `SELECT array_agg(e.action ORDER BY e.sequence) AS actions FROM break b
       JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id
       WHERE b.nsu = $1`,
      nsu + 2,
    );
    expect(rows).toEqual([{ actions: ['opened', 'link', 'resolved', 'reopened'] }]);
  });

  it('publishes no second event when a person links lines that a reference had matched', async () => {
    const id = await fixture.addCharge('once');
    const chargeEvents = async () =>
      (await fixture.events()).filter(({ data }) => data.correlationId === 'once');
    await fixture.addLines(
      { ...pix, nsu, externalId: 'once', endToEndId: 'O1', amountCents: 1_200, age: 9 },
      { ...refund, nsu: nsu + 1, originalEndToEndId: 'O1', amountCents: 200 },
    );
    await fixture.reconcile();
    const published = await chargeEvents();
    expect(published.map(({ type }) => type)).toEqual([
      'charge.overpaid',
      'charge.partially_refunded',
    ]);
    await fixture.link(nsu, id);
    await fixture.link(nsu + 1, id);
    expect(await chargeEvents()).toEqual(published);
    expect(await sums(id)).toEqual({ paid: 1_200, reversed: 200 });
  });

  it('is matched at most to the amount that manual reversals leave of the payment', async () => {
    const id = await fixture.addCharge('left');
    await fixture.addLines(
      { ...pix, nsu, externalId: 'left', endToEndId: 'L1', age: 9 },
      { ...refund, nsu: nsu + 1, age: 5 },
    );
    await fixture.reconcile();
    await fixture.link(nsu + 1, id);
    // After the account was created: before that, others may have sent it.
    await fixture.addLines({ ...refund, nsu: nsu + 2, originalEndToEndId: 'L1', age: 0 });
    for (const _ of ['once', 'twice']) {
      await fixture.reconcile();
      expect(await sums(id)).toEqual({ paid: 1_000, reversed: 1_000 });
      expect(await outcomes()).toEqual([
        'payment by reference',
        'reversal by manual',
        // More than was received: nothing explains it.
        'unrequested_debit',
      ]);
    }
  });

  it('is reported of a payment that another system declared', async () => {
    const declared = new DeclaredPaymentsSetup(() => service);
    const terms = (externalId: string, direction: string) => ({
      ...{ direction, amount: 10, dateFrom: '2026-01-01', dateTo: '2026-02-01' },
      references: [{ kind: 'externalId', value: externalId }],
    });
    await declared.declare('declared-in', terms('declared-in', 'credit'));
    await declared.declare('declared-out', terms('declared-out', 'debit'));
    await fixture.addLines(
      { ...pix, nsu, externalId: 'declared-in', endToEndId: 'DI', age: 9 },
      { ...refund, nsu: nsu + 1, originalEndToEndId: 'DI', age: 8 },
      {
        nsu: nsu + 2,
        typeName: 'DEBIT_PIX',
        externalId: 'declared-out',
        endToEndId: 'DO',
        age: 7,
      },
      {
        ...pix,
        nsu: nsu + 3,
        typeName: 'CREDIT_PIX_REVERSAL',
        originalEndToEndId: 'DO',
        age: 6,
      },
    );
    await fixture.reconcile();
    await expectDeclaredEvents(service.database.pool, [
      'expected_payment.paid',
      'expected_payment.refunded',
      'expected_payment.reversed',
    ]);
  });
});
