import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadSettings } from '../../../src/platform/settings/config.js';
import type { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';
import { addReportedLine, recordSyncBegun, type LineIds } from '../../support/webhook-lines.js';
import { webhookInboxOf } from '../../support/webhooks-application.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const payment = 'E00000000202605151236abcdefghijk';
const waitingForLock = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

describe('webhooks of the bank', () => {
  let service: ServiceDatabase;
  let enqueued: unknown[];
  let inbox: WebhookInbox;
  const queueOf = recordedQueues((...job) => enqueued.push(job));

  beforeEach(async () => {
    service = await serviceDatabase();
    enqueued = [];
    inbox = inboxOf(1_000);
  });
  afterEach(() => service.drop());

  const inboxOf = (limit: number) => {
    const settings = loadSettings({ UNPROCESSED_WEBHOOKS_PER_ACCOUNT: String(limit) });
    return webhookInboxOf(service.database, settings, queueOf);
  };
  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const receive = (body: unknown, eventType: string | null = 'CHARGE_PAID') =>
    inbox.store(service.accountId, eventType, Buffer.from(JSON.stringify(body)));
  const storedEvents = () =>
    service.database.prisma.webhookEvent.findMany({ orderBy: { receivedAt: 'asc' } });
  const findOnly = async () => {
    const [event, ...others] = await storedEvents();
    expect(others).toEqual([]);
    if (!event) throw new Error('no webhook was stored');
    return event;
  };
  const recordSync = (secondsFromNow: number) => recordSyncBegun(service, secondsFromNow);
  const processWebhooks = () => inbox.process({ accountId: service.accountId });
  const addLine = (nsu: number, ids: LineIds = {}, inSeconds = 0) =>
    addReportedLine(service, { nsu, ...ids, inSeconds });

  describe('when received', () => {
    it('stores one row and enqueues few syncs for a hundred concurrent copies', async () => {
      await Promise.all(Array.from({ length: 100 }, () => receive({ nsu: 1 })));
      expect(await findOnly()).toMatchObject({ copies: 100, state: 'pending', reference: '1' });
      expect(enqueued.length).toBeLessThanOrEqual(3);
      await receive({ nsu: 1 });
      expect(await findOnly()).toMatchObject({ copies: 101 });
    });

    it('stores webhooks separately when their bodies, event types or raw bytes differ', async () => {
      const bodies = Array.from({ length: 60 }, (_, index) => ({ nsu: index }));
      await Promise.all(bodies.map((body) => receive(body)));
      await receive({ nsu: 1 }, 'PIX_RECEIVED');
      await inbox.store(service.accountId, 'CHARGE_PAID', Buffer.from('{ "nsu": 1 }'));
      expect(await storedEvents()).toHaveLength(62);
    });

    it('stores the raw bytes of any body', async () => {
      const body = Buffer.from([0x00, 0xff, 0xfe, 0x7b, 0x22]);
      await inbox.store(service.accountId, null, body);
      const event = await findOnly();
      expect(Buffer.from(event.body!)).toEqual(body);
      expect(event).toMatchObject({ state: 'quarantined', eventType: 'UNNAMED', reference: null });
    });

    it('commits a webhook before it returns, then enqueues one sync', async () => {
      await receive({ nsu: 5 });
      expect(await findOnly()).toMatchObject({ referenceKind: 'nsu', reference: '5' });
      expect(enqueued).toEqual([['syncStatement', { accountId: service.accountId }]]);
    });

    it('enqueues one sync for the webhooks of a moment, and another after the last of them', async () => {
      await Promise.all([1, 2, 3, 4, 5].map((nsu) => receive({ nsu })));
      const account = { accountId: service.accountId };
      await until('a job follows the last webhook', () => enqueued.length > 1);
      expect(enqueued).toEqual([
        ['syncStatement', account],
        ['syncStatement', account, { delayMs: 0 }],
      ]);
    });

    it('enqueues no other sync when the first one has stored their lines', async () => {
      const account = { accountId: service.accountId };
      await recordSync(0);
      // Stored after the receipt of the webhooks.
      for (const nsu of [1, 2]) await addLine(nsu, {}, 60);
      for (const nsu of [1, 2]) await receive({ nsu });
      await sleep(200);
      expect(enqueued).toEqual([['syncStatement', account]]);
    });

    it('enqueues another sync for webhooks that came after the last one had begun, and not for others', async () => {
      const sync = ['syncStatement', { accountId: service.accountId }, { delayMs: 0 }];
      await receive({ nsu: 1 });
      await recordSync(-1);
      enqueued = [];
      await processWebhooks();
      expect(enqueued).toEqual([sync]);
      // PostgreSQL's clock was set back: no sync begins after the receipt for an hour.
      await run(`UPDATE webhook_event SET received_at = received_at + interval '1 hour'`);
      enqueued = [];
      await processWebhooks();
      expect(enqueued).not.toContainEqual(sync);
      await run(`UPDATE webhook_event SET received_at = received_at - interval '1 hour'`);
      await recordSync(1);
      await addLine(1);
      enqueued = [];
      await processWebhooks();
      expect(enqueued).toEqual([]);
      expect(await findOnly()).toMatchObject({ state: 'processed' });
    });

    it("compares a webhook whose line is stored already, after PostgreSQL's clock was set back", async () => {
      await receive({ nsu: 1 });
      await recordSync(3_600);
      await processWebhooks();
      await addLine(2);
      await receive({ nsu: 2 });
      await recordSync(1);
      await processWebhooks();
      expect((await storedEvents()).map(({ state }) => state)).toEqual(['processed', 'processed']);
    });

    it('enqueues another sync although the lines cannot be compared', async () => {
      await receive({ nsu: 1 });
      await recordSync(-1);
      await addLine(2);
      await run('ALTER TABLE unnotified_line RENAME TO unavailable');
      enqueued = [];
      await expect(processWebhooks()).rejects.toThrow();
      await run('ALTER TABLE unavailable RENAME TO unnotified_line');
      const sync = ['syncStatement', { accountId: service.accountId }, { delayMs: 0 }];
      expect(enqueued).toEqual([sync]);
    });

    it('enqueues the syncs of accounts apart', async () => {
      const other = service.accountId + 1;
      await receive({ nsu: 1 });
      await inbox.store(other, 'CHARGE_PAID', Buffer.from('{"nsu":1}'));
      expect(enqueued).toContainEqual(['syncStatement', { accountId: other }]);
    });

    it('rejects webhooks that cannot be stored, and accepts them when they are sent again', async () => {
      await run('ALTER TABLE webhook_event RENAME TO unavailable');
      const results = await Promise.allSettled([receive({ nsu: 1 }), receive({ nsu: 2 })]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await run('ALTER TABLE unavailable RENAME TO webhook_event');
      await receive({ nsu: 1 });
      expect(await findOnly()).toMatchObject({ copies: 1 });
    });

    it('refuses a webhook of an account that has too many pending ones, until they are processed', async () => {
      const limited = () => inboxOf(3);
      const store = (nsu: number, inboxOfProcess: WebhookInbox) =>
        inboxOfProcess.store(
          service.accountId,
          'CHARGE_PAID',
          Buffer.from(JSON.stringify({ nsu })),
        );
      const process = limited();
      for (const nsu of [1, 2, 3]) await store(nsu, process);
      const refusal = {
        code: 'rate_limited',
        details: { reason: 'unprocessed_webhook_limit', headers: { 'Retry-After': '5' } },
      };
      await expect(store(4, process)).rejects.toMatchObject(refusal);
      await expect(store(4, limited())).rejects.toMatchObject(refusal);
      // Nothing processes a quarantined webhook by itself, so it takes nothing from the others.
      await process.store(service.accountId, 'UNHEARD_OF', Buffer.from('{}'));
      await process.store(service.accountId + 1, 'CHARGE_PAID', Buffer.from('{"nsu":1}'));
      expect(await storedEvents()).toHaveLength(5);
      await recordSync(1);
      for (const nsu of [1, 2, 3]) await addLine(nsu);
      await processWebhooks();
      await store(4, limited());
      expect(await storedEvents()).toHaveLength(6);
    });

    it('counts notices that no module has recorded as pending ones', async () => {
      const store = (copy: number) =>
        inboxOf(2).store(service.accountId, 'MED_REQUESTED', Buffer.from(`{"copy":${copy}}`));
      for (const copy of [1, 2]) await store(copy);
      await expect(store(3)).rejects.toMatchObject({ code: 'rate_limited' });
      await run(`UPDATE webhook_event SET state = 'processed', processed_at = now()`);
      await store(3);
      expect(await storedEvents()).toHaveLength(3);
    });

    it('stores the same webhook once for each account', async () => {
      await receive({ nsu: 1 });
      await inbox.store(service.accountId + 1, 'CHARGE_PAID', Buffer.from('{"nsu":1}'));
      expect(await storedEvents()).toHaveLength(2);
    });
  });

  describe('until they are processed', () => {
    it('have their receipt in the bank’s time, by the clock offset of the first sync after it', async () => {
      const bankTimeLeadMs = async () => {
        const { receivedAtBankTime, receivedAt } = await findOnly();
        return receivedAtBankTime.getTime() - receivedAt.getTime();
      };
      const setClockOffset = (ms: number) =>
        run(`UPDATE statement_state SET clock_offset_ms = $1, clock_offset_max_ms = $1`, ms);
      await recordSync(-60);
      await setClockOffset(60_000);
      await receive({ nsu: 1 });
      expect(await bankTimeLeadMs()).toBe(60_000);
      await setClockOffset(86_400_000);
      await recordSync(1);
      await processWebhooks();
      expect(await bankTimeLeadMs()).toBe(86_400_000);
      await setClockOffset(0);
      await processWebhooks();
      await receive({ nsu: 1 });
      expect(await bankTimeLeadMs()).toBe(86_400_000);
    });

    it('stay pending until a sync that began after their receipt has completed', async () => {
      await addLine(1);
      await receive({ nsu: 1 });
      await processWebhooks();
      await recordSync(-60);
      await processWebhooks();
      expect(await findOnly()).toMatchObject({ state: 'pending' });
      await recordSync(1);
      await processWebhooks();
      expect(await findOnly()).toMatchObject({ state: 'processed' });
      expect((await findOnly()).processedAt).toBeInstanceOf(Date);
    });

    it.each([
      ['nsu', { nsu: 7 }],
      ['endToEndId', { endToEndId: payment }],
      ['correlationId', { correlationId: 'order-1' }],
    ])('are processed once the statement shows their %s', async (_, body) => {
      await receive(body);
      await addLine(7, { endToEndId: payment, correlationId: 'order-1' });
      await recordSync(1);
      await processWebhooks();
      expect((await findOnly()).state).toBe('processed');
    });

    it('are not processed by a line of another account', async () => {
      await receive({ nsu: 7 });
      service.accountId += 1;
      await addLine(7);
      service.accountId -= 1;
      await recordSync(1);
      await processWebhooks();
      expect((await findOnly()).state).toBe('pending');
    });

    it('are processed by the first sync when they have no reference', async () => {
      await receive({ id: 'C-1' }, 'TRANSFER_INTERNAL_CREDITED');
      await recordSync(1);
      await processWebhooks();
      expect((await findOnly()).state).toBe('processed');
    });

    it('stay quarantined when their event type is unknown', async () => {
      await receive({ nsu: 1 }, 'SOMETHING_NEW');
      await addLine(1);
      await recordSync(1);
      await processWebhooks();
      expect((await findOnly()).state).toBe('quarantined');
    });

    /** Moves the receipts of all webhooks, and what was compared, to an earlier time. */
    const letPass = async (seconds: number) => {
      await run(
        `UPDATE webhook_event SET received_at = received_at - $1 * interval '1 second'`,
        seconds,
      );
      await run(
        `UPDATE webhook_health_state
         SET compared_receipt = compared_receipt - $1 * interval '1 second'`,
        seconds,
      );
    };
    const repeats = () => enqueued.filter((job) => (job as unknown[]).length === 3);
    const repeatAfter = (delayMs: number) => [
      'syncStatement',
      { accountId: service.accountId },
      { delayMs },
    ];

    it('repeat the sync after 1, 2, 5, 15 and 60 seconds, and are processed after that', async () => {
      await receive({ nsu: 404 });
      for (const seconds of [1, 2, 5, 15, 60]) {
        enqueued.length = 0;
        await recordSync(0.05);
        await processWebhooks();
        expect(enqueued).toEqual([repeatAfter(seconds * 1_000)]);
        // The same sync does not count again.
        await processWebhooks();
        expect(enqueued).toEqual(Array(2).fill(repeatAfter(seconds * 1_000)));
        expect(await findOnly()).toMatchObject({ state: 'pending' });
        await letPass(seconds);
      }
      enqueued.length = 0;
      await recordSync(0.5);
      await processWebhooks();
      expect(await findOnly()).toMatchObject({ state: 'processed' });
      expect(enqueued).toEqual([]);
    });

    it('are not written while they wait', async () => {
      await receive({ nsu: 404 });
      const version = async () =>
        (await run('SELECT xmin::text, ctid::text FROM webhook_event')).rows as unknown[];
      const stored = await version();
      for (let second = 0; second < 3; second += 1) {
        await recordSync(1 + second);
        await addLine(second);
        await processWebhooks();
      }
      expect(await version()).toEqual(stored);
    });

    it('are processed once when two jobs process webhooks at the same time', async () => {
      for (const nsu of [1, 2]) await receive({ nsu });
      await addLine(1);
      await recordSync(1);
      const lockHolder = await service.database.pool.connect();
      await lockHolder.query('BEGIN');
      await lockHolder.query('SELECT FROM webhook_event FOR UPDATE');
      const both = [processWebhooks(), processWebhooks()];
      await until(
        'both process-webhooks jobs wait for the lock',
        async () => (await run(waitingForLock)).rowCount === 2,
      );
      // A copy came in between.
      await lockHolder.query('UPDATE webhook_event SET copies = copies + 1');
      await lockHolder.query('COMMIT');
      lockHolder.release();
      await Promise.all(both);
      const states = (await storedEvents()).map(({ state, copies }) => [state, copies]);
      expect(states).toEqual([
        ['processed', 2],
        ['pending', 2],
      ]);
      const { rows } = await run(`SELECT value FROM account_counter WHERE kind = 'webhooks'`);
      expect(rows).toEqual([{ value: '2' }]);
    });

    it('are locked in the order in which their copies are counted', async () => {
      for (const id of [1, 2]) await receive({ id });
      const [first, second] = await service.database.prisma.webhookEvent.findMany({
        orderBy: { bodyHash: 'asc' },
      });
      // By their receipt, the order is the other one.
      await run(
        `UPDATE webhook_event SET received_at = received_at - interval '1 second'
         WHERE body_hash = $1`,
        second?.bodyHash,
      );
      await recordSync(1);
      const lockHolder = await service.database.pool.connect();
      await lockHolder.query('BEGIN');
      const lock = 'SELECT FROM webhook_event WHERE body_hash = $1 FOR UPDATE';
      await lockHolder.query(lock, [first?.bodyHash]);
      const processed = processWebhooks();
      await until(
        'the job waits for the first row',
        async () => (await run(waitingForLock)).rowCount === 1,
      );
      expect((await lockHolder.query(`${lock} NOWAIT`, [second?.bodyHash])).rowCount).toBe(1);
      await lockHolder.query('COMMIT');
      lockHolder.release();
      await processed;
      expect((await storedEvents()).map(({ state }) => state)).toEqual(['processed', 'processed']);
    });

    it.each([
      ['nsu', { nsu: 8 }],
      ['endToEndId', { endToEndId: payment }],
      ['correlationId', { correlationId: 'order-1' }],
    ])('are processed by a later line that shows their %s', async (_, body) => {
      await receive(body);
      await receive({ nsu: 404 });
      await recordSync(1);
      await processWebhooks();
      await addLine(8, { endToEndId: payment, correlationId: 'order-1' });
      // No other sync than the first: the line counts as shown by one that is under way.
      await processWebhooks();
      expect((await storedEvents()).map(({ state }) => state)).toEqual(['processed', 'pending']);
    });

    it('are compared although they are committed after the comparison', async () => {
      await addLine(1);
      await receive({ nsu: 404 });
      await recordSync(0.2);
      await processWebhooks();
      await receive({ nsu: 1 });
      await recordSync(0.3);
      await processWebhooks();
      expect((await storedEvents()).map(({ state }) => state)).toEqual(['pending', 'processed']);
    });

    it('have separate delays: the next sync follows the shortest', async () => {
      await receive({ nsu: 404 });
      await recordSync(0.05);
      await processWebhooks();
      await letPass(10);
      await receive({ nsu: 405 });
      await recordSync(0.05);
      await processWebhooks();
      expect(repeats()).toEqual([repeatAfter(1_000), repeatAfter(1_000)]);
      await run(`UPDATE webhook_event SET state = 'processed' WHERE reference = '405'`);
      await processWebhooks();
      expect(repeats().at(-1)).toEqual(repeatAfter(15_000));
    });

    it('repeat no sync at once when the one that was under way has stored their line', async () => {
      await addLine(7, { correlationId: 'order-1' });
      await recordSync(0);
      await receive({ correlationId: 'order-1' });
      await receive({ nsu: 8 });
      await until('a job follows the last webhook', () => enqueued.length > 1);
      enqueued.length = 0;
      // The line of an earlier payment does not show the one that the first webhook reports.
      await addLine(8);
      await processWebhooks();
      expect(repeats()).toEqual([repeatAfter(0)]);
      enqueued.length = 0;
      await addLine(9, { correlationId: 'order-1' });
      await processWebhooks();
      expect(repeats()).toEqual([]);
      expect((await storedEvents()).map(({ state }) => state)).toEqual(['pending', 'pending']);
      await run(`UPDATE webhook_event SET received_at = received_at - interval '2 seconds'`);
      await recordSync(-3);
      await inbox.enqueueSyncs();
      expect(enqueued).toContainEqual(['syncStatement', { accountId: service.accountId }]);
    });

    it('are processed in parts after a burst', async () => {
      inbox = inboxOf(0);
      await Promise.all(Array.from({ length: 1_100 }, (_, id) => receive({ id })));
      await recordSync(1);
      enqueued.length = 0;
      const countPending = () =>
        service.database.prisma.webhookEvent.count({ where: { state: 'pending' } });
      await processWebhooks();
      expect(await countPending()).toBe(100);
      const rest = ['processWebhooks', { accountId: service.accountId }, { delayMs: 250 }];
      expect(enqueued).toContainEqual(rest);
      enqueued.length = 0;
      await processWebhooks();
      expect(await countPending()).toBe(0);
      expect(enqueued).not.toContainEqual(rest);
    });

    it('enqueue a sync again when the queue lost the job', async () => {
      await receive({ nsu: 1 });
      enqueued.length = 0;
      await inbox.enqueueSyncs();
      expect(enqueued).toEqual([]);
      await run(`UPDATE webhook_event SET received_at = received_at - interval '5 seconds'`);
      await inbox.enqueueSyncs();
      expect(enqueued).toEqual([['syncStatement', { accountId: service.accountId }]]);
    });

    it('enqueue a repeated sync again when the queue lost its job, and no other one', async () => {
      await receive({ nsu: 404 });
      await recordSync(0.05);
      await processWebhooks();
      enqueued.length = 0;
      await inbox.enqueueSyncs();
      expect(enqueued).toEqual([]);
      await letPass(10);
      await run(
        `UPDATE statement_state SET last_sync_started_at = last_sync_started_at - interval '5 s'`,
      );
      await inbox.enqueueSyncs();
      expect(enqueued).toEqual([['syncStatement', { accountId: service.accountId }]]);
      enqueued.length = 0;
      // The next repeat is due after 23 seconds.
      await recordSync(0);
      await inbox.enqueueSyncs();
      expect(enqueued).toEqual([]);
      await letPass(80);
      await inbox.enqueueSyncs();
      expect(enqueued).toHaveLength(1);
    });
  });
});
