// What becomes of money that went back once a person says that what had come did not pay it: never more comes back of an
// expected payment than is paid of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listMissing } from '../../src/reconciliation/missing-payments.queries.js';
import { SentMoney } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('once a payment is undone, what came back of it', () => {
  let service: ServiceDatabase;
  let nsu = 0;
  const book = new SentMoney(() => service);
  const pix = { isCredit: true, typeName: 'CREDIT_PIX' };
  const med = { typeName: 'DEBIT_PIX_REFUND' };

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    nsu += 10;
  });

  const said = async () =>
    (await book.outcomes()).filter((one) => one.nsu >= nsu).map(({ outcome }) => outcome);
  const sums = async (id: string) => {
    const { rows } = await book.run(
      `SELECT COALESCE(sum(amount_cents) FILTER (WHERE role = 'payment'), 0)::int AS paid,
              COALESCE(sum(amount_cents) FILTER (WHERE role = 'reversal'), 0)::int AS returned
       FROM match WHERE expected_payment_id = $1 AND unlinked_at IS NULL`,
      id,
    );
    return rows[0];
  };
  const isMissing = async (id: string) => {
    const due = { until: '2030-01-01', debitedBy: new Date(0), clockOffsetMs: 0n };
    const since = { due: '', changedAt: new Date(0), endedAt: new Date(0) };
    const missing = await listMissing(service.database.prisma, service.accountId, since, due);
    return missing.some(({ expectedPaymentId }) => expectedPaymentId === id);
  };

  it('is judged again: a charge is missing that was paid, returned and undone', async () => {
    const sent = await book.send({ kind: 'create_charge', state: 'succeeded' });
    const id = sent.expectedPaymentId;
    await book.run(
      `UPDATE expected_payment SET is_credit = true, due_date = '2026-01-01' WHERE id = $1`,
      id,
    );
    await book.refer(id, { kind: 'external_id', value: 'undone' });
    await book.mirror(
      { ...pix, nsu, externalId: 'undone', endToEndId: 'U1', age: 9 },
      { ...med, nsu: nsu + 1, originalEndToEndId: 'U1' },
    );
    await book.reconcile();
    expect(await sums(id)).toEqual({ paid: 1_000, returned: 1_000 });
    await book.unlink(nsu);
    expect(await sums(id)).toEqual({ paid: 0, returned: 0 });
    for (const _ of ['once', 'twice']) {
      await book.reconcile();
      expect(await said()).toEqual(['unexpected', 'unexpected']);
      expect(await isMissing(id)).toBe(true);
    }
  });

  it('stays where it is of another payment, and goes with the one that it gave back', async () => {
    const id = await book.charge('two');
    await book.mirror(
      { ...pix, nsu, externalId: 'two', endToEndId: 'T1', age: 9 },
      { ...pix, nsu: nsu + 1, externalId: 'two', endToEndId: 'T2', age: 8 },
      { ...med, nsu: nsu + 2, originalEndToEndId: 'T1', amountCents: 400, age: 2 },
      { ...med, nsu: nsu + 3, originalEndToEndId: 'T2', amountCents: 300, age: 1 },
    );
    await book.reconcile();
    await book.unlink(nsu + 1);
    expect(await sums(id)).toEqual({ paid: 1_000, returned: 400 });
    await book.reconcile();
    const [kept, undone, ofKept, ofUndone] = await said();
    expect([kept, ofKept]).toEqual(['payment by reference', 'reversal by reversal']);
    expect([undone, ofUndone]).toEqual(['unexpected', 'unexpected']);
  });

  it('is of no debit: neither what an id nor what a person said to have come back', async () => {
    const transfer = await book.send({
      state: 'succeeded',
      transferState: 'failed',
      references: [{ kind: 'end_to_end_id', value: 'D1' }],
    });
    const id = transfer.expectedPaymentId;
    await book.mirror(
      { nsu, endToEndId: 'D1', age: 9 },
      { nsu: nsu + 1, isCredit: true, endToEndId: 'D1', amountCents: 600, age: 2 },
      { nsu: nsu + 2, isCredit: true, amountCents: 400, age: 1 },
    );
    await book.reconcile();
    await book.link(nsu + 2, id);
    expect(await sums(id)).toEqual({ paid: 1_000, returned: 1_000 });
    await book.unlink(nsu);
    expect(await sums(id)).toEqual({ paid: 0, returned: 0 });
    await book.reconcile();
    expect(await said()).toEqual(['unexpected', 'waits', 'unexpected']);
    const { rows } = await book.run(
      `SELECT array_agg(e.action ORDER BY e.sequence) AS trail FROM break b
       JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id WHERE b.nsu = $1`,
      nsu + 2,
    );
    expect(rows).toEqual([{ trail: ['opened', 'resolved', 'unlink', 'reopened'] }]);
  });

  it('is told once, as its payment is, where a person links what an id had matched', async () => {
    const id = await book.charge('once');
    const ofCharge = async () =>
      (await book.events()).filter(({ data }) => data.correlationId === 'once');
    await book.mirror(
      { ...pix, nsu, externalId: 'once', endToEndId: 'O1', amountCents: 1_200, age: 9 },
      { ...med, nsu: nsu + 1, originalEndToEndId: 'O1', amountCents: 200 },
    );
    await book.reconcile();
    const told = await ofCharge();
    expect(told.map(({ type }) => type)).toEqual(['charge.overpaid', 'charge.refunded']);
    await book.link(nsu, id);
    await book.link(nsu + 1, id);
    expect(await ofCharge()).toEqual(told);
    expect(await sums(id)).toEqual({ paid: 1_200, returned: 200 });
  });

  it('is no more than a person has left of it', async () => {
    const id = await book.charge('left');
    await book.mirror(
      { ...pix, nsu, externalId: 'left', endToEndId: 'L1', age: 9 },
      { ...med, nsu: nsu + 1, age: 5 },
    );
    await book.reconcile();
    await book.link(nsu + 1, id);
    await book.mirror({ ...med, nsu: nsu + 2, originalEndToEndId: 'L1' });
    for (const _ of ['once', 'twice']) {
      await book.reconcile();
      expect(await sums(id)).toEqual({ paid: 1_000, returned: 1_000 });
      expect(await said()).toEqual(['payment by reference', 'reversal by manual', 'unexpected']);
    }
  });
});
