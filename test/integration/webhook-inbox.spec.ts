import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebhookInbox } from '../../src/webhooks/webhook-inbox.service.js';
import { WebhooksService } from '../../src/webhooks/webhooks.service.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { until } from '../support/until.js';

const payment = 'E00000000202605151236abcdefghijk';

describe('the bank’s webhooks', () => {
  let service: ServiceDatabase;
  let woken: unknown[];
  let inbox: WebhookInbox;
  let webhooks: WebhooksService;

  beforeEach(async () => {
    service = await serviceDatabase();
    woken = [];
    const jobQueue = { enqueue: (...one: unknown[]) => Promise.resolve(void woken.push(one)) } as never;
    inbox = new WebhookInbox(service.database, jobQueue);
    webhooks = new WebhooksService(service.database, jobQueue);
  });
  afterEach(() => service.drop());

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const keep = (body: unknown, eventType: string | null = 'CHARGE_PAID') =>
    inbox.keep(service.accountId, eventType, Buffer.from(JSON.stringify(body)));
  const kept = () => service.database.prisma.webhookEvent.findMany({ orderBy: { id: 'asc' } });
  const only = async () => {
    const [event, ...others] = await kept();
    expect(others).toEqual([]);
    if (!event) throw new Error('no webhook was kept');
    return event;
  };
  /** A poll of the statement that began so long after now has completed. */
  const syncCompletes = (secondsFromNow: number) =>
    run(
      `INSERT INTO statement_state (account_id, last_sync_started_at)
       VALUES ($1, clock_timestamp() + $2 * interval '1 second')
       ON CONFLICT (account_id) DO UPDATE SET last_sync_started_at = EXCLUDED.last_sync_started_at`,
      service.accountId,
      secondsFromNow,
    );
  const settle = () => webhooks.settle({ accountId: service.accountId });
  const showLine = (nsu: number, ids: { correlationId?: string; endToEndId?: string } = {}) =>
    run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id,
         end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, $2, 'x', true, 1000, 'CREDIT_PIX', $3, $4, 0, 0, now(), 'h', '{}')`,
      service.accountId,
      nsu,
      ids.correlationId ?? null,
      ids.endToEndId ?? null,
    );

  describe('when they arrive', () => {
    it('are one row and a few polls when a hundred copies come at once', async () => {
      await Promise.all(Array.from({ length: 100 }, () => keep({ nsu: 1 })));
      expect(await only()).toMatchObject({ copies: 100, state: 'pending', reference: '1' });
      expect(woken.length).toBeLessThanOrEqual(3);
      await keep({ nsu: 1 });
      expect(await only()).toMatchObject({ copies: 101 });
    });

    it('are all kept when their bodies, kinds or spellings differ', async () => {
      const bodies = Array.from({ length: 60 }, (_, index) => ({ nsu: index }));
      await Promise.all(bodies.map((body) => keep(body)));
      await keep({ nsu: 1 }, 'PIX_RECEIVED');
      await inbox.keep(service.accountId, 'CHARGE_PAID', Buffer.from('{ "nsu": 1 }'));
      expect(await kept()).toHaveLength(62);
    });

    it('are kept to the byte, whatever they are', async () => {
      const body = Buffer.from([0x00, 0xff, 0xfe, 0x7b, 0x22]);
      await inbox.keep(service.accountId, null, body);
      const event = await only();
      expect(Buffer.from(event.body)).toEqual(body);
      expect(event).toMatchObject({ state: 'quarantined', eventType: 'UNNAMED', reference: null });
    });

    it('are committed before their sender is answered, and the poll is woken after that', async () => {
      await keep({ nsu: 5 });
      expect(await only()).toMatchObject({ referenceKind: 'nsu', reference: '5' });
      expect(woken).toEqual([['syncStatement', { accountId: service.accountId }]]);
    });

    it('are refused when they cannot be kept, and taken when they come again', async () => {
      await run('ALTER TABLE webhook_event RENAME TO away');
      const refused = await Promise.allSettled([keep({ nsu: 1 }), keep({ nsu: 2 })]);
      expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await run('ALTER TABLE away RENAME TO webhook_event');
      await keep({ nsu: 1 });
      expect(await only()).toMatchObject({ copies: 1 });
    });

    it('of two accounts are two webhooks', async () => {
      await keep({ nsu: 1 });
      await inbox.keep(service.accountId + 1, 'CHARGE_PAID', Buffer.from('{"nsu":1}'));
      expect(await kept()).toHaveLength(2);
    });
  });

  describe('until a poll has answered them', () => {
    it('are told at the bank’s time, which the poll that answers them has read anew', async () => {
      const ahead = async () => {
        const { receivedAtBankTime, receivedAt } = await only();
        return receivedAtBankTime.getTime() - receivedAt.getTime();
      };
      const clockIs = (ms: number) => run(`UPDATE statement_state SET clock_offset_ms = $1`, ms);
      await syncCompletes(-60);
      await clockIs(60_000);
      await keep({ nsu: 1 });
      expect(await ahead()).toBe(60_000);
      await clockIs(86_400_000);
      await syncCompletes(1);
      await settle();
      expect(await ahead()).toBe(86_400_000);
      await clockIs(0);
      await settle();
      await keep({ nsu: 1 });
      expect(await ahead()).toBe(86_400_000);
    });

    it('are pending while no poll that began after their receipt has completed', async () => {
      await showLine(1);
      await keep({ nsu: 1 });
      await settle();
      await syncCompletes(-60);
      await settle();
      expect(await only()).toMatchObject({ state: 'pending', syncs: 0 });
      await syncCompletes(1);
      await settle();
      expect(await only()).toMatchObject({ state: 'settled', syncs: 0 });
      expect((await only()).settledAt).toBeInstanceOf(Date);
    });

    it.each([
      ['nsu', { nsu: 7 }],
      ['endToEndId', { endToEndId: payment }],
      ['correlationId', { correlationId: 'order-1' }],
    ])('are settled once their line shows, by its %s', async (_, body) => {
      await keep(body);
      await showLine(7, { endToEndId: payment, correlationId: 'order-1' });
      await syncCompletes(1);
      await settle();
      expect((await only()).state).toBe('settled');
    });

    it('are not settled by a line of another account', async () => {
      await keep({ nsu: 7 });
      service.accountId += 1;
      await showLine(7);
      service.accountId -= 1;
      await syncCompletes(1);
      await settle();
      expect((await only()).state).toBe('pending');
    });

    it('are settled by the first poll where they name no movement', async () => {
      await keep({ id: 'C-1' }, 'TRANSFER_INTERNAL_CREDITED');
      await syncCompletes(1);
      await settle();
      expect((await only()).state).toBe('settled');
    });

    it('stay quarantined where nobody knows their kind', async () => {
      await keep({ nsu: 1 }, 'MED_REQUESTED');
      await showLine(1);
      await syncCompletes(1);
      await settle();
      expect((await only()).state).toBe('quarantined');
    });

    it('are looked for again after 1, 2, 5, 15 and 60 seconds, and then let go', async () => {
      await keep({ nsu: 404 });
      woken.length = 0;
      let from = 1;
      for (const [polls, seconds] of [1, 2, 5, 15, 60].entries()) {
        await syncCompletes(from);
        const before = Date.now();
        await settle();
        const event = await only();
        expect(event).toMatchObject({ state: 'pending', syncs: polls + 1 });
        expect(woken.at(-1)).toEqual([
          'syncStatement',
          { accountId: service.accountId },
          { delayMs: seconds * 1_000 },
        ]);
        // The same poll again, or one that began before the pause was over, tells nothing new.
        await settle();
        expect((await only()).syncs).toBe(polls + 1);
        const nextMs = (event.nextSyncAt?.getTime() ?? 0) - seconds * 1_000;
        expect(nextMs).toBeGreaterThan(before - 100);
        expect(nextMs).toBeLessThan(Date.now() + 100);
        from = seconds + 1;
      }
      expect(woken).toHaveLength(5);
      await syncCompletes(from);
      await settle();
      expect(await only()).toMatchObject({ state: 'settled', nextSyncAt: null });
    });

    it('are looked for once by a poll that two settle at once', async () => {
      await keep({ nsu: 404 });
      await syncCompletes(1);
      const holder = await service.database.pool.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM webhook_event FOR UPDATE');
      const both = [settle(), settle()];
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until('both wait', async () => (await run(waiting)).rowCount === 2);
      await holder.query('COMMIT');
      holder.release();
      await Promise.all(both);
      expect(await only()).toMatchObject({ state: 'pending', syncs: 1 });
    });

    it('are settled at any of those times when the line shows at last', async () => {
      await keep({ nsu: 8 });
      await syncCompletes(1);
      await settle();
      await showLine(8);
      await syncCompletes(10);
      await settle();
      expect(await only()).toMatchObject({ state: 'settled', syncs: 1 });
    });

    it('wait each for themselves: the next look is the soonest of all', async () => {
      await keep({ nsu: 404 });
      await syncCompletes(1);
      await settle();
      await keep({ nsu: 405 });
      await syncCompletes(10);
      await settle();
      expect((await kept()).map(({ syncs }) => syncs)).toEqual([2, 1]);
      expect(woken.at(-1)).toMatchObject(['syncStatement', {}, { delayMs: 1_000 }]);
    });

    it('wake the poll again when their wake-up was lost', async () => {
      await keep({ nsu: 1 });
      woken.length = 0;
      await webhooks.enqueueWaiting();
      expect(woken).toEqual([]);
      await run(`UPDATE webhook_event SET received_at = received_at - interval '5 seconds'`);
      await webhooks.enqueueWaiting();
      expect(woken).toEqual([['syncStatement', { accountId: service.accountId }]]);
    });
  });
});
