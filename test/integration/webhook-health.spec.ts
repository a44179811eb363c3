import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/platform/clock.js';
import { BankTime } from '../../src/statement/bank-time.service.js';
import { SyncCadence } from '../../src/webhooks/sync-cadence.service.js';
import { WebhookHealth } from '../../src/webhooks/webhook-health.service.js';
import { WebhookHealthController } from '../../src/webhooks/webhook-health.controller.js';
import { Cadence } from '../../src/statement/cadence.service.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

interface Told {
  nsu: number;
  /** Seconds ago. */
  age?: number;
  type?: string;
  /** By what its webhook names it; null: none came. */
  by?: 'nsu' | 'end_to_end_id' | 'correlation_id' | null;
  eventType?: string;
  lagMs?: number;
  /** How long after the movement it was mirrored. */
  syncedAfterMs?: number;
}

describe('the health of the bank’s webhooks', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let health: WebhookHealth;
  let controller: WebhookHealthController;
  const offsetMs = 3_600_000;
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  beforeAll(async () => {
    service = await serviceDatabase();
    const { database } = service;
    const bank = { profile: { visibilityBoundMs: 10_000 } } as never;
    health = new WebhookHealth(database, bank, new BankTime(database, new Clock()));
    controller = new WebhookHealthController(health);
  });
  beforeEach(async () => {
    ({ id: accountId } = await service.database.prisma.bankAccount.create({
      data: { slug: randomUUID(), goLiveAt: new Date(0), createdAt: daysAgo(30) },
    }));
    // The bank's clock is an hour ahead of ours.
    await run(
      `INSERT INTO statement_state (account_id, clock_offset_ms, first_clock_offset_ms) VALUES ($1, $2, $2)`,
      offsetMs,
    );
  });
  afterAll(() => service.drop());

  const run = (sql: string, ...values: unknown[]) =>
    service.database.pool.query(sql, [accountId, ...values]);

  async function happen(...lines: Told[]) {
    for (const line of lines) {
      const { nsu, age = 600, type = 'CREDIT_PIX', by = 'nsu', lagMs = 200 } = line;
      const ids = { nsu: String(nsu), end_to_end_id: `E${nsu}`, correlation_id: `c-${nsu}` };
      await run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id,
           end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at, recorded_at, content_hash, content)
         SELECT $1, $2, 'x', true, 1050, $3, $4, $5, 0, 0, at + $7 * interval '1 millisecond',
                at + $8 * interval '1 millisecond', 'h', '{}'
         FROM (SELECT now() - $6 * interval '1 second' AS at) happened`,
        ...[nsu, type, ids.correlation_id, ids.end_to_end_id, age, offsetMs],
        line.syncedAfterMs ?? 1_000,
      );
      if (by === null) continue;
      await run(
        `INSERT INTO webhook_event (account_id, id, event_type, body_hash, body, state, reference_kind, reference, received_at, received_at_bank_time)
         SELECT account_id, gen_random_uuid(), $3, $4, '', 'settled', $5, $6,
                occurred_at + ($7::int - $8::int) * interval '1 millisecond', occurred_at + $7 * interval '1 millisecond'
         FROM statement_line WHERE account_id = $1 AND nsu = $2`,
        ...[nsu, line.eventType ?? 'PIX_RECEIVED', `hash ${nsu}`, by, ids[by], lagMs, offsetMs],
      );
    }
  }
  const caller = () => ({ accountId }) as never;
  const measure = (query = {}) => controller.measure(caller(), { query } as never);
  const unnotified = (query = {}) => controller.unnotified(caller(), { query } as never);

  it('is measured against the statement: told, lost, and too young to say', async () => {
    await happen(
      { nsu: 1, lagMs: 100 },
      { nsu: 2, by: 'end_to_end_id', lagMs: 300 },
      {
        nsu: 3,
        by: 'correlation_id',
        eventType: 'CHARGE_PAID',
        type: 'CREDIT_BANKSLIP',
        lagMs: 900,
      },
      { nsu: 4, by: null },
      { nsu: 5, by: null, age: 30 },
      { nsu: 6, by: null, type: 'DEBIT_TRANSFER_INTERNAL' },
      { nsu: 7, age: 90_000 },
    );
    const found = await measure();
    expect(found).toMatchObject({ expected: 4, notified: 3, lost: 1, waiting: 1, lossRate: 0.25 });
    expect(found.lag).toEqual({ p50: 300, p99: 900, max: 900 });
    expect(found.transactions.map(({ type, expected, lost }) => [type, expected, lost])).toEqual([
      ['CREDIT_BANKSLIP', 1, 0],
      ['CREDIT_PIX', 3, 1],
    ]);
  });

  it('counts what came by its kind, the copies apart', async () => {
    await happen({ nsu: 1 }, { nsu: 2 }, { nsu: 3, eventType: 'MED_REQUESTED' });
    await run(`UPDATE webhook_event SET copies = 4 WHERE account_id = $1 AND reference = '1'`);
    await run(
      `UPDATE webhook_event SET state = 'quarantined' WHERE account_id = $1 AND reference = '3'`,
    );
    expect((await measure()).events).toEqual([
      { eventType: 'MED_REQUESTED', received: 1, copies: 0, quarantined: 1 },
      { eventType: 'PIX_RECEIVED', received: 2, copies: 3, quarantined: 0 },
    ]);
  });

  it('takes the first of several webhooks for the lag', async () => {
    await happen({ nsu: 1, lagMs: 500 });
    await run(
      `INSERT INTO webhook_event (account_id, id, event_type, body_hash, body, state, reference_kind, reference, received_at, received_at_bank_time)
       SELECT account_id, gen_random_uuid(), 'CHARGE_PAID', 'b', '', 'settled', 'end_to_end_id', 'E1',
              received_at + interval '1 minute', received_at_bank_time + interval '1 minute' FROM webhook_event WHERE account_id = $1`,
    );
    expect(await measure()).toMatchObject({ expected: 1, notified: 1, lag: { max: 500 } });
  });

  it('lists what was never told, newest first, page by page', async () => {
    await happen(
      { nsu: 1, by: null },
      { nsu: 2 },
      { nsu: 3, by: null, age: 700 },
      { nsu: 4, by: null, age: 10 },
      // That the charge was voided tells nothing of its payment; nor does a payment from before.
      { nsu: 5, by: 'correlation_id', eventType: 'CHARGE_VOIDED', type: 'CREDIT_BANKSLIP' },
      { nsu: 6, by: 'correlation_id', eventType: 'CHARGE_PAID', lagMs: -400_000 },
    );
    const first = await unnotified({ limit: 2 });
    expect(first.data.map(({ nsu }) => nsu)).toEqual([6n, 5n]);
    const rest = await unnotified({ limit: 2, cursor: first.next });
    expect(rest).toMatchObject({ data: [{ nsu: 3n }, { nsu: 1n, amount: 1050n }], next: null });
  });

  it('goes on by what the bank’s clock was, after that clock has jumped', async () => {
    await happen({ nsu: 1 }, { nsu: 2, by: 'correlation_id', eventType: 'CHARGE_PAID' });
    const now = new Date(Date.now() + offsetMs);
    const period = {
      from: new Date(now.getTime() - 86_400_000).toISOString(),
      to: now.toISOString(),
    };
    const before = await measure(period);
    expect(before).toMatchObject({ expected: 2, notified: 2, lag: { max: 200 } });
    await run(
      `UPDATE statement_state SET clock_offset_ms = clock_offset_ms + 40 * 86400000::bigint WHERE account_id = $1`,
    );
    expect(await measure(period)).toEqual(before);
  });

  it('expects nothing of lines from before the account was kept', async () => {
    await happen({ nsu: 1, by: null }, { nsu: 2, by: null, age: 60 });
    await run(`UPDATE bank_account SET created_at = now() - interval '300 seconds' WHERE id = $1`);
    expect(await measure()).toMatchObject({ expected: 0, lost: 0, waiting: 1, lossRate: null });
    expect((await unnotified()).data).toEqual([]);
  });

  it.each([
    [{ from: 'yesterday' }, '$.from'],
    [{ to: '2026-02-30' }, '$.to'],
    [{ from: '2026-03-02', to: '2026-03-01' }, '$.from'],
    [{ from: '2026-01-01', to: '2026-04-01' }, '$.from'],
  ])('cannot be asked for %j', async (query, path) => {
    await expect(measure(query)).rejects.toMatchObject({
      code: 'validation_failed',
      details: { errors: { [path]: [expect.any(String)] } },
    });
  });

  describe('sets the pace of polls', () => {
    const adapt = async () => {
      const { database } = service;
      const accounts = { list: () => Promise.resolve([{ id: accountId }]) } as never;
      const cadence = new Cadence(database, {} as never);
      const settings = { syncIntervalMs: 60_000 } as never;
      await new SyncCadence(accounts, health, cadence, settings).adapt();
      const { syncIntervalMs } = await database.prisma.statementState.findUniqueOrThrow({
        where: { accountId },
      });
      return syncIntervalMs;
    };
    const lines = (count: number, line: Partial<Told> = {}) =>
      Array.from({ length: count }, (_, index) => ({ nsu: index + 1, age: 300 + index, ...line }));

    it('seldom where all come, and often as soon as they are lost', async () => {
      await happen(...lines(20));
      expect(await adapt()).toBe(120_000);
      await happen({ nsu: 21, by: null });
      expect(await adapt()).toBe(15_000);
    });

    it('as the settings say where too few came to tell', async () => {
      await run(`UPDATE statement_state SET sync_interval_ms = 1000 WHERE account_id = $1`);
      await happen(...lines(5));
      expect(await adapt()).toBeNull();
    });

    it('as ever where a burst’s first webhook wakes the poll that mirrors the lines of the others', async () => {
      await happen(...lines(10, { syncedAfterMs: 100, lagMs: 9_000 }));
      expect(await adapt()).toBeNull();
    });

    it('often where polls find the lines well before their webhooks come', async () => {
      await happen(...lines(10, { syncedAfterMs: 100, lagMs: 11_000 }));
      expect(await adapt()).toBe(15_000);
    });

    it('by the last hour alone', async () => {
      await happen(...lines(5, { by: null, age: 4_000 }));
      expect(await adapt()).toBeNull();
    });
  });
});
