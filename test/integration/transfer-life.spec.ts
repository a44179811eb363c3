import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WebhookInbox } from '../../src/webhooks/webhook-inbox.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../contract/bank-under-test.js';
import { batchItem, byKey, internal, manual } from '../contract/transfer-samples.js';
import { transfersSetup, type TransfersSetup } from '../support/transfers-setup.js';

describe('the life of a transfer', () => {
  let bank: SandboxUnderTest;
  let room: TransfersSetup;

  beforeAll(async () => {
    bank = await sandboxUnderTest();
    await clock({ frozen: true });
    room = await transfersSetup(await bank.application.getUrl());
  });
  afterAll(async () => {
    await room.stop();
    await bank.stop();
  });
  beforeEach(() => room.clear());
  afterEach(() => bank.call('DELETE', '/sandbox/faults'));

  // The sandbox's Pix goes on by the bank's clock, which stands still until it is told.
  const clock = (body: object) => bank.call('POST', '/sandbox/clock', { body });
  const fault = (endpoint: string, kind: string, more = {}) =>
    bank.call('POST', '/sandbox/faults', { body: { endpoint, kind, times: 1, ...more } });
  const follow = () => room.follower.follow({ accountId: room.accountId });
  const makeDue = () =>
    room.run('UPDATE transfer SET next_check_at = now() WHERE next_check_at > now()');
  const bodyOf = ({ body }: { body: unknown }) => JSON.parse(String(body));
  const sendPix = async () => {
    const { id } = bodyOf(await room.send(manual()));
    return (await room.views.get(room.accountId, id)) as { id: string; endToEndId: string };
  };
  const rowOf = (id: string) => room.database.prisma.transfer.findFirstOrThrow({ where: { id } });
  const storeWebhook = async (endToEndId: string, status: string) => {
    const woken: string[] = [];
    const jobQueue = { enqueue: (name: string) => Promise.resolve(void woken.push(name)) };
    const inbox = new WebhookInbox(room.database, jobQueue as never);
    const body = JSON.stringify({ eventType: status, endToEndId, status: 'PIX_ERROR' });
    await inbox.keep(room.accountId, 'PIX_PAYMENT_UPDATED', Buffer.from(body));
    return woken;
  };

  describe('followed by its id', () => {
    it('is read until the bank says that it is effective, and told of once', async () => {
      const { id } = await sendPix();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', bankStatus: 'PIX_PROCESSING' });
      await clock({ advance: 'PT0.3S' });
      await makeDue();
      await follow();
      expect(await rowOf(id)).toMatchObject({
        state: 'accepted',
        bankStatus: 'PIX_WAITING_SPI_RESPONSE',
        checks: 1,
      });
      expect(await room.events()).toEqual([]);
      await clock({ advance: 'PT0.3S' });
      await makeDue();
      await Promise.all([follow(), follow()]);
      expect(await rowOf(id)).toMatchObject({
        state: 'effective',
        bankStatus: 'PIX_EFFECTIVE',
        nextCheckAt: null,
      });
      await follow();
      expect(await room.events()).toEqual([{ type: 'transfer.effective', transferId: id }]);
    });

    it('fails with the bank’s code when the bank says so', async () => {
      await fault('transfers', 'async-error');
      const { id } = await sendPix();
      await clock({ advance: 'PT1S' });
      await makeDue();
      await follow();
      expect(await rowOf(id)).toMatchObject({ state: 'failed', bankStatus: 'PIX_ERROR' });
      expect((await rowOf(id)).errorCode).toMatch(/\w/);
      expect(await room.events()).toEqual([{ type: 'transfer.failed', transferId: id }]);
      expect((await room.views.get(room.accountId, id)).settlement).toBe('withdrawn');
    });

    it('is asked for again, more and more rarely and never given up, while the bank does not say', async () => {
      const { id } = await sendPix();
      await fault('transfers', 'error-before-effect', { times: 9, method: 'GET' });
      const pauses: number[] = [];
      for (let time = 1; time <= 9; time += 1) {
        await makeDue();
        await follow();
        const { checkedAt, nextCheckAt } = await rowOf(id);
        pauses.push(Math.round((Number(nextCheckAt) - Number(checkedAt)) / 1_000));
      }
      expect(pauses).toEqual([2, 5, 15, 60, 300, 900, 3_600, 3_600, 3_600]);
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', bankStatus: 'PIX_PROCESSING' });
      await clock({ advance: 'PT1S' });
      await makeDue();
      await follow();
      expect((await rowOf(id)).state).toBe('effective');
    });

    it('believes no answer that speaks of another', async () => {
      const { id } = await sendPix();
      const { id: other } = await sendPix();
      await clock({ advance: 'PT1S' });
      const { bankId } = await rowOf(other);
      await room.run('ALTER TABLE transfer DISABLE TRIGGER transfer_is_fixed');
      await room.run('UPDATE transfer SET bank_id = $1 WHERE id = $2', bankId, id);
      await room.run('ALTER TABLE transfer ENABLE TRIGGER transfer_is_fixed');
      await makeDue();
      await follow();
      expect((await rowOf(other)).state).toBe('effective');
      expect((await rowOf(id)).state).toBe('accepted');
    });
  });

  describe('named by a webhook', () => {
    it('is read at once, and is what the bank says when it is read: the webhook fails nothing', async () => {
      const { id, endToEndId } = await sendPix();
      await room.run(`UPDATE transfer SET next_check_at = now() + interval '1 hour'`);
      const woken = await storeWebhook(endToEndId, 'PIX_PAYMENT_ERROR');
      expect(woken).toEqual(['syncStatement', 'followTransfers']);
      await follow();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', checks: 1 });
      await follow();
      expect((await rowOf(id)).checks).toBe(1);
      await clock({ advance: 'PT1S' });
      await storeWebhook(endToEndId, 'PIX_PAYMENT_EFFECTIVE');
      await follow();
      expect((await rowOf(id)).state).toBe('effective');
    });

    it('is left to the statement where the bank cannot be asked', async () => {
      room.setProfile({ hasStatusById: false });
      const { id, endToEndId } = await sendPix();
      expect((await rowOf(id)).nextCheckAt).toBeNull();
      await storeWebhook(endToEndId, 'PIX_PAYMENT_ERROR');
      await follow();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', checks: 0 });
    });
  });

  describe('told in any order', () => {
    const note = async (id: string, state: string, bankStatus: string) => {
      const { expectedPaymentId } = await rowOf(id);
      const told = {
        state,
        bankStatus,
        errorCode: null,
        bankId: null,
        endToEndId: null,
        nsu: null,
      };
      const each = [{ transfer: { id, expectedPaymentId }, told: told as never }];
      await room.database.transaction((tx) => room.records.note(tx, room.accountId, each));
    };

    it('does not go back when a status comes late', async () => {
      const { id } = await sendPix();
      await note(id, 'effective', 'PIX_EFFECTIVE');
      await note(id, 'accepted', 'PIX_PROCESSING');
      await note(id, 'failed', 'PIX_ERROR');
      await note(id, 'effective', 'PIX_EFFECTIVE');
      const row = await rowOf(id);
      expect([row.state, row.bankStatus, row.nextCheckAt]).toEqual([
        'effective',
        'PIX_EFFECTIVE',
        null,
      ]);
      expect(await room.events()).toEqual([{ type: 'transfer.effective', transferId: id }]);
    });

    it('ends once, when many say so at once', async () => {
      const { id } = await sendPix();
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          index % 2
            ? note(id, 'effective', 'PIX_EFFECTIVE')
            : note(id, 'accepted', 'PIX_WAITING_SPI_RESPONSE'),
        ),
      );
      expect((await rowOf(id)).state).toBe('effective');
      expect(await room.events()).toHaveLength(1);
    });

    it.each([
      ['effective', 'accepted'],
      ['effective', 'failed'],
      ['failed', 'effective'],
      ['accepted', 'requested'],
      ['accepted', 'rejected'],
    ])('is refused by the database to go from %s to %s', async (from, to) => {
      const { id } = await sendPix();
      const set = (state: string) =>
        room.run('UPDATE transfer SET state = $1 WHERE id = $2', state, id);
      if (from !== 'accepted') await set(from);
      await expect(set(to)).rejects.toThrow(/does not go/);
    });

    it('keeps a word that it does not know, and goes on asking', async () => {
      const { id } = await sendPix();
      await note(id, 'accepted', 'PIX_PONDERING');
      const row = await rowOf(id);
      expect([row.state, row.bankStatus]).toEqual(['accepted', 'PIX_PONDERING']);
      expect(row.nextCheckAt).not.toBeNull();
    });
  });

  describe('shown by the statement alone', () => {
    /** The debit of a transfer, matched to it. */
    const showDebit = async (id: string, nsu: number) => {
      await room.run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
           movement_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
         SELECT account_id, $2, 'x', false, amount_cents, 'DEBIT', 'E-' || $2::bigint, 'movement-' || $2::bigint, 0, 0, now(), 'h', '{}'
         FROM transfer WHERE id = $1`,
        id,
        nsu,
      );
      await room.run(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         SELECT account_id, gen_random_uuid(), $2, expected_payment_id, amount_cents, 'reference', '{}'
         FROM transfer WHERE id = $1`,
        id,
        nsu,
      );
    };
    const unanswered = async (
      endpoint: string,
      send: () => Promise<{ body: unknown }>,
    ): Promise<string> => {
      await fault(endpoint, 'error-before-effect');
      return bodyOf(await send()).id;
    };
    const succeed = async (kind: unknown, id: string) => {
      const { onSucceeded } = kind as {
        onSucceeded: (tx: unknown, operation: unknown, acceptance: unknown) => Promise<void>;
      };
      const operation = await room.operation(id);
      await room.database.transaction((tx) => onSucceeded(tx, operation, { answer: null }));
    };

    it('is done when it is between accounts, and accepted when it is a Pix', async () => {
      const own = await unanswered('transfers', () => room.send(internal()));
      const pix = await unanswered('transfers', () => room.send(manual()));
      await showDebit(own, 1);
      await showDebit(pix, 2);
      await succeed(room.transfers['kind'], own);
      await succeed(room.transfers['kind'], pix);
      await succeed(room.transfers['kind'], own);
      expect(await rowOf(own)).toMatchObject({ state: 'effective', bankId: 'movement-1' });
      const seen = await rowOf(pix);
      const known = { state: 'accepted', endToEndId: 'E-2', bankId: 'movement-2' };
      expect(seen).toMatchObject({ ...known, nextCheckAt: expect.any(Date) });
      const told = (await room.events()).filter(({ transferId }) => transferId);
      expect(told).toEqual([{ type: 'transfer.effective', transferId: own }]);
    });

    it('is read with its line, and with what came back of it', async () => {
      const own = await unanswered('transfers', () => room.send(internal()));
      await showDebit(own, 7);
      const view = await room.views.get(room.accountId, own);
      expect(view).toMatchObject({ settlement: 'settled', nsu: 7n, returns: [] });
      await showDebit(own, 8);
      await room.run(`UPDATE match SET role = 'reversal' WHERE nsu = 8`);
      expect(await room.views.get(room.accountId, own)).toMatchObject({
        settlement: 'reversed',
        nsu: 7n,
        returns: [{ nsu: 8n, amount: 75n, endToEndId: 'E-8' }],
      });
    });

    it('leaves the items of a batch open that it does not show', async () => {
      const items = [batchItem(), batchItem()];
      const operationId = await unanswered('batch', () => room.sendBatch(items));
      const filters = { operationId };
      const list = () => room.views.list(room.accountId, { limit: 10, after: null }, filters);
      const [second, first] = await list();
      await showDebit(first?.id ?? '', 1);
      await succeed(room.batches['kind'], operationId);
      const states = (await list()).map(({ id, state }) => [id, state]);
      expect(states).toEqual([
        [second?.id, 'requested'],
        [first?.id, 'effective'],
      ]);
    });

    it('takes back the look-up that was freed, when a late line shows that it was used', async () => {
      const { endToEndId } = bodyOf(await room.lookUp());
      const id = await unanswered('transfers', () => room.send(byKey(endToEndId)));
      const operation = await room.operation(id);
      const { onRejected } = room.transfers['kind'];
      await room.database.transaction((tx) => onRejected(tx, operation));
      expect((await rowOf(id)).state).toBe('rejected');
      await showDebit(id, 1);
      await succeed(room.transfers['kind'], id);
      expect((await rowOf(id)).state).toBe('accepted');
      const again = room.send(byKey(endToEndId));
      await expect(again).rejects.toMatchObject({ details: { reason: 'look_up_used' } });
    });
  });
});
