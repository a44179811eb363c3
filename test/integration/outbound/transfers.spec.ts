import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { lookUpPixKey } from '../../../src/bank-contract/pix-lookup.js';
import type { Reply } from '../../../src/platform/http/contract-route.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import {
  batchItem,
  keyTransfer,
  internalTransfer,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { transfersSetup, type TransfersSetup } from '../../support/transfers-setup.js';
import { addAccounts } from '../../support/parent-rows.js';

const amountAboveBalance = 99_999_999_999;
const bodyOf = ({ body }: Reply) => JSON.parse(String(body));

describe('transfers', () => {
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

  const endToEndId = async (account?: number): Promise<string> =>
    bodyOf(await setup.lookUp(account)).endToEndId;
  const brokenRule = (reason: string) => ({ status: 422, details: { reason } });
  const fault = (endpoint: string, kind: string, more = {}) =>
    bank.call('POST', '/sandbox/faults', { body: { endpoint, kind, times: 1, ...more } });

  describe('by key', () => {
    it('stores the account of a look-up, and neither the key nor the holder as they are', async () => {
      const reply = await setup.lookUp();
      const response = bodyOf(reply);
      expect(response).toMatchObject({ key: 'maria@pessoa-dois.example', keyBelongsHolder: false });
      const [row, ...others] = await setup.database.prisma.pixLookup.findMany();
      expect(others).toEqual([]);
      expect(row).toMatchObject({ endToEndId: response.endToEndId, operationId: null });
      const { participant, number } = response.beneficiary;
      expect(row?.counterparty).toMatch(new RegExp(`^${participant.ispb}/.+/${number}$`));
      expect(JSON.stringify(row)).not.toMatch(/maria|Maria|\*/);
      const usableMs = Number(row?.expiresAt) - Number(row?.lookedUpAt);
      expect(usableMs).toBeGreaterThan(11.9 * 3_600_000);
      expect(usableMs).toBeLessThanOrEqual(12 * 3_600_000);
    });

    it('returns the bank’s 404 for a key that nobody registered', async () => {
      const lookup = setup.lookUp(undefined, 'nobody@nowhere.example');
      await expect(lookup).rejects.toMatchObject({ status: 404 });
      expect(await setup.database.prisma.pixLookup.count()).toBe(0);
    });

    it('creates one transfer from one look-up under concurrent requests with different keys', async () => {
      const id = await endToEndId();
      const responses = await Promise.allSettled(
        Array.from({ length: 20 }, () => setup.send(keyTransfer(id))),
      );
      const sent = responses.filter(({ status }) => status === 'fulfilled');
      expect(sent).toHaveLength(1);
      for (const response of responses)
        if (response.status === 'rejected')
          expect(response.reason).toMatchObject(brokenRule('look_up_used'));
      expect(await setup.database.prisma.operation.count()).toBe(1);
      await expect(setup.send(keyTransfer(id))).rejects.toMatchObject(brokenRule('look_up_used'));
    });

    it('creates one transfer per idempotency key when the service looks up the Pix key, also concurrently', async () => {
      const [key, transfer] = [
        setup.newKeyHeader(),
        { key: 'maria@pessoa-dois.example', amount: 125n },
      ];
      const both = await Promise.all([
        setup.sendByKey(transfer, key),
        setup.sendByKey(transfer, key),
      ]);
      const repeat = await setup.sendByKey(transfer, key);
      expect(new Set([...both, repeat].map(({ body }) => body)).size).toBe(1);
      expect(bodyOf(repeat)).toMatchObject({ type: 'PIX_KEY', amount: 1.25 });
      expect(await setup.database.prisma.operation.count()).toBe(1);
      await expect(setup.sendByKey({ ...transfer, amount: 126n }, key)).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
    });

    it('replays the first response to a repeat after the look-up is used and expired', async () => {
      const [id, key] = [await endToEndId(), setup.newKeyHeader()];
      const first = await setup.send(keyTransfer(id), key);
      expect(first.status).toBe(200);
      setup.clock.aheadMs = 13 * 3_600_000;
      const repeat = await setup.send(keyTransfer(id), key);
      expect([repeat.body, repeat.headers['Idempotent-Replayed']]).toEqual([first.body, 'true']);
    });

    it('passes on a look-up that was made without the service, for one transfer', async () => {
      const body = { key: 'maria@pessoa-dois.example' };
      const lookUp = () => bank.call('POST', lookUpPixKey.path, { body });
      const { endToEndId: id } = (await lookUp()).body;
      const sent = await setup.send(keyTransfer(id));
      expect([sent.status, bodyOf(sent).endToEndId]).toEqual([200, id]);
      const { id: transferId } = await setup.views.get(setup.accountId, id);
      expect(await setup.referencesOfTransfer(transferId)).not.toHaveProperty('counterparty');
      await expect(setup.send(keyTransfer(id))).rejects.toMatchObject(brokenRule('look_up_used'));
      const { endToEndId: next } = (await lookUp()).body;
      const both = await Promise.allSettled([1, 2].map(() => setup.send(keyTransfer(next))));
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    it('passes on a look-up that was never made, and releases it when the bank refuses it', async () => {
      for (let time = 1; time <= 2; time += 1) {
        const refused = await setup.send(keyTransfer('E1'));
        expect([refused.status, bodyOf(refused).code]).toEqual([422, 'look_up_not_found']);
      }
      const operations = await setup.database.prisma.operation.findMany();
      expect(operations.map(({ state }) => state)).toEqual(['rejected', 'rejected']);
    });

    it('stores the same look-up for two accounts apart', async () => {
      const other = setup.accountId + 1;
      await addAccounts(setup.database.pool, other);
      const id = await endToEndId(other);
      expect((await setup.send(keyTransfer(id))).status).toBe(200);
      const ofOther = await setup.send(keyTransfer(id), setup.newKeyHeader(), other);
      expect(bodyOf(ofOther).code).toBe('look_up_used');
    });

    it('rejects a look-up that has expired by the bank’s clock', async () => {
      const id = await endToEndId();
      setup.clock.aheadMs = 12 * 3_600_000 + 60_000;
      await expect(setup.send(keyTransfer(id))).rejects.toMatchObject(
        brokenRule('look_up_expired'),
      );
      setup.clock.aheadMs = 11 * 3_600_000;
      expect((await setup.send(keyTransfer(id))).status).toBe(200);
    });

    it('releases the look-up of a transfer that the bank rejected', async () => {
      const id = await endToEndId();
      const rejected = await setup.send(keyTransfer(id, { amount: amountAboveBalance }));
      expect([rejected.status, bodyOf(rejected).code]).toEqual([422, 'insufficient_funds']);
      const [transfer] = await setup.database.prisma.transfer.findMany();
      expect(transfer).toMatchObject({ state: 'rejected', nextCheckAt: null });
      expect((await setup.send(keyTransfer(id))).status).toBe(200);
    });

    it('stores every known id as a reference, before and after the response', async () => {
      const id = await endToEndId();
      await fault('transfers', 'error-before-effect');
      const { id: operationId } = bodyOf(await setup.send(keyTransfer(id)));
      const [lookup] = await setup.database.prisma.pixLookup.findMany();
      const known = {
        counterparty: lookup?.counterparty,
        end_to_end_id: id,
        idempotency_key: operationId,
      };
      expect(await setup.referencesOfTransfer(operationId)).toEqual(known);
      const response = bodyOf(await setup.send(keyTransfer(await endToEndId())));
      const { id: transferId } = await setup.views.get(setup.accountId, response.id);
      expect(await setup.referencesOfTransfer(transferId)).toMatchObject({
        end_to_end_id: response.endToEndId,
        movement_id: response.id,
        nsu: String(response.transactionNsu),
      });
    });
  });

  describe('between accounts', () => {
    it('sends a generated externalId where the client chose none, the same at each repeat', async () => {
      const [request, key] = [internalTransfer({ externalId: undefined }), setup.newKeyHeader()];
      const response = bodyOf(await setup.send(request, key));
      expect(response.externalId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
      const path = `/baas/api/v2/transfers/${response.externalId}`;
      expect((await bank.call('GET', path)).body.id).toBe(response.id);
      const [operation] = await setup.database.prisma.operation.findMany();
      expect(JSON.parse(operation?.requestBody ?? '').externalId).toBe(response.externalId);
      expect(bodyOf(await setup.send(request, key))).toEqual(response);
      const withExternalId = { ...request, externalId: response.externalId };
      await expect(setup.send(withExternalId, key)).rejects.toMatchObject({ status: 422 });
      expect(await setup.referencesOfTransfer(operation?.id ?? '')).toMatchObject({
        external_id: response.externalId,
        counterparty: request.beneficiaryAccount,
      });
    });

    it('is effective at once, with one event and the bank’s response', async () => {
      const reply = await setup.send(internalTransfer());
      const view = await setup.views.get(setup.accountId, bodyOf(reply).externalId);
      expect(view).toMatchObject({
        state: 'effective',
        bankStatus: 'EFFECTIVE',
        amount: 75n,
        settlement: 'open',
        nsu: null,
        reversals: [],
      });
      expect(view.id).toBe(view.operationId);
      expect(await setup.events()).toEqual([{ type: 'transfer.effective', transferId: view.id }]);
    });

    it('is distinguishable only when the client chose an externalId that was never used before', async () => {
      const request = internalTransfer();
      await setup.send(request);
      await setup.send({ ...request, amount: 0.76 });
      await setup.send(internalTransfer({ externalId: undefined }));
      const { rows } = await setup.run('SELECT is_distinguishable FROM operation ORDER BY id');
      expect(rows.map((row) => row.is_distinguishable)).toEqual([true, false, false]);
    });
  });

  describe('repeated under another key', () => {
    const send = (body: unknown) => setup.send(body, setup.newKeyHeader(), undefined, false);
    const duplicate = { code: 'possible_duplicate' };
    const balance = async () =>
      (await bank.call('GET', '/sandbox/ledger?account=1000001')).body.accounts[0].balance;

    it.each([
      ['a transfer', () => internalTransfer({ amount: 1 }), send],
      [
        'a batch with the externalId of one item',
        () => [batchItem({ amount: 0.4 }), batchItem({ amount: 0.6, externalId: undefined })],
        (body: unknown) => setup.sendBatch(body, setup.newKeyHeader(), false),
      ],
    ])('move the money of one externalId once: %s, forty times at once', async (_, of, sendIt) => {
      const [body, before] = [of(), await balance()];
      const results = await Promise.allSettled(Array.from({ length: 40 }, () => sendIt(body)));
      const [sent, ...others] = results.filter(({ status }) => status === 'fulfilled');
      expect([sent?.status, others]).toEqual(['fulfilled', []]);
      const { rows: operations } = await setup.run('SELECT id FROM operation');
      expect(operations).toHaveLength(1);
      const headers = { Location: `/v1/operations/${operations[0].id}` };
      for (const result of results.filter((one) => one !== sent))
        expect(result).toMatchObject({ reason: { ...duplicate, details: { headers } } });
      expect(await balance()).toBeCloseTo(before - 1, 2);
    });

    it.each([
      [
        'by key',
        async (externalId: string) => ({ ...keyTransfer(await endToEndId()), externalId }),
      ],
      ['by account data', (externalId: string) => ({ ...manualTransfer(), externalId })],
      ['between accounts', (externalId: string) => internalTransfer({ externalId })],
    ])(
      'are refused whatever a client stamps on each request beside what moves money: %s',
      async (_, requestOf) => {
        const externalId = crypto.randomUUID();
        const stamped = async (nth: number) => ({
          ...(await requestOf(externalId)),
          description: `attempt ${nth}`,
          transferAt: new Date().toISOString(),
          tags: [`t${nth}`],
          saveFavorite: nth > 1,
        });
        expect((await send(await stamped(1))).status).toBe(200);
        await expect(send(await stamped(2))).rejects.toMatchObject(duplicate);
        const other = { ...(await stamped(3)), externalId: crypto.randomUUID() };
        expect((await send(other)).status).toBe(200);
      },
    );

    it('are refused for an item that another batch has sent, unless the header allows it', async () => {
      const sendBatch = (items: object[], isAllowed = false) =>
        setup.sendBatch(items, setup.newKeyHeader(), isAllowed);
      const item = batchItem({ amount: 0.4 });
      expect((await sendBatch([item, batchItem()])).status).toBe(200);
      const { rows } = await setup.run('SELECT id FROM operation');
      const headers = { Location: `/v1/operations/${rows[0].id}` };
      await expect(sendBatch([batchItem(), item])).rejects.toMatchObject({
        ...duplicate,
        details: { headers },
      });
      expect((await sendBatch([batchItem(), { ...item, amount: 0.5 }])).status).toBe(200);
      expect((await sendBatch([batchItem(), item], true)).status).toBe(200);
    });

    it('are sent after a rejection, with the header, and without an externalId', async () => {
      const tooMuch = internalTransfer({ amount: amountAboveBalance });
      expect((await send(tooMuch)).status).toBe(422);
      expect((await send(tooMuch)).status).toBe(422);
      const request = internalTransfer();
      expect((await send(request)).status).toBe(200);
      await expect(send(request)).rejects.toMatchObject(duplicate);
      expect((await setup.send(request)).status).toBe(200);
      const without = internalTransfer({ externalId: undefined });
      expect([(await send(without)).status, (await send(without)).status]).toEqual([200, 200]);
    });
  });

  describe('without a response', () => {
    const kind = () => setup.transfers['kind'];
    const account = () => ({ id: setup.accountId, slug: 'main', goLiveAt: new Date(0) });
    const lookUp = async (id: string, since = new Date(0)) =>
      kind().lookUp?.(account(), await setup.operation(id), since);

    it('can be read by the id of the 202 while the outcome is unknown', async () => {
      await fault('transfers', 'reset-after-effect');
      const reply = await setup.send(internalTransfer());
      expect(reply.status).toBe(202);
      const { id } = bodyOf(reply);
      expect(await setup.views.get(setup.accountId, id)).toMatchObject({
        id,
        operationState: 'unknown',
        state: 'requested',
        response: null,
      });
    });

    it.each([
      ['by key', async () => keyTransfer(await endToEndId())],
      ['between accounts', () => Promise.resolve(internalTransfer({ externalId: undefined }))],
    ])('is found at the bank by its id, or reported absent: %s', async (_, request) => {
      await fault('transfers', 'reset-after-effect');
      const executed = bodyOf(await setup.send(await request()));
      const found = await lookUp(executed.id);
      expect(found).toMatchObject({ outcome: 'accepted', status: 200 });
      if (found?.outcome !== 'accepted') throw new Error('not found');
      expect(found.bankReference).toBe(found.response.id);
      await fault('transfers', 'error-before-effect');
      const absent = bodyOf(await setup.send(await request()));
      expect(await lookUp(absent.id)).toEqual({ outcome: 'absent' });
    });

    it('is not looked up without its own id, nor found by an id that several transfers share', async () => {
      await fault('transfers', 'reset-after-effect', { times: 2 });
      const sent = bodyOf(await setup.send(manualTransfer()));
      expect(await lookUp(sent.id)).toEqual({ outcome: 'not_offered' });
      const request = internalTransfer();
      const first = bodyOf(await setup.send(request));
      expect(await lookUp(first.id)).toMatchObject({ outcome: 'accepted' });
      await setup.send({ ...request, description: 'again' });
      expect(await lookUp(first.id)).toEqual({ outcome: 'unknown' });
    });

    it('is not identified with an older transfer that has the same externalId', async () => {
      await fault('transfers', 'reset-after-effect');
      const { id } = bodyOf(await setup.send(internalTransfer()));
      const inAnHour = new Date(Date.now() + 3_600_000);
      expect(await lookUp(id, inAnHour)).toEqual({ outcome: 'not_offered' });
    });
  });

  describe('when read', () => {
    const list = async (filters: object) => {
      const page = { limit: 10, after: null };
      const { data } = await setup.views.list(setup.accountId, page, filters);
      return [...data].map(({ id }) => id);
    };

    it('is listed newest first and filtered by each field', async () => {
      const [one, other] = [internalTransfer(), internalTransfer()];
      await setup.send(one);
      await setup.send(other);
      await setup.send(manualTransfer());
      const all = await list({});
      expect(all).toEqual([...all].sort().reverse());
      expect(await list({ shape: 'internal' })).toEqual(all.slice(1));
      expect(await list({ externalId: one.externalId })).toEqual(all.slice(2));
      expect(await list({ state: 'accepted' })).toEqual(all.slice(0, 1));
      expect(await list({ operationId: all[1] })).toEqual([all[1]]);
    });

    it('is not found by another account, by any id', async () => {
      const response = bodyOf(await setup.send(internalTransfer()));
      const other = setup.accountId + 1;
      for (const id of [response.id, response.externalId])
        await expect(setup.views.get(other, id)).rejects.toMatchObject({ status: 404 });
    });
  });
});
