import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import {
  batchItem,
  keyTransfer,
  internalTransfer,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import type { Transfer } from '../../../src/generated/service/client.js';
import { statusCheckPausesMs } from '../../../src/outbound/transfers/transfer-status.js';
import { updateTransfers } from '../../../src/outbound/transfers/transfers.queries.js';
import { transfersSetup, type TransfersSetup } from '../../support/transfers-setup.js';
import { until } from '../../support/until.js';
import { webhookInboxOf } from '../../support/webhooks-application.js';
import { recordedQueues } from '../../support/recorded-queues.js';

type TransferIds = Pick<Transfer, 'operationId' | 'bankId'>;

const newEndToEndId = 'E9999999920261128150000000000001';

describe('the lifecycle of a transfer', () => {
  let bank: SandboxUnderTest;
  let setup: TransfersSetup;

  beforeAll(async () => {
    bank = await sandboxUnderTest();
    await setClock({ frozen: true });
    setup = await transfersSetup(await bank.application.getUrl());
  });
  afterAll(async () => {
    await setup.stop();
    await bank.stop();
  });
  beforeEach(() => setup.reset());
  afterEach(() => bank.call('DELETE', '/sandbox/faults'));

  // The sandbox moves a Pix through its states by the bank's clock, which is frozen until a test
  // advances it.
  const setClock = (body: object) => bank.call('POST', '/sandbox/clock', { body });
  const fault = (endpoint: string, kind: string, more = {}) =>
    bank.call('POST', '/sandbox/faults', { body: { endpoint, kind, times: 1, ...more } });
  const checkStatus = () => setup.statusChecks.check({ accountId: setup.accountId });
  const makeDue = () =>
    setup.run('UPDATE transfer SET next_check_at = now() WHERE next_check_at > now()');
  const bodyOf = ({ body }: { body: unknown }) => JSON.parse(String(body));
  const sendPix = async () => {
    const { id } = bodyOf(await setup.send(manualTransfer()));
    return (await setup.views.get(setup.accountId, id)) as { id: string; endToEndId: string };
  };
  const rowOf = (id: string) => setup.database.prisma.transfer.findFirstOrThrow({ where: { id } });
  const storeWebhook = async (endToEndId: string, status: string, ids: object = {}) => {
    const enqueued: string[] = [];
    const queueOf = recordedQueues((job) => enqueued.push(job));
    const inbox = webhookInboxOf(setup.database, undefined, queueOf);
    const body = JSON.stringify({ eventType: status, endToEndId, status: 'PIX_ERROR', ...ids });
    await inbox.store(setup.accountId, 'PIX_PAYMENT_UPDATED', Buffer.from(body));
    await until('the status check is enqueued', () => enqueued.length > 1);
    return enqueued;
  };

  describe('with status checks', () => {
    it('is checked until the bank reports it effective, with one event', async () => {
      const { id } = await sendPix();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', bankStatus: 'PIX_PROCESSING' });
      await setClock({ advance: 'PT0.3S' });
      await makeDue();
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({
        state: 'accepted',
        bankStatus: 'PIX_WAITING_SPI_RESPONSE',
        checks: 1,
      });
      expect(await setup.events()).toEqual([]);
      await setClock({ advance: 'PT0.3S' });
      await makeDue();
      await Promise.all([checkStatus(), checkStatus()]);
      expect(await rowOf(id)).toMatchObject({
        state: 'effective',
        bankStatus: 'PIX_EFFECTIVE',
        nextCheckAt: null,
      });
      await checkStatus();
      expect(await setup.events()).toEqual([{ type: 'transfer.effective', transferId: id }]);
    });

    it('has the endToEndId under which the bank sent it again, and is found by both', async () => {
      await fault('transfers', 'new-end-to-end-id');
      const { id, endToEndId } = await sendPix();
      await setClock({ advance: 'PT1S' });
      await makeDue();
      await checkStatus();
      const row = await rowOf(id);
      expect(row).toMatchObject({ state: 'effective', endToEndId: expect.stringMatching(/^E/) });
      expect(row.endToEndId).not.toBe(endToEndId);
      for (const one of [endToEndId, row.endToEndId!])
        expect(await setup.views.get(setup.accountId, one)).toMatchObject({ id });
      // A report that is older than the one with the new id.
      const older = { state: 'accepted', bankStatus: 'PIX_PROCESSING', errorCode: null } as const;
      await setup.database.transaction((tx) =>
        updateTransfers(
          tx,
          setup.accountId,
          [{ ...older, id, bankId: row.bankId, endToEndId }],
          null,
        ),
      );
      expect(await rowOf(id)).toMatchObject({ endToEndId: row.endToEndId, state: 'effective' });
    });

    it.each([
      [
        'the key of its request',
        ({ operationId }: TransferIds) => ({ idempotencyKey: operationId }),
      ],
      ['the id of the bank', ({ bankId }: TransferIds) => ({ id: bankId })],
    ])('is checked when a webhook with a new endToEndId names it by %s', async (_, idsOf) => {
      await fault('transfers', 'new-end-to-end-id');
      const { id, endToEndId } = await sendPix();
      await setClock({ advance: 'PT1S' });
      // Its last check has been made.
      await setup.run('UPDATE transfer SET next_check_at = NULL');
      const other = { idempotencyKey: randomUUID(), id: randomUUID() };
      await storeWebhook(newEndToEndId, 'PIX_PAYMENT_EFFECTIVE', other);
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', checks: 0 });
      await storeWebhook(newEndToEndId, 'PIX_PAYMENT_EFFECTIVE', idsOf(await rowOf(id)));
      await checkStatus();
      const row = await rowOf(id);
      expect(row).toMatchObject({ state: 'effective', checks: 1 });
      const { rows } = await setup.run(
        `SELECT value FROM expected_payment_reference WHERE kind = 'end_to_end_id' ORDER BY value`,
      );
      expect(rows.map(({ value }) => value)).toEqual([endToEndId, row.endToEndId].sort());
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ checks: 1 });
    });

    it('is checked again when a debit is found to fit it', async () => {
      const { id } = await sendPix();
      await setup.run('UPDATE transfer SET next_check_at = NULL, checked_at = now()');
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ checks: 0 });
      await setup.run(
        `WITH line AS (
           INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
             balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
           SELECT account_id, 99, 'x', false, amount_cents, 'DEBIT_PIX', 0, 0, now(), 'h', '{}'
           FROM transfer RETURNING account_id, nsu)
         INSERT INTO line_candidate (account_id, nsu, expected_payment_id)
         SELECT t.account_id, 99, t.expected_payment_id FROM transfer t, line`,
      );
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ checks: 1 });
    });

    it('fails with the bank’s error code when the bank reports an error', async () => {
      await fault('transfers', 'async-error');
      const { id } = await sendPix();
      await setClock({ advance: 'PT1S' });
      await makeDue();
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ state: 'failed', bankStatus: 'PIX_ERROR' });
      expect((await rowOf(id)).errorCode).toMatch(/\w/);
      expect(await setup.events()).toEqual([{ type: 'transfer.failed', transferId: id }]);
      expect((await setup.views.get(setup.accountId, id)).settlement).toBe('withdrawn');
    });

    it('is checked again at growing intervals while the bank returns no status', async () => {
      const { id } = await sendPix();
      await fault('transfers', 'error-before-effect', { times: 9, method: 'GET' });
      const pauses: number[] = [];
      for (let time = 1; time <= 9; time += 1) {
        await makeDue();
        await checkStatus();
        const { checkedAt, nextCheckAt } = await rowOf(id);
        pauses.push(Math.round((Number(nextCheckAt) - Number(checkedAt)) / 1_000));
      }
      expect(pauses).toEqual([2, 5, 15, 60, 300, 900, 3_600, 3_600, 3_600]);
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', bankStatus: 'PIX_PROCESSING' });
      await setClock({ advance: 'PT1S' });
      await makeDue();
      await checkStatus();
      expect((await rowOf(id)).state).toBe('effective');
    });

    it('is checked for a month at most, and then once for each webhook that names it', async () => {
      const { id, endToEndId } = await sendPix();
      await setup.run('UPDATE transfer SET checks = $1', statusCheckPausesMs.length - 2);
      const checksOf = async () => {
        const { checks, nextCheckAt } = await rowOf(id);
        return { checks: checks - statusCheckPausesMs.length, isDue: nextCheckAt !== null };
      };
      for (const expected of [
        { checks: -1, isDue: true },
        { checks: 0, isDue: false },
        { checks: 0, isDue: false },
      ]) {
        await makeDue();
        await checkStatus();
        expect(await checksOf()).toEqual(expected);
      }
      await storeWebhook(endToEndId, 'PIX_PAYMENT_EFFECTIVE');
      await checkStatus();
      await checkStatus();
      expect(await checksOf()).toEqual({ checks: 1, isDue: false });
      await setClock({ advance: 'PT1S' });
      await storeWebhook(endToEndId, 'PIX_PAYMENT_ERROR');
      await checkStatus();
      expect((await rowOf(id)).state).toBe('effective');
    });

    it('ignores a response about another transfer', async () => {
      const { id } = await sendPix();
      const { id: other } = await sendPix();
      await setClock({ advance: 'PT1S' });
      const { bankId } = await rowOf(other);
      await setup.run('ALTER TABLE transfer DISABLE TRIGGER transfer_request_is_fixed');
      await setup.run('UPDATE transfer SET bank_id = $1 WHERE id = $2', bankId, id);
      await setup.run('ALTER TABLE transfer ENABLE TRIGGER transfer_request_is_fixed');
      await makeDue();
      await checkStatus();
      expect((await rowOf(other)).state).toBe('effective');
      expect((await rowOf(id)).state).toBe('accepted');
    });
  });

  describe('with a webhook', () => {
    it('is checked at once and takes the status of that check, never the webhook’s', async () => {
      const { id, endToEndId } = await sendPix();
      await setup.run(`UPDATE transfer SET next_check_at = now() + interval '1 hour'`);
      const enqueued = await storeWebhook(endToEndId, 'PIX_PAYMENT_ERROR');
      expect(enqueued).toEqual(['syncStatement', 'checkTransferStatuses']);
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', checks: 1 });
      await checkStatus();
      expect((await rowOf(id)).checks).toBe(1);
      await setClock({ advance: 'PT1S' });
      await storeWebhook(endToEndId, 'PIX_PAYMENT_EFFECTIVE');
      await checkStatus();
      expect((await rowOf(id)).state).toBe('effective');
    });

    it('is never checked at a bank without status by id', async () => {
      setup.setProfile({ hasStatusById: false });
      const { id, endToEndId } = await sendPix();
      expect((await rowOf(id)).nextCheckAt).toBeNull();
      await storeWebhook(endToEndId, 'PIX_PAYMENT_ERROR');
      await checkStatus();
      expect(await rowOf(id)).toMatchObject({ state: 'accepted', checks: 0 });
    });
  });

  describe('with reports in any order', () => {
    const recordReport = async (id: string, state: string, bankStatus: string) => {
      const { expectedPaymentId } = await rowOf(id);
      const report = {
        state,
        bankStatus,
        errorCode: null,
        bankId: null,
        endToEndId: null,
        nsu: null,
      };
      const updates = [{ transfer: { id, expectedPaymentId }, report: report as never }];
      await setup.database.transaction((tx) =>
        setup.records.recordReports(tx, setup.accountId, updates),
      );
    };

    it('never leaves a final state when a status arrives late', async () => {
      const { id } = await sendPix();
      await recordReport(id, 'effective', 'PIX_EFFECTIVE');
      await recordReport(id, 'accepted', 'PIX_PROCESSING');
      await recordReport(id, 'failed', 'PIX_ERROR');
      await recordReport(id, 'effective', 'PIX_EFFECTIVE');
      const row = await rowOf(id);
      expect([row.state, row.bankStatus, row.nextCheckAt]).toEqual([
        'effective',
        'PIX_EFFECTIVE',
        null,
      ]);
      expect(await setup.events()).toEqual([{ type: 'transfer.effective', transferId: id }]);
    });

    it('becomes final once, with one event, under concurrent reports', async () => {
      const { id } = await sendPix();
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          index % 2
            ? recordReport(id, 'effective', 'PIX_EFFECTIVE')
            : recordReport(id, 'accepted', 'PIX_WAITING_SPI_RESPONSE'),
        ),
      );
      expect((await rowOf(id)).state).toBe('effective');
      expect(await setup.events()).toHaveLength(1);
    });

    it.each([
      ['effective', 'accepted'],
      ['effective', 'failed'],
      ['failed', 'effective'],
      ['accepted', 'requested'],
      ['accepted', 'rejected'],
    ])('cannot move from %s to %s in the database', async (from, to) => {
      const { id } = await sendPix();
      const set = (state: string) =>
        setup.run('UPDATE transfer SET state = $1 WHERE id = $2', state, id);
      if (from !== 'accepted') await set(from);
      await expect(set(to)).rejects.toThrow(/cannot change/);
    });

    it('stores an unknown status and goes on checking', async () => {
      const { id } = await sendPix();
      await recordReport(id, 'accepted', 'PIX_PONDERING');
      const row = await rowOf(id);
      expect([row.state, row.bankStatus]).toEqual(['accepted', 'PIX_PONDERING']);
      expect(row.nextCheckAt).not.toBeNull();
    });
  });

  describe('shown only by the statement', () => {
    /** Stores a debit and matches it to the transfer. */
    const showDebit = async (id: string, nsu: number) => {
      await setup.run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           end_to_end_id, movement_id, balance_previous_cents, current_balance_cents, occurred_at,
           content_hash, content)
         SELECT account_id, $2, 'x', false, amount_cents, 'DEBIT', 'E-' || $2::bigint,
           'movement-' || $2::bigint, 0, 0, now(), 'h', '{}'
         FROM transfer WHERE id = $1`,
        id,
        nsu,
      );
      await setup.run(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         SELECT account_id, gen_random_uuid(), $2, expected_payment_id, amount_cents,
           'reference', '{}'
         FROM transfer WHERE id = $1`,
        id,
        nsu,
      );
      await setup.run(
        `INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents,
           reversed_cents, refunded_cents, unrefunded_cents, settlement)
         SELECT account_id, expected_payment_id, amount_cents, 0, 0, amount_cents, 'settled'
         FROM transfer WHERE id = $1
         ON CONFLICT DO NOTHING`,
        id,
      );
    };
    const sendWithoutResponse = async (
      endpoint: string,
      send: () => Promise<{ body: unknown }>,
    ): Promise<string> => {
      await fault(endpoint, 'error-before-effect');
      // Of a batch it is a list.
      const [{ id, operationId = id }] = [bodyOf(await send())].flat();
      return operationId;
    };
    const succeed = async (kind: unknown, id: string) => {
      const { onSucceeded } = kind as {
        onSucceeded: (tx: unknown, operation: unknown, acceptance: unknown) => Promise<void>;
      };
      const operation = await setup.operation(id);
      await setup.database.transaction((tx) => onSucceeded(tx, operation, { response: null }));
    };

    it('is effective when it is between accounts, and accepted when it is a Pix', async () => {
      const internalId = await sendWithoutResponse('transfers', () =>
        setup.send(internalTransfer()),
      );
      const pixId = await sendWithoutResponse('transfers', () => setup.send(manualTransfer()));
      await showDebit(internalId, 1);
      await showDebit(pixId, 2);
      await succeed(setup.transfers['kind'], internalId);
      await succeed(setup.transfers['kind'], pixId);
      await succeed(setup.transfers['kind'], internalId);
      expect(await rowOf(internalId)).toMatchObject({ state: 'effective', bankId: 'movement-1' });
      const pixRow = await rowOf(pixId);
      const expected = { state: 'accepted', endToEndId: 'E-2', bankId: 'movement-2' };
      expect(pixRow).toMatchObject({ ...expected, nextCheckAt: expect.any(Date) });
      const events = (await setup.events()).filter(({ transferId }) => transferId);
      expect(events).toEqual([{ type: 'transfer.effective', transferId: internalId }]);
    });

    it('is read with its debit and its reversals', async () => {
      const internalId = await sendWithoutResponse('transfers', () =>
        setup.send(internalTransfer()),
      );
      await showDebit(internalId, 7);
      const view = await setup.views.get(setup.accountId, internalId);
      expect(view).toMatchObject({ settlement: 'settled', nsu: 7n, reversals: [] });
      await showDebit(internalId, 8);
      await setup.run(`UPDATE match SET role = 'reversal' WHERE nsu = 8`);
      await setup.run(`UPDATE expected_payment_total SET settlement = 'reversed'`);
      expect(await setup.views.get(setup.accountId, internalId)).toMatchObject({
        settlement: 'reversed',
        nsu: 7n,
        reversals: [{ nsu: 8n, amount: 75n, endToEndId: 'E-8' }],
      });
    });

    it('leaves batch items requested that the statement does not show', async () => {
      const items = [batchItem(), batchItem()];
      const operationId = await sendWithoutResponse('batch', () => setup.sendBatch(items));
      const filters = { operationId };
      const page = { limit: 10, after: null };
      const list = async () => [...(await setup.views.list(setup.accountId, page, filters)).data];
      const [second, first] = await list();
      await showDebit(first?.id ?? '', 1);
      await succeed(setup.batches['kind'], operationId);
      const states = (await list()).map(({ id, state }) => [id, state]);
      expect(states).toEqual([
        [second?.id, 'requested'],
        [first?.id, 'effective'],
      ]);
    });

    it('claims a released look-up again when a late line shows the transfer', async () => {
      const { endToEndId } = bodyOf(await setup.lookUp());
      const id = await sendWithoutResponse('transfers', () => setup.send(keyTransfer(endToEndId)));
      const operation = await setup.operation(id);
      const { onRejected } = setup.transfers['kind'];
      await setup.database.transaction((tx) => onRejected(tx, operation));
      expect((await rowOf(id)).state).toBe('rejected');
      await showDebit(id, 1);
      await succeed(setup.transfers['kind'], id);
      expect((await rowOf(id)).state).toBe('accepted');
      const repeat = setup.send(keyTransfer(endToEndId));
      await expect(repeat).rejects.toMatchObject({ details: { reason: 'look_up_used' } });
    });
  });
});
