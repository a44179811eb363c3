import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply } from '../../../src/platform/http/contract-route.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { batchItem } from '../../contract/transfer-samples.js';
import { storeLine } from '../../support/journal.js';
import { transfersSetup, type TransfersSetup } from '../../support/transfers-setup.js';

const amountAboveBalance = 99_999_999_999;
const bodyOf = ({ body }: Reply) => JSON.parse(String(body));

describe('transfer batches', () => {
  let bank: SandboxUnderTest;
  let setup: TransfersSetup;

  beforeAll(async () => {
    bank = await sandboxUnderTest();
    setup = await transfersSetup(await bank.application.getUrl());
  });
  afterAll(async () => {
    await setup.stop();
    await bank.stop();
  });
  beforeEach(() => setup.reset());
  afterEach(() => bank.call('DELETE', '/sandbox/faults'));

  const rows = () => setup.database.prisma.transfer.findMany({ orderBy: { position: 'asc' } });

  it('give each item an externalId, and leave the client’s unchanged', async () => {
    const items = [batchItem(), batchItem({ externalId: undefined, amount: 0.2 })];
    const response = bodyOf(await setup.sendBatch(items));
    const transfers = await rows();
    expect(transfers.map(({ externalId }) => externalId)).toEqual(
      response.map(({ externalId }: { externalId: string }) => externalId),
    );
    expect(transfers[0]?.externalId).toBe(items[0]?.externalId);
    expect(transfers.map(({ state, shape, bankId }) => [state, shape, bankId])).toEqual(
      response.map(({ id }: { id: string }) => ['effective', 'batch', id]),
    );
    const [second] = transfers.slice(1);
    expect(await setup.referencesOfTransfer(second?.id ?? '')).toEqual({
      counterparty: '1000002',
      external_id: second?.externalId,
      movement_id: second?.bankId,
    });
    expect((await setup.events()).map(({ type }) => type)).toEqual(
      Array(2).fill('transfer.effective'),
    );
  });

  it('are passed on when items share an externalId, and not distinguished by it', async () => {
    const [one, other] = [batchItem(), batchItem()];
    const response = await setup.sendBatch([one, other, one]);
    expect(response.status).toBe(200);
    const transfers = await rows();
    expect(transfers.map(({ externalId, state }) => [externalId, state])).toEqual(
      [one, other, one].map(({ externalId }) => [externalId, 'effective']),
    );
    expect(new Set(transfers.map(({ bankId }) => bankId)).size).toBe(3);
  });

  it('fail the items that the bank did not execute, and withdraw their expected payments', async () => {
    const body = { endpoint: 'batch', kind: 'partial-batch', times: 1 };
    await bank.call('POST', '/sandbox/faults', { body });
    const response = bodyOf(await setup.sendBatch([batchItem(), batchItem()]));
    expect(response.map(({ status }: { status: string }) => status)).toEqual(['DONE', 'ERROR']);
    const [executed, failed] = await rows();
    expect([executed?.state, failed?.state]).toEqual(['effective', 'failed']);
    expect(failed?.errorCode).toBe(response[1].error.code);
    const withdrawn = await setup.database.prisma.expectedPayment.findMany({
      where: { withdrawnAt: { not: null } },
    });
    expect(withdrawn.map(({ id }) => id)).toEqual([failed?.expectedPaymentId]);
    expect(await setup.events()).toEqual([
      { type: 'transfer.effective', transferId: executed?.id },
      { type: 'transfer.failed', transferId: failed?.id },
    ]);
    const view = await setup.views.get(setup.accountId, failed?.externalId ?? '');
    expect(view.settlement).toBe('withdrawn');
  });

  it('succeed in part when the statement shows some items and the others are proven absent', async () => {
    await bank.call('POST', '/sandbox/faults', {
      body: { endpoint: 'batch', kind: 'reset-after-effect', times: 1 },
    });
    const [{ operationId: id }] = bodyOf(await setup.sendBatch([batchItem(), batchItem()]));
    const kind = setup.batches['kind'];
    const operation = await setup.operation(id);
    const inTransaction = (act: (tx: never) => Promise<void> | undefined) =>
      setup.database.transaction(async (tx) => act(tx as never));
    await inTransaction((tx) => kind.onRejected(tx, operation));
    const [one, other] = await rows();
    await storeLine(setup.database, setup.accountId, {
      nsu: 1,
      cents: Number(one?.amountCents),
      expectedPaymentId: one?.expectedPaymentId ?? null,
    });
    await inTransaction((tx) => kind.onReopened?.(tx, operation));
    expect((await rows()).map(({ state }) => state)).toEqual(['effective', 'requested']);
    const absentExpectedPaymentIds = [other?.expectedPaymentId ?? ''];
    const acceptance = { response: null, absentExpectedPaymentIds };
    for (let times = 0; times < 2; times += 1)
      await inTransaction((tx) => kind.onSucceeded?.(tx, operation, acceptance));
    expect((await rows()).map(({ state }) => state)).toEqual(['effective', 'failed']);
    expect((await setup.events()).filter(({ transferId }) => transferId)).toEqual([
      { type: 'transfer.effective', transferId: one?.id },
      { type: 'transfer.failed', transferId: other?.id },
    ]);
  });

  it('reject all items when the bank rejects the batch', async () => {
    expect(
      (await setup.sendBatch([batchItem(), batchItem({ amount: amountAboveBalance })])).status,
    ).toBe(422);
    expect((await rows()).map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  });
});
