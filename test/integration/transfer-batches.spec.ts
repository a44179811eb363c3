import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply } from '../../src/platform/contract-route.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../contract/bank-under-test.js';
import { batchItem } from '../contract/transfer-samples.js';
import { storeLine } from '../support/journal.js';
import { transfersSetup, type TransfersSetup } from '../support/transfers-setup.js';

const tooMuch = 99_999_999_999;
const bodyOf = ({ body }: Reply) => JSON.parse(String(body));

describe('money sent in a batch', () => {
  let bank: SandboxUnderTest;
  let room: TransfersSetup;

  beforeAll(async () => {
    bank = await sandboxUnderTest();
    room = await transfersSetup(await bank.application.getUrl());
  });
  afterAll(async () => {
    await room.stop();
    await bank.stop();
  });
  beforeEach(() => room.clear());
  afterEach(() => bank.call('DELETE', '/sandbox/faults'));

  const rows = () => room.database.prisma.transfer.findMany({ orderBy: { position: 'asc' } });

  it('gives each item an externalId, and keeps the clients’', async () => {
    const items = [batchItem(), batchItem({ externalId: undefined, amount: 0.2 })];
    const answer = bodyOf(await room.sendBatch(items));
    const transfers = await rows();
    expect(transfers.map(({ externalId }) => externalId)).toEqual(
      answer.map(({ externalId }: { externalId: string }) => externalId),
    );
    expect(transfers[0]?.externalId).toBe(items[0]?.externalId);
    expect(transfers.map(({ state, shape, bankId }) => [state, shape, bankId])).toEqual(
      answer.map(({ id }: { id: string }) => ['effective', 'batch', id]),
    );
    const [second] = transfers.slice(1);
    expect(await room.referencesOf(second?.id ?? '')).toEqual({
      counterparty: '1000002',
      external_id: second?.externalId,
      movement_id: second?.bankId,
    });
    expect((await room.events()).map(({ type }) => type)).toEqual(
      Array(2).fill('transfer.effective'),
    );
  });

  it('refuses items that bear one externalId', async () => {
    const [one, other] = [batchItem(), batchItem()];
    await expect(room.sendBatch([one, other, one])).rejects.toMatchObject({
      status: 400,
      details: { errors: { '$[2].externalId': [expect.any(String)] } },
    });
    expect(await room.database.prisma.operation.count()).toBe(0);
  });

  it('fails the items that the bank did not do, and expects nothing of them', async () => {
    const body = { endpoint: 'batch', kind: 'partial-batch', times: 1 };
    await bank.call('POST', '/sandbox/faults', { body });
    const answer = bodyOf(await room.sendBatch([batchItem(), batchItem()]));
    expect(answer.map(({ status }: { status: string }) => status)).toEqual(['DONE', 'ERROR']);
    const [done, undone] = await rows();
    expect([done?.state, undone?.state]).toEqual(['effective', 'failed']);
    expect(undone?.errorCode).toBe(answer[1].error.code);
    const withdrawn = await room.database.prisma.expectedPayment.findMany({
      where: { withdrawnAt: { not: null } },
    });
    expect(withdrawn.map(({ id }) => id)).toEqual([undone?.expectedPaymentId]);
    expect(await room.events()).toEqual([
      { type: 'transfer.effective', transferId: done?.id },
      { type: 'transfer.failed', transferId: undone?.id },
    ]);
    const view = await room.views.get(room.accountId, undone?.externalId ?? '');
    expect(view.settlement).toBe('withdrawn');
  });

  it('was made in part when the statement shows some, and the others are proven absent', async () => {
    await bank.call('POST', '/sandbox/faults', {
      body: { endpoint: 'batch', kind: 'reset-after-effect', times: 1 },
    });
    const { id } = bodyOf(await room.sendBatch([batchItem(), batchItem()]));
    const kind = room.batches['kind'];
    const operation = await room.operation(id);
    const inTransaction = (act: (tx: never) => Promise<void> | undefined) =>
      room.database.transaction(async (tx) => act(tx as never));
    await inTransaction((tx) => kind.onRejected(tx, operation));
    const [one, other] = await rows();
    await storeLine(room.database, room.accountId, {
      nsu: 1,
      cents: Number(one?.amountCents),
      paying: one?.expectedPaymentId ?? null,
    });
    await inTransaction((tx) => kind.onReopened?.(tx, operation));
    expect((await rows()).map(({ state }) => state)).toEqual(['effective', 'requested']);
    const absent = [other?.expectedPaymentId ?? ''];
    const acceptance = { answer: null, absent };
    for (let times = 0; times < 2; times += 1)
      await inTransaction((tx) => kind.onSucceeded?.(tx, operation, acceptance));
    expect((await rows()).map(({ state }) => state)).toEqual(['effective', 'failed']);
    expect((await room.events()).filter(({ transferId }) => transferId)).toEqual([
      { type: 'transfer.effective', transferId: one?.id },
      { type: 'transfer.failed', transferId: other?.id },
    ]);
  });

  it('rejects all items when the bank rejects the batch', async () => {
    expect((await room.sendBatch([batchItem(), batchItem({ amount: tooMuch })])).status).toBe(422);
    expect((await rows()).map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  });
});
