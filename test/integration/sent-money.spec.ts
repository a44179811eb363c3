import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listExpectedPaymentRows } from '../../src/reconciliation/book.queries.js';
import { listUndecidedAccounts } from '../../src/reconciliation/breaks.queries.js';
import { expectPendingFound } from '../support/pending-lines.js';
import { SentMoney } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const side = '99999999/1/1000002';

describe('money that was sent, on the statement', () => {
  let service: ServiceDatabase;
  const book = new SentMoney(() => service);
  const { run, woken, reconcile, send, setState, refer, mirror, outcomes, openBreaks, events } =
    book;

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  // What waits is found, and what was judged is not.
  afterEach(() => expectPendingFound(service.database));
  afterAll(() => service.drop());
  beforeEach(async () => {
    woken.length = 0;
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
  });

  it('is matched by each id that a line may carry', async () => {
    const byKey = await send({ state: 'succeeded' });
    const ids = [byKey.expectedPaymentId];
    for (const reference of [
      { kind: 'nsu', value: '2' },
      { kind: 'movement_id', value: 'M' },
      { kind: 'end_to_end_id', value: 'E' },
      { kind: 'external_id', value: 'X' },
      { kind: 'bill_code', value: 'B' },
    ] as const)
      ids.push((await send({ state: 'succeeded', references: [reference] })).expectedPaymentId);
    await mirror(
      { nsu: 1, idempotencyKey: byKey.operationId },
      { nsu: 2 },
      { nsu: 3, movementId: 'M' },
      { nsu: 4, endToEndId: 'E' },
      { nsu: 5, externalId: 'X' },
      { nsu: 6, billCode: 'B' },
    );
    await reconcile();
    expect(await outcomes()).toEqual(
      ids.map((expectedPaymentId, index) => ({
        nsu: index + 1,
        outcome: 'payment by reference',
        expectedPaymentId,
      })),
    );
  });

  it('tells the journal of an operation whose end it shows, and resolves the operator’s question', async () => {
    const { operationId } = await send({ state: 'needs_operator' });
    await reconcile();
    expect(await openBreaks()).toMatchObject([{ kind: 'unknown_outcome' }]);
    await mirror({ nsu: 1, idempotencyKey: operationId });
    await reconcile();
    const enqueue = ['advanceOperation', { accountId: service.accountId, operationId }];
    expect(woken).toContainEqual(enqueue);
    woken.length = 0;
    await book.decision().standing.enqueueContradicted();
    expect(woken).toContainEqual(enqueue);
    await setState(operationId, 'succeeded');
    await reconcile();
    expect(await openBreaks()).toEqual([]);
  });

  it('revokes the verdict that it was not executed by a match, a break and a wake-up', async () => {
    const { operationId, expectedPaymentId } = await send({ state: 'not_executed' });
    await mirror({ nsu: 1, idempotencyKey: operationId });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
    expect(await openBreaks()).toEqual([
      { kind: 'late_line', subject: `operation:${operationId}` },
    ]);
    expect(woken.map(([name]) => name)).toContain('advanceOperation');
    const { rows } = await run(
      `SELECT withdrawn_at FROM expected_payment WHERE id = $1`,
      expectedPaymentId,
    );
    expect(rows).toEqual([{ withdrawn_at: null }]);
  });

  it.each([
    ['a whole account', side],
    ['the account’s number alone', '1000002'],
  ])('is told by who gets it where no id tells it (%s)', async (_, value) => {
    const sent = await send({ references: [{ kind: 'counterparty', value }] });
    await mirror({ nsu: 1, counterparty: side }, { nsu: 2, counterparty: '99999999/1/1000003' });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by counterparty', expectedPaymentId: sent.expectedPaymentId },
      { outcome: 'unexpected' },
    ]);
  });

  it('is not taken for another that carries an id of its own', async () => {
    await send({ references: [{ kind: 'counterparty', value: side }] });
    await mirror({ nsu: 1, counterparty: side, idempotencyKey: 'another' });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
  });

  it('looks in the bank’s time for what began in ours', async () => {
    await run(
      `INSERT INTO statement_state (account_id, clock_offset_ms) VALUES ($1, 86400000)`,
      service.accountId,
    );
    await send({ references: [{ kind: 'counterparty', value: side }] });
    await mirror(
      { nsu: 1, counterparty: side, age: 3 },
      { nsu: 2, counterparty: side, age: 3 - 86_400 },
    );
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'unexpected' },
      { outcome: 'payment by counterparty' },
    ]);
  });

  it('waits for the answer that tells it, and is judged again without a new line', async () => {
    const sent = await send({ state: 'sending' });
    await mirror({ nsu: 7 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'waits' }]);
    expect(await events()).toEqual([]);
    const isDue = async (pauseMs: number) =>
      (await listUndecidedAccounts(service.database.prisma, pauseMs)).some(
        ({ accountId }) => accountId === service.accountId,
      );
    expect([await isDue(60_000), await isDue(0)]).toEqual([false, true]);
    await refer(sent.expectedPaymentId, { kind: 'nsu', value: '7' });
    await setState(sent.operationId, 'succeeded');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by reference' }]);
    expect(await isDue(0)).toBe(false);
    expect(await openBreaks()).toEqual([]);
  });

  it('is unexpected once what it waited for has ended otherwise', async () => {
    const { operationId } = await send({ state: 'sending' });
    await mirror({ nsu: 1 });
    await reconcile();
    await setState(operationId, 'rejected');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
    expect(await events()).toMatchObject([{ type: 'transaction.unexpected' }]);
  });

  it('leaves its break when an answer comes to name it', async () => {
    const sent = await send({ state: 'needs_operator', age: 5 });
    await mirror({ nsu: 1, endToEndId: 'E' });
    await reconcile();
    expect(await openBreaks()).toMatchObject([{ kind: 'unexpected' }, { kind: 'unknown_outcome' }]);
    await refer(sent.expectedPaymentId, { kind: 'end_to_end_id', value: 'E' });
    await setState(sent.operationId, 'succeeded');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by reference' }]);
    expect(await openBreaks()).toEqual([]);
  });

  it('comes back as a return, in whatever batch its two lines arrive', async () => {
    for (const [index, batches] of [[[1, 2]], [[1], [2]], [[2], [1]]].entries()) {
      const [debit, credit] = [10 * index + 1, 10 * index + 2];
      const id = `E${index}`;
      await send({ state: 'succeeded', references: [{ kind: 'end_to_end_id', value: id }] });
      for (const batch of batches) {
        if (batch.includes(1)) await mirror({ nsu: debit, endToEndId: id });
        if (batch.includes(2))
          await mirror({
            nsu: credit,
            isCredit: true,
            endToEndId: `D${index}`,
            originalEndToEndId: id,
          });
        await reconcile();
      }
      expect((await outcomes()).slice(-2)).toMatchObject([
        { nsu: debit, outcome: 'payment by reference' },
        { nsu: credit, outcome: 'reversal by reversal' },
      ]);
    }
  });

  it('that failed is no break when it comes back while that is being told', async () => {
    const references = [{ kind: 'end_to_end_id', value: 'E' }] as const;
    await send({
      state: 'succeeded',
      age: 60,
      references: [...references],
      transferState: 'failed',
    });
    await mirror({ nsu: 1, endToEndId: 'E', age: 50 });
    await book.reconciliation(600_000).reconcile({ accountId: service.accountId });
    const { standing, missing } = book.decision();
    missing.checkWhenDue = async () => {
      await mirror({ nsu: 2, isCredit: true, endToEndId: 'E' });
      await book.reconciliation(600_000).reconcile({ accountId: service.accountId });
      return false;
    };
    await standing.refresh(service.accountId);
    expect(await outcomes()).toMatchObject([{ nsu: 1 }, { nsu: 2, outcome: 'reversal by reversal' }]);
    expect(await openBreaks()).toEqual([]);
  });

  it('that fails though it was debited is a break until the money is back', async () => {
    const { operationId } = await send({
      state: 'succeeded',
      age: 60,
      references: [{ kind: 'end_to_end_id', value: 'E' }],
      transferState: 'failed',
    });
    await mirror({ nsu: 1, endToEndId: 'E', age: 50 });
    await reconcile();
    expect(await openBreaks()).toEqual([
      { kind: 'failed_but_debited', subject: `transfer:${operationId}` },
    ]);
    await mirror({ nsu: 2, isCredit: true, endToEndId: 'E', amountCents: 400 });
    await reconcile();
    expect(await openBreaks()).toHaveLength(1);
    await mirror({ nsu: 3, isCredit: true, endToEndId: 'E', amountCents: 600 });
    await reconcile();
    expect(await openBreaks()).toEqual([]);
    // Debited twice, nobody can tell what came back: the money of this one counts as gone again.
    await mirror({ nsu: 4, endToEndId: 'E', age: 40 });
    await reconcile();
    expect(await openBreaks()).toContainEqual({
      ...{ kind: 'failed_but_debited', subject: `transfer:${operationId}` },
    });
  });

  it('is told by events of its kind, with ids and amounts', async () => {
    const { operationId } = await send({
      state: 'succeeded',
      references: [{ kind: 'end_to_end_id', value: 'E' }],
      transferState: 'accepted',
    });
    await mirror({ nsu: 1, endToEndId: 'E' });
    await mirror({ nsu: 2, isCredit: true, endToEndId: 'E', amountCents: 250 });
    await reconcile();
    const ids = { operationId, transferId: operationId, externalId: 'external', endToEndId: 'E' };
    expect(await events()).toMatchObject([
      { type: 'transfer.settled', data: { ...ids, nsu: 1, amount: 10, settlement: 'settled' } },
      {
        type: 'transfer.reversed',
        data: { ...ids, nsu: 2, amount: 2.5, settlement: 'partially_reversed' },
      },
    ]);
  });

  it('is shown as what was paid and what came back', async () => {
    await send({ state: 'succeeded', references: [{ kind: 'end_to_end_id', value: 'E' }] });
    const { prisma } = service.database;
    const page = { operationId: null, beforeId: null, today: '2026-01-01', limit: 9 };
    const shown = async () => {
      const list = (reference: string | null, state: string | null) =>
        listExpectedPaymentRows(prisma, service.accountId, { ...page, reference, state });
      const [row] = await list('E', null);
      // Each filter finds what the others do.
      for (const state of ['open', 'partially_reversed', 'reversed'])
        expect(await list(null, state)).toEqual(state === row?.state ? [row] : []);
      expect(await list('F', null)).toEqual([]);
      return [row?.state, row?.settledCents, row?.reversedCents];
    };
    expect(await shown()).toEqual(['open', 0n, 0n]);
    const back = { isCredit: true, endToEndId: 'E' };
    await mirror({ nsu: 1, endToEndId: 'E' }, { nsu: 2, ...back, amountCents: 400 });
    await reconcile();
    expect(await shown()).toEqual(['partially_reversed', 1_000n, 400n]);
    await mirror({ nsu: 3, ...back, amountCents: 600 });
    await reconcile();
    expect(await shown()).toEqual(['reversed', 1_000n, 1_000n]);
  });
});
