import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bankProfileOf } from '../../../src/bank/profiles.js';
import { listExpectedPaymentRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { loadOptionsOf } from '../../../src/reconciliation/load/component.queries.js';
import { loadComponents, loadAccount } from '../../../src/reconciliation/load/load.queries.js';
import { listAccountsWithDueSubjects } from '../../../src/statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { expectPendingLinesListed } from '../../support/pending-lines.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const counterparty = '99999999/1/1000002';

describe('the statement line of sent money', () => {
  let service: ServiceDatabase;
  const fixture = new SentMoneyFixture(() => service);
  const {
    run,
    enqueuedJobs,
    reconcile,
    addOperation,
    setOperationState,
    addReferences,
    addLines,
    outcomes,
    openBreaks,
    events,
  } = fixture;

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  // Lines without an outcome are listed as pending, and decided lines are not.
  afterEach(() => expectPendingLinesListed(service.database));
  afterAll(() => service.drop());
  beforeEach(async () => {
    enqueuedJobs.length = 0;
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
  });

  it('is matched by each reference that a line may have', async () => {
    const byKey = await addOperation({ state: 'succeeded' });
    const ids = [byKey.expectedPaymentId];
    for (const reference of [
      { kind: 'nsu', value: '2' },
      { kind: 'movement_id', value: 'M' },
      { kind: 'end_to_end_id', value: 'E' },
      { kind: 'external_id', value: 'X' },
      { kind: 'bill_code', value: 'B' },
    ] as const)
      ids.push(
        (await addOperation({ state: 'succeeded', references: [reference] })).expectedPaymentId,
      );
    await addLines(
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

  describe('without a decision', () => {
    const options = loadOptionsOf(bankProfileOf({ profile: 'sandbox', visibilityBoundMs: null }));
    /** The names of the operations without a response whose payments are loaded for the line. */
    const loadedFor = async (
      line: { externalId?: string },
      act = async () => Promise.resolve(),
    ) => {
      const names = new Map<string, string>();
      for (const [name, state] of [
        ['named', 'unknown'],
        ['other', 'unknown'],
        ['rejected', 'rejected'],
      ] as const) {
        const references = [{ kind: 'external_id', value: name }] as const;
        const { expectedPaymentId } = await addOperation({ state, references: [...references] });
        names.set(expectedPaymentId, name);
      }
      await addLines({ nsu: 1, ...line });
      await act();
      const { database, accountId } = service;
      const seeds = { nsus: [1n], expectedPaymentIds: [] };
      const account = loadAccount(database.prisma, accountId);
      const loaded = await loadComponents(database.prisma, accountId, options, seeds, account);
      return loaded.expectedPayments.map(({ id }) => names.get(id)).sort();
    };

    it.each([
      ['alone what its ids name, if it may pay that', { externalId: 'named' }, ['named']],
      ['also what has its amount, if its ids name nothing', {}, ['named', 'other']],
      [
        'also what has its amount, if its ids name what was rejected',
        { externalId: 'rejected' },
        ['named', 'other', 'rejected'],
      ],
    ])('loads %s', async (_, line, expected) => {
      expect(await loadedFor(line)).toEqual(expected);
    });

    it('loads also what has its amount, if a person has separated it', async () => {
      const separate = async () => {
        await reconcile();
        await fixture.unlink(1);
      };
      expect(await loadedFor({ externalId: 'named' }, separate)).toEqual(['named', 'other']);
    });
  });

  it('enqueues recovery of an operation that it proves executed, and resolves its unknown_outcome break', async () => {
    const { operationId } = await addOperation({ state: 'needs_operator' });
    await reconcile();
    expect(await openBreaks()).toMatchObject([{ kind: 'unknown_outcome' }]);
    await addLines({ nsu: 1, idempotencyKey: operationId });
    await reconcile();
    const enqueue = ['advanceOperation', { accountId: service.accountId, operationId }];
    expect(enqueuedJobs).toContainEqual(enqueue);
    await setOperationState(operationId, 'succeeded');
    await reconcile();
    expect(await openBreaks()).toEqual([]);
  });

  it('contradicts a not_executed operation with a match, a late_line break and a recovery job', async () => {
    const { operationId, expectedPaymentId } = await addOperation({ state: 'not_executed' });
    await addLines({ nsu: 1, idempotencyKey: operationId });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
    expect(await openBreaks()).toEqual([
      { kind: 'late_line', subject: `operation:${operationId}` },
    ]);
    expect(enqueuedJobs.map(([name]) => name)).toContain('advanceOperation');
    const { rows } = await run(
      `SELECT withdrawn_at FROM expected_payment WHERE id = $1`,
      expectedPaymentId,
    );
    expect(rows).toEqual([{ withdrawn_at: null }]);
  });

  it.each([
    ['a whole account', counterparty, 'DEBIT_PIX', 'payment by counterparty'],
    ['a number inside the bank', '1000002', 'DEBIT_TRANSFER_INTERNAL', 'payment by counterparty'],
    // Another bank may have an account with this number.
    ['a number alone', '1000002', 'DEBIT_PIX', 'pending'],
  ])('is matched by the whole account when no id identifies it: %s', async (...row) => {
    const [, value, typeName, outcome] = row;
    await addOperation({ references: [{ kind: 'counterparty', value }] });
    await addLines(
      { nsu: 1, counterparty, typeName },
      { nsu: 2, counterparty: '99999999/1/1000003' },
    );
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome }, { outcome: 'unexpected' }]);
  });

  it('is not matched by the counterparty when it has the id of another operation', async () => {
    await addOperation({ references: [{ kind: 'counterparty', value: counterparty }] });
    await addLines({ nsu: 1, counterparty, idempotencyKey: 'another' });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
  });

  it('is matched by its bank time, converted with the clock offset', async () => {
    await run(
      `INSERT INTO statement_state (account_id, clock_offset_ms, clock_offset_max_ms)
       VALUES ($1, 86400000, 86400000)`,
      service.accountId,
    );
    await addOperation({ references: [{ kind: 'counterparty', value: counterparty }] });
    await addLines({ nsu: 1, counterparty, age: 3 }, { nsu: 2, counterparty, age: 3 - 86_400 });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'unexpected' },
      { outcome: 'payment by counterparty' },
    ]);
  });

  it('is pending until the response identifies it, and is decided again without a new line', async () => {
    const operation = await addOperation({ state: 'sending' });
    await addLines({ nsu: 7 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'pending' }]);
    expect(await events()).toEqual([]);
    const isDue = async () =>
      (await listAccountsWithDueSubjects(service.database.prisma)).some(
        ({ accountId }) => accountId === service.accountId,
      );
    expect(await isDue()).toBe(false);
    await addReferences(operation.expectedPaymentId, { kind: 'nsu', value: '7' });
    await setOperationState(operation.operationId, 'succeeded');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by reference' }]);
    expect(await isDue()).toBe(false);
    expect(await openBreaks()).toEqual([]);
  });

  it('is unexpected once the operation that it was pending for is rejected', async () => {
    const { operationId } = await addOperation({ state: 'sending' });
    await addLines({ nsu: 1 });
    await reconcile();
    await setOperationState(operationId, 'rejected');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
    expect(await events()).toMatchObject([{ type: 'transaction.unexpected' }]);
  });

  it('has its break resolved when a later response identifies it', async () => {
    const operation = await addOperation({ state: 'needs_operator', age: 5 });
    await addLines({ nsu: 1, endToEndId: 'E' });
    await reconcile();
    expect(await openBreaks()).toMatchObject([{ kind: 'unexpected' }, { kind: 'unknown_outcome' }]);
    await addReferences(operation.expectedPaymentId, { kind: 'end_to_end_id', value: 'E' });
    await setOperationState(operation.operationId, 'succeeded');
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by reference' }]);
    expect(await openBreaks()).toEqual([]);
  });

  it('is reversed by its credit, in whatever batches the two lines arrive', async () => {
    for (const [index, batches] of [[[1, 2]], [[1], [2]], [[2], [1]]].entries()) {
      const [debit, credit] = [10 * index + 1, 10 * index + 2];
      const id = `E${index}`;
      await addOperation({
        state: 'succeeded',
        references: [{ kind: 'end_to_end_id', value: id }],
      });
      for (const batch of batches) {
        if (batch.includes(1)) await addLines({ nsu: debit, endToEndId: id });
        if (batch.includes(2))
          await addLines({
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

  it('has a failed_but_debited break until the money is reversed in full', async () => {
    const { operationId } = await addOperation({
      state: 'succeeded',
      age: 60,
      references: [{ kind: 'end_to_end_id', value: 'E' }],
      transferState: 'failed',
    });
    await addLines({ nsu: 1, endToEndId: 'E', age: 50 });
    await reconcile();
    expect(await openBreaks()).toEqual([
      { kind: 'failed_but_debited', subject: `transfer:${operationId}` },
    ]);
    await addLines({ nsu: 2, isCredit: true, endToEndId: 'E', amountCents: 400 });
    await reconcile();
    expect(await openBreaks()).toHaveLength(1);
    await addLines({ nsu: 3, isCredit: true, endToEndId: 'E', amountCents: 600 });
    await reconcile();
    expect(await openBreaks()).toEqual([]);
    // With two debits, the reversal may be of either of them: the payment counts as debited again.
    await addLines({ nsu: 4, endToEndId: 'E', age: 40 });
    await reconcile();
    expect(await openBreaks()).toContainEqual({
      ...{ kind: 'failed_but_debited', subject: `transfer:${operationId}` },
    });
  });

  it('publishes events of its kind, with ids and amounts', async () => {
    const { operationId } = await addOperation({
      state: 'succeeded',
      references: [{ kind: 'end_to_end_id', value: 'E' }],
      transferState: 'accepted',
    });
    await addLines({ nsu: 1, endToEndId: 'E' });
    await addLines({ nsu: 2, isCredit: true, endToEndId: 'E', amountCents: 250 });
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

  it('shows the amounts paid and reversed of its expected payment', async () => {
    await addOperation({ state: 'succeeded', references: [{ kind: 'end_to_end_id', value: 'E' }] });
    const { prisma } = service.database;
    const page = { operationId: null, afterId: null, today: '2026-01-01', limit: 9 };
    const readRow = async () => {
      const list = (reference: string | null, state: string | null) =>
        listExpectedPaymentRows(prisma, service.accountId, { ...page, reference, state });
      const [row] = await list('E', null);
      // Each state filter agrees with the state of the row.
      for (const state of ['open', 'partially_reversed', 'reversed'])
        expect(await list(null, state)).toEqual(state === row?.state ? [row] : []);
      expect(await list('F', null)).toEqual([]);
      return [row?.state, row?.settledCents, row?.returnedCents];
    };
    expect(await readRow()).toEqual(['open', 0n, 0n]);
    const reversal = { isCredit: true, endToEndId: 'E' };
    await addLines({ nsu: 1, endToEndId: 'E' }, { nsu: 2, ...reversal, amountCents: 400 });
    await reconcile();
    expect(await readRow()).toEqual(['partially_reversed', 1_000n, 400n]);
    await addLines({ nsu: 3, ...reversal, amountCents: 600 });
    await reconcile();
    expect(await readRow()).toEqual(['reversed', 1_000n, 1_000n]);
  });
});
