import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply } from '../../src/platform/contract-route.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../contract/bank-under-test.js';
import { byKey, internal, manual } from '../contract/transfer-samples.js';
import { transfersSetup, type TransfersSetup } from '../support/transfers-setup.js';

const tooMuch = 99_999_999_999;
const bodyOf = ({ body }: Reply) => JSON.parse(String(body));

describe('money sent', () => {
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

  const endToEndId = async (account?: number): Promise<string> =>
    bodyOf(await room.lookUp(account)).endToEndId;
  const refusedBy = (reason: string) => ({ status: 422, details: { reason } });
  const fault = (endpoint: string, kind: string, more = {}) =>
    bank.call('POST', '/sandbox/faults', { body: { endpoint, kind, times: 1, ...more } });

  describe('by key', () => {
    it('keeps where a look-up leads, and neither the key nor its holder', async () => {
      const reply = await room.lookUp();
      const answer = bodyOf(reply);
      expect(answer).toMatchObject({ key: 'maria@pessoa-dois.example', keyBelongsHolder: false });
      const [row, ...others] = await room.database.prisma.pixLookup.findMany();
      expect(others).toEqual([]);
      expect(row).toMatchObject({ endToEndId: answer.endToEndId, operationId: null });
      const { participant, number } = answer.beneficiary;
      expect(row?.counterparty).toMatch(new RegExp(`^${participant.ispb}/.+/${number}$`));
      expect(JSON.stringify(row)).not.toMatch(/maria|Maria|\*/);
      const livesMs = Number(row?.expiresAt) - Number(row?.lookedUpAt);
      expect(livesMs).toBeGreaterThan(11.9 * 3_600_000);
      expect(livesMs).toBeLessThanOrEqual(12 * 3_600_000);
    });

    it('hands on that nobody has registered a key', async () => {
      const looking = room.lookUp(undefined, 'nobody@nowhere.example');
      await expect(looking).rejects.toMatchObject({ status: 404 });
      expect(await room.database.prisma.pixLookup.count()).toBe(0);
    });

    it('begins one transfer with one look-up, however many keys it comes with at once', async () => {
      const id = await endToEndId();
      const answers = await Promise.allSettled(
        Array.from({ length: 20 }, () => room.send(byKey(id))),
      );
      const sent = answers.filter(({ status }) => status === 'fulfilled');
      expect(sent).toHaveLength(1);
      for (const answer of answers)
        if (answer.status === 'rejected')
          expect(answer.reason).toMatchObject(refusedBy('look_up_used'));
      expect(await room.database.prisma.operation.count()).toBe(1);
      await expect(room.send(byKey(id))).rejects.toMatchObject(refusedBy('look_up_used'));
    });

    it('is one transfer under one key where the look-up is ours, also when two make one at once', async () => {
      const [key, asked] = [room.newKey(), { key: 'maria@pessoa-dois.example', amount: 125n }];
      const both = await Promise.all([room.sendByKey(asked, key), room.sendByKey(asked, key)]);
      const again = await room.sendByKey(asked, key);
      expect(new Set([...both, again].map(({ body }) => body)).size).toBe(1);
      expect(bodyOf(again)).toMatchObject({ type: 'PIX_KEY', amount: 1.25 });
      expect(await room.database.prisma.operation.count()).toBe(1);
      await expect(room.sendByKey({ ...asked, amount: 126n }, key)).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
    });

    it('gives a repeat the first answer, when the look-up is used and expired', async () => {
      const [id, key] = [await endToEndId(), room.newKey()];
      const first = await room.send(byKey(id), key);
      expect(first.status).toBe(200);
      room.clock.aheadMs = 13 * 3_600_000;
      const again = await room.send(byKey(id), key);
      expect([again.body, again.headers['Idempotent-Replayed']]).toEqual([first.body, 'true']);
    });

    it('knows no look-up of another account, and none that was not made', async () => {
      const other = room.accountId + 1;
      const theirs = await endToEndId(other);
      const unknown = refusedBy('look_up_not_found');
      await expect(room.send(byKey(theirs))).rejects.toMatchObject(unknown);
      await expect(room.send(byKey('E1'))).rejects.toMatchObject(unknown);
      expect(await room.database.prisma.operation.count()).toBe(0);
      expect((await room.send(byKey(theirs), room.newKey(), other)).status).toBe(200);
    });

    it('refuses a look-up that is too old by the bank’s clock', async () => {
      const id = await endToEndId();
      room.clock.aheadMs = 12 * 3_600_000 + 60_000;
      await expect(room.send(byKey(id))).rejects.toMatchObject(refusedBy('look_up_expired'));
      room.clock.aheadMs = 11 * 3_600_000;
      expect((await room.send(byKey(id))).status).toBe(200);
    });

    it('frees the look-up of a transfer that the bank rejected', async () => {
      const id = await endToEndId();
      const refused = await room.send(byKey(id, { amount: tooMuch }));
      expect([refused.status, bodyOf(refused).code]).toEqual([422, 'insufficient_funds']);
      const [rejected] = await room.database.prisma.transfer.findMany();
      expect(rejected).toMatchObject({ state: 'rejected', nextCheckAt: null });
      expect((await room.send(byKey(id))).status).toBe(200);
    });

    it('is expected by each id that is known, before its answer and after', async () => {
      const id = await endToEndId();
      await fault('transfers', 'error-before-effect');
      const { id: operationId } = bodyOf(await room.send(byKey(id)));
      const [lookup] = await room.database.prisma.pixLookup.findMany();
      const known = {
        counterparty: lookup?.counterparty,
        end_to_end_id: id,
        idempotency_key: operationId,
      };
      expect(await room.referencesOf(operationId)).toEqual(known);
      const answered = bodyOf(await room.send(byKey(await endToEndId())));
      const { id: transferId } = await room.views.get(room.accountId, answered.id);
      expect(await room.referencesOf(transferId)).toMatchObject({
        end_to_end_id: answered.endToEndId,
        movement_id: answered.id,
        nsu: String(answered.transactionNsu),
      });
    });
  });

  describe('between accounts', () => {
    it('sends an externalId of its own where the client chose none, and the same at each repeat', async () => {
      const [request, key] = [internal({ externalId: undefined }), room.newKey()];
      const answer = bodyOf(await room.send(request, key));
      expect(answer.externalId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
      const path = `/baas/api/v2/transfers/${answer.externalId}`;
      expect((await bank.call('GET', path)).body.id).toBe(answer.id);
      const [operation] = await room.database.prisma.operation.findMany();
      expect(JSON.parse(operation?.requestBody ?? '').externalId).toBe(answer.externalId);
      expect(bodyOf(await room.send(request, key))).toEqual(answer);
      const named = { ...request, externalId: answer.externalId };
      await expect(room.send(named, key)).rejects.toMatchObject({ status: 422 });
      expect(await room.referencesOf(operation?.id ?? '')).toMatchObject({
        external_id: answer.externalId,
        counterparty: request.beneficiaryAccount,
      });
    });

    it('is effective at once and told of, with the bank’s own answer', async () => {
      const reply = await room.send(internal());
      const view = await room.views.get(room.accountId, bodyOf(reply).externalId);
      expect(view).toMatchObject({
        state: 'effective',
        bankStatus: 'EFFECTIVE',
        amount: 75n,
        settlement: 'open',
        nsu: null,
        returns: [],
      });
      expect(view.id).toBe(view.operationId);
      expect(await room.events()).toEqual([{ type: 'transfer.effective', transferId: view.id }]);
    });

    it('is told apart by the client’s externalId alone, and by that only once', async () => {
      const request = internal();
      await room.send(request);
      await room.send({ ...request, amount: 0.76 });
      await room.send(internal({ externalId: undefined }));
      const { rows } = await room.run('SELECT is_distinguishable FROM operation ORDER BY id');
      expect(rows.map((row) => row.is_distinguishable)).toEqual([true, false, false]);
    });
  });

  describe('whose answer went astray', () => {
    const kind = () => room.transfers['kind'];
    const account = () => ({ id: room.accountId, slug: 'main', goLiveAt: new Date(0) });
    const lookUp = async (id: string, since = new Date(0)) =>
      kind().lookUp?.(account(), await room.operation(id), since);

    it('can be read by the id of its 202 while nobody knows how it ended', async () => {
      await fault('transfers', 'reset-after-effect');
      const reply = await room.send(internal());
      expect(reply.status).toBe(202);
      const { id } = bodyOf(reply);
      expect(await room.views.get(room.accountId, id)).toMatchObject({
        id,
        operationState: 'unknown',
        state: 'requested',
        response: null,
      });
    });

    it.each([
      ['by key', async () => byKey(await endToEndId())],
      ['between accounts', () => Promise.resolve(internal({ externalId: undefined }))],
    ])('is found at the bank by its id, or found absent: %s', async (_, request) => {
      await fault('transfers', 'reset-after-effect');
      const done = bodyOf(await room.send(await request()));
      const found = await lookUp(done.id);
      expect(found).toMatchObject({ found: 'accepted', status: 200 });
      if (found?.found !== 'accepted') throw new Error('not found');
      expect(found.bankReference).toBe(found.answer.id);
      await fault('transfers', 'error-before-effect');
      const undone = bodyOf(await room.send(await request()));
      expect(await lookUp(undone.id)).toEqual({ found: 'absent' });
    });

    it('is not found where no id of ours was sent, or one that another transfer bears', async () => {
      await fault('transfers', 'reset-after-effect', { times: 2 });
      const sent = bodyOf(await room.send(manual()));
      expect(await lookUp(sent.id)).toEqual({ found: 'not_offered' });
      const request = internal();
      const first = bodyOf(await room.send(request));
      expect(await lookUp(first.id)).toMatchObject({ found: 'accepted' });
      await room.send({ ...request, description: 'again' });
      expect(await lookUp(first.id)).toEqual({ found: 'unknown' });
    });

    it('is not found in an older transfer that bears its externalId', async () => {
      await fault('transfers', 'reset-after-effect');
      const { id } = bodyOf(await room.send(internal()));
      const inAnHour = new Date(Date.now() + 3_600_000);
      expect(await lookUp(id, inAnHour)).toEqual({ found: 'not_offered' });
    });
  });

  describe('as it is read', () => {
    const list = async (filters: object) =>
      (await room.views.list(room.accountId, { limit: 10, after: null }, filters)).map(
        ({ id }) => id,
      );

    it('is listed newest first, by each of its fields', async () => {
      const [one, other] = [internal(), internal()];
      await room.send(one);
      await room.send(other);
      await room.send(manual());
      const all = await list({});
      expect(all).toEqual([...all].sort().reverse());
      expect(await list({ shape: 'internal' })).toEqual(all.slice(1));
      expect(await list({ externalId: one.externalId })).toEqual(all.slice(2));
      expect(await list({ state: 'accepted' })).toEqual(all.slice(0, 1));
      expect(await list({ operationId: all[1] })).toEqual([all[1]]);
    });

    it('is not another account’s, by whatever id', async () => {
      const answer = bodyOf(await room.send(internal()));
      const other = room.accountId + 1;
      for (const id of [answer.id, answer.externalId])
        await expect(room.views.get(other, id)).rejects.toMatchObject({ status: 404 });
    });
  });
});
