import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { changeMode } from '../../../src/access/accounts/account-modes.queries.js';
import { insertRestore } from '../../../src/access/accounts/account-restores.queries.js';
import { listTransactionRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { TransferViews } from '../../../src/outbound/transfers/transfer-views.service.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const counterparty = '99999999/1/1000002';

describe('a debit that nothing explains', () => {
  let service: ServiceDatabase;
  const fixture = new SentMoneyFixture(() => service);
  const { run, reconcile, addOperation, setOperationState, addReferences, addLines } = fixture;
  const kinds = async () => (await fixture.outcomes()).map(({ outcome }) => outcome);
  const setMode = (mode: 'live' | 'stopped' | 'reconcile_only') =>
    service.database.transaction((tx) =>
      changeMode(tx, service.accountId, {
        ...{ mode, registersWebhooks: undefined, actor: 'ana', reason: 'test' },
      }),
    );
  /** An accepted transfer of R$ 10.00 without a line. */
  const addTransfer = () =>
    addOperation({
      ...{ state: 'succeeded', transferState: 'accepted' },
      references: [
        { kind: 'end_to_end_id', value: 'E1' },
        { kind: 'counterparty', value: counterparty },
      ],
    });

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const { id } = await service.database.prisma.bankAccount.create({
      data: {
        slug: `a${service.accountId + 1}`,
        goLiveAt: new Date(0),
        createdAt: new Date(Date.now() - 3_600_000),
      },
    });
    service.accountId = id;
  });

  it('is unrequested when it is decided first, whatever its type, and reported', async () => {
    await addLines(
      { nsu: 1 },
      { nsu: 2, typeName: 'DEBIT_PIX_REFUND' },
      { nsu: 3, typeName: 'DEBIT_TRANSFER_EXTERNAL' },
      { nsu: 4, isCredit: true },
    );
    await reconcile();
    const unrequested = 'unrequested_debit';
    expect(await kinds()).toEqual([unrequested, unrequested, unrequested, 'unexpected']);
    expect(await fixture.events()).toContainEqual({
      type: 'transaction.unexpected',
      data: expect.objectContaining({ breakKind: unrequested }),
    });
  });

  it('is unexpected while another system may send', async () => {
    await setMode('reconcile_only');
    await addLines({ nsu: 1, age: -60 });
    await reconcile();
    expect(await kinds()).toEqual(['unexpected']);
    await setMode('stopped');
    await addLines({ nsu: 2, age: -60 });
    await reconcile();
    expect(await kinds()).toEqual(['unexpected', 'unrequested_debit']);
  });

  it('is unexpected where a restored database may lack its operation', async () => {
    await service.database.transaction((tx) => insertRestore(tx, service.accountId, 'live'));
    await setMode('stopped');
    await addLines({ nsu: 1, age: -60 });
    await setMode('live');
    await addLines({ nsu: 2, age: 60 }, { nsu: 3, age: -60 });
    await reconcile();
    expect(await kinds()).toEqual(['unexpected', 'unexpected', 'unrequested_debit']);
  });

  it('is unexpected in the history that the first sync imported', async () => {
    await run(
      `INSERT INTO statement_state (account_id, first_synced_at) VALUES ($1, now())`,
      service.accountId,
    );
    await addLines({ nsu: 1, age: 7_200 }, { nsu: 2 });
    await reconcile();
    expect(await kinds()).toEqual(['unexpected', 'unrequested_debit']);
  });

  it('is not exempt by its time if it is stored after the first sync', async () => {
    await run(
      `INSERT INTO statement_state (account_id, first_synced_at)
       VALUES ($1, now() - interval '1 minute')`,
      service.accountId,
    );
    await addLines({ nsu: 1, age: 7_200 });
    await reconcile();
    expect(await kinds()).toEqual(['unrequested_debit']);
  });

  it('waits for an operation in progress, and is unrequested when that is rejected', async () => {
    const { operationId } = await addOperation({ state: 'sending' });
    await addLines({ nsu: 1 }, { nsu: 2, amountCents: 1_001 });
    await reconcile();
    expect(await kinds()).toEqual(['pending', 'unrequested_debit']);
    await setOperationState(operationId, 'rejected');
    await reconcile();
    expect(await kinds()).toEqual(['unrequested_debit', 'unrequested_debit']);
  });

  it('waits for a transfer that it fits but for its endToEndId, which the bank reports later', async () => {
    const { expectedPaymentId } = await addTransfer();
    await addLines({ nsu: 1, endToEndId: 'E2', counterparty });
    await addLines({ nsu: 2, endToEndId: 'E3', counterparty: '99999999/1/7' });
    await reconcile();
    expect(await kinds()).toEqual(['pending', 'unrequested_debit']);
    await addReferences(expectedPaymentId, { kind: 'end_to_end_id', value: 'E2' });
    await reconcile();
    expect(await kinds()).toEqual(['payment by reference', 'unrequested_debit']);
  });

  it('is a candidate of the open transfer that it fits, and the transfer is its own', async () => {
    const { operationId, expectedPaymentId } = await addTransfer();
    await addLines({ nsu: 1, endToEndId: 'E2', counterparty }, { nsu: 2, endToEndId: 'E1' });
    await reconcile();
    const { prisma } = service.database;
    const views = new TransferViews(service.database);
    const candidates = async () => {
      const filters = { nsu: 1n, afterNsu: null, limit: 1 };
      const { rows } = await listTransactionRows(prisma, service.accountId, filters);
      const transfer = await views.get(service.accountId, operationId);
      return [rows[0]?.candidateIds, transfer.candidates.map(({ nsu }) => nsu)];
    };
    // Another line pays the transfer.
    expect(await candidates()).toEqual([[], []]);
    await fixture.unlink(2);
    await reconcile();
    expect(await candidates()).toEqual([[expectedPaymentId], [1n]]);
  });

  it('is unrequested when its transfer gets another line, and waits again without it', async () => {
    await addTransfer();
    await addLines({ nsu: 1, endToEndId: 'E2', counterparty });
    await reconcile();
    await addLines({ nsu: 2, endToEndId: 'E1', counterparty });
    await reconcile();
    expect(await kinds()).toEqual(['unrequested_debit', 'payment by reference']);
    await fixture.unlink(2);
    await reconcile();
    expect((await kinds())[0]).toBe('pending');
  });

  it('is not explained by an operation that was requested after it', async () => {
    await addLines({ nsu: 1, endToEndId: 'E2', counterparty });
    await addTransfer();
    await reconcile();
    expect(await kinds()).toEqual(['unrequested_debit']);
  });
});
