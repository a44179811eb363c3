import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BankTime } from '../../../src/statement/lines/bank-time.service.js';
import {
  compareNewLines,
  processWebhooks,
} from '../../../src/webhooks/health/webhook-processing.service.js';
import { listActiveAccounts } from '../../../src/webhooks/health/health.queries.js';
import { WebhookHealth } from '../../../src/webhooks/health/webhook-health.service.js';
import { WebhookHealthController } from '../../../src/webhooks/health/webhook-health.controller.js';
import { bankProfileOf } from '../../../src/bank/profiles.js';
import { Recomputation } from '../../../src/reconciliation/runs/recomputation.service.js';
import {
  listHealthCountDifferences,
  listReportDifferences,
} from '../../../src/webhooks/health/health-recomputation.queries.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

interface LineFixture {
  nsu: number;
  /** How many seconds ago the movement occurred. */
  age?: number;
  type?: string;
  /** The id by which the webhook references the line; null when no webhook came. */
  referencedBy?: 'nsu' | 'end_to_end_id' | 'correlation_id' | null;
  eventType?: string;
  lagMs?: number;
  /** How long after the movement the line was recorded. */
  syncedAfterMs?: number;
}

describe('webhook health', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let health: WebhookHealth;
  let controller: WebhookHealthController;
  const offsetMs = 3_600_000;
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  beforeAll(async () => {
    service = await serviceDatabase();
    const { database } = service;
    const bank = { profile: bankProfileOf({ profile: 'sandbox' }) } as never;
    const settings = { syncIntervalMs: 60_000 } as never;
    const bankTime = new BankTime(database);
    health = new WebhookHealth(database, bank, bankTime, settings, {} as never);
    controller = new WebhookHealthController(health);
  });
  beforeEach(async () => {
    ({ id: accountId } = await service.database.prisma.bankAccount.create({
      data: { slug: randomUUID(), goLiveAt: new Date(0), createdAt: daysAgo(30) },
    }));
    // The bank's clock is an hour ahead of the service's clock.
    await run(
      `INSERT INTO statement_state (account_id, clock_offset_ms, first_clock_offset_ms)
       VALUES ($1, $2, $2)`,
      offsetMs,
    );
  });
  afterAll(() => service.drop());

  const run = (sql: string, ...values: unknown[]) =>
    service.database.pool.query(sql, [accountId, ...values]);

  async function addLines(...lines: LineFixture[]) {
    for (const line of lines) {
      const { nsu, age = 600, type = 'CREDIT_PIX', referencedBy = 'nsu', lagMs = 200 } = line;
      const ids = { nsu: String(nsu), end_to_end_id: `E${nsu}`, correlation_id: `c-${nsu}` };
      await run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           correlation_id, end_to_end_id, balance_previous_cents, current_balance_cents,
           occurred_at, recorded_at, content_hash, content)
         SELECT $1, $2, 'x', true, 1050, $3, $4, $5, 0, 0,
                movement.at + $7 * interval '1 millisecond',
                movement.at + $8 * interval '1 millisecond', 'h', '{}'
         FROM (SELECT now() - $6 * interval '1 second' AS at) movement`,
        ...[nsu, type, ids.correlation_id, ids.end_to_end_id, age, offsetMs],
        line.syncedAfterMs ?? 1_000,
      );
      if (referencedBy === null) continue;
      await run(
        `INSERT INTO webhook_event (account_id, event_type, body_hash, body, state,
           reference_kind, reference, received_at, received_at_bank_time)
         SELECT account_id, $3, $4, '', 'pending', $5, $6,
                occurred_at + ($7::int - $8::int) * interval '1 millisecond',
                occurred_at + $7 * interval '1 millisecond'
         FROM statement_line WHERE account_id = $1 AND nsu = $2`,
        ...[
          nsu,
          line.eventType ?? 'PIX_RECEIVED',
          `hash ${nsu}`,
          referencedBy,
          ids[referencedBy],
          lagMs,
          offsetMs,
        ],
      );
      await run(`UPDATE webhook_event SET state = 'processed' WHERE account_id = $1`);
    }
  }
  const measure = async (query = {}) => {
    await compareNewLines(service.database, accountId, () => undefined);
    return controller.measure({ accountId, query } as never);
  };
  const listUnnotified = async (query = {}) => {
    await compareNewLines(service.database, accountId, () => undefined);
    const { data, next } = await controller.listUnnotified({ accountId, query } as never);
    return { data: [...data], next };
  };

  it('counts notified, lost and waiting lines of the statement', async () => {
    await addLines(
      { nsu: 1, lagMs: 100 },
      { nsu: 2, referencedBy: 'end_to_end_id', lagMs: 300 },
      {
        nsu: 3,
        referencedBy: 'correlation_id',
        eventType: 'CHARGE_PAID',
        type: 'CREDIT_BANKSLIP',
        lagMs: 900,
      },
      { nsu: 4, referencedBy: null },
      { nsu: 5, referencedBy: null, age: 30 },
      { nsu: 6, referencedBy: null, type: 'DEBIT_TRANSFER_INTERNAL' },
      { nsu: 7, age: 90_000 },
    );
    const measured = await measure();
    expect(measured).toMatchObject({
      expected: 4,
      notified: 3,
      lost: 1,
      waiting: 1,
      lossRate: 0.25,
    });
    expect(measured.lag).toEqual({ p50: 300, p99: 900, max: 900 });
    expect(measured.transactions.map(({ type, expected, lost }) => [type, expected, lost])).toEqual(
      [
        ['CREDIT_BANKSLIP', 1, 0],
        ['CREDIT_PIX', 3, 1],
      ],
    );
  });

  it('counts webhooks by event type, and copies separately', async () => {
    await addLines({ nsu: 1 }, { nsu: 2 }, { nsu: 3, eventType: 'OTHER_EVENT' });
    await run(`UPDATE webhook_event SET copies = 4 WHERE account_id = $1 AND reference = '1'`);
    await run(
      `UPDATE webhook_event SET state = 'quarantined' WHERE account_id = $1 AND reference = '3'`,
    );
    expect((await measure()).events).toEqual([
      { eventType: 'OTHER_EVENT', received: 1, copies: 0, quarantined: 1 },
      { eventType: 'PIX_RECEIVED', received: 2, copies: 3, quarantined: 0 },
    ]);
  });

  it('measures the lag to the first of several webhooks', async () => {
    await addLines({ nsu: 1, lagMs: 500 });
    await run(
      `INSERT INTO webhook_event (account_id, event_type, body_hash, body, state,
         reference_kind, reference, received_at, received_at_bank_time)
       SELECT account_id, 'CHARGE_PAID', 'b', '', 'processed', 'end_to_end_id',
              'E1', received_at + interval '1 minute', received_at_bank_time + interval '1 minute'
       FROM webhook_event WHERE account_id = $1`,
    );
    expect(await measure()).toMatchObject({ expected: 1, notified: 1, lag: { max: 500 } });
  });

  it('measures a code with thousands of payments, and misses those after its last webhook', async () => {
    // A payment every four seconds, each with a webhook at once, but for the last hundred.
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         correlation_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content)
       SELECT $1, nsu, 'x', true, 1050, 'CREDIT_PIX', 'code', 0, 0,
              now() + $2 * interval '1 millisecond' - (20150 - nsu) * interval '4 seconds',
              'h', '{}'
       FROM generate_series(1, 20000) nsu`,
      offsetMs,
    );
    await run(
      `INSERT INTO webhook_event (account_id, event_type, body_hash, body, state,
         reference_kind, reference, received_at, received_at_bank_time)
       SELECT account_id, 'CHARGE_PAID', nsu, '', 'processed',
              'correlation_id', 'code', occurred_at - $2 * interval '1 millisecond', occurred_at
       FROM statement_line WHERE account_id = $1 AND nsu <= 19900`,
      offsetMs,
    );
    // The last webhook counts for lines of less than five minutes after it.
    const measured = await measure();
    expect(measured).toMatchObject({ expected: 20_000, notified: 19_974, lost: 26, waiting: 0 });
  });

  it('counts lines as notified once a webhook that came after them is processed', async () => {
    await addLines(...[1, 2, 3, 4].map((nsu) => ({ nsu, referencedBy: null })), {
      nsu: 5,
      referencedBy: null,
      age: 200,
    });
    expect(await measure()).toMatchObject({
      expected: 5,
      notified: 0,
      lost: 5,
      lag: { max: null },
    });
    await run(
      `INSERT INTO webhook_event (account_id, event_type, body_hash, body, state,
         reference_kind, reference, received_at)
       SELECT $1, type, reference, '', 'pending', kind, reference, now()
       FROM (VALUES ('PIX_RECEIVED', 'nsu', '1'), ('PIX_RECEIVED', 'end_to_end_id', 'E2'),
                    ('CHARGE_PAID', 'correlation_id', 'c-3'),
                    ('CHARGE_VOIDED', 'correlation_id', 'c-4')
            ) AS webhook(type, kind, reference)`,
    );
    await run(
      `UPDATE statement_state SET last_sync_started_at = now() + interval '1 second'
       WHERE account_id = $1`,
    );
    await processWebhooks(service.database, accountId, 1_000);
    const measured = await measure();
    expect(measured).toMatchObject({ expected: 5, notified: 3, lost: 2, lossRate: 0.4 });
    // They occurred 600 seconds before.
    expect(measured.lag).toEqual({ p50: 600_000, p99: 600_000, max: 600_000 });
    expect(measured.events.map(({ eventType, received }) => [eventType, received])).toEqual([
      ['CHARGE_PAID', 1],
      ['CHARGE_VOIDED', 1],
      ['PIX_RECEIVED', 2],
    ]);
    expect((await listUnnotified()).data.map(({ nsu }) => nsu)).toEqual([5n, 4n]);
  });

  it('is recomputed from the lines and the webhooks by `concilia verify`', async () => {
    const profile = bankProfileOf({ profile: 'sandbox', visibilityBoundMs: null });
    const listDifferences = async () => {
      const recomputation = new Recomputation(service.database, profile);
      const { differences } = await recomputation.compareAccount(accountId);
      return differences.map(({ subject }) => subject).filter((one) => /webhook|notif/.test(one));
    };
    await addLines(
      { nsu: 1 },
      { nsu: 2, referencedBy: 'end_to_end_id' },
      { nsu: 3, referencedBy: 'correlation_id' },
      { nsu: 4, referencedBy: null },
    );
    await measure();
    expect(await listDifferences()).toEqual([]);
    const tamperings: [sql: string, subject: string][] = [
      ['UPDATE notification_count SET lines = lines + 1 WHERE lag_ms >= 0', 'notification count'],
      ['DELETE FROM notification_count WHERE lag_ms = -1', 'notification count'],
      ['UPDATE webhook_event_count SET copies = copies + 1', 'count of webhooks'],
      ['UPDATE webhook_event_count SET received = 0', 'count of webhooks'],
      ['DELETE FROM unnotified_line', 'webhook of line 4'],
      [`UPDATE webhook_event SET reference = '4' WHERE reference = '1'`, 'webhook of line 1'],
    ];
    for (const [sql, subject] of tamperings) {
      const found = await service.database
        .transaction(async (tx) => {
          await tx.$executeRawUnsafe(sql);
          const all = [
            ...(await listReportDifferences(tx, accountId)),
            ...(await listHealthCountDifferences(tx, accountId)),
          ];
          throw Object.assign(new Error('undo'), { all });
        })
        .catch((error: { all: { subject: string }[] }) => error.all);
      expect([sql, found.map((one) => one.subject).join()]).toEqual([
        sql,
        expect.stringContaining(subject),
      ]);
    }
  });

  it('counts a period of whole days like its hours', async () => {
    await addLines({ nsu: 1, age: 40 * 3_600 }, { nsu: 2, age: 60 * 3_600, referencedBy: null });
    const at = (hours: number) => new Date(Date.now() + offsetMs + hours * 3_600_000);
    const [byDays, byHours] = [
      await measure({ from: at(-99).toISOString() }),
      await measure({ from: at(-41).toISOString(), to: at(-39).toISOString() }),
    ];
    expect(byDays).toMatchObject({ expected: 2, notified: 1, lag: { p50: 200 } });
    expect(byHours).toMatchObject({ expected: 1, notified: 1, lag: { p50: 200 } });
    expect(byHours.from.getTime() % 3_600_000).toBe(0);
  });

  it('lists unnotified transactions newest first, page by page', async () => {
    await addLines(
      { nsu: 1, referencedBy: null },
      { nsu: 2 },
      { nsu: 3, referencedBy: null, age: 700 },
      { nsu: 4, referencedBy: null, age: 10 },
      // A CHARGE_VOIDED webhook reports no payment. The webhook long before line 6 belongs to an
      // earlier line.
      {
        nsu: 5,
        referencedBy: 'correlation_id',
        eventType: 'CHARGE_VOIDED',
        type: 'CREDIT_BANKSLIP',
      },
      { nsu: 6, referencedBy: 'correlation_id', eventType: 'CHARGE_PAID', lagMs: -400_000 },
    );
    const first = await listUnnotified({ limit: 2 });
    expect(first.data.map(({ nsu }) => nsu)).toEqual([6n, 5n]);
    const second = await listUnnotified({ limit: 2, cursor: first.next });
    expect(second).toMatchObject({ data: [{ nsu: 3n }, { nsu: 1n, amount: 1050n }], next: null });
  });

  it('stays the same after the bank’s clock jumps', async () => {
    await addLines(
      { nsu: 1 },
      { nsu: 2, referencedBy: 'correlation_id', eventType: 'CHARGE_PAID' },
    );
    const now = new Date(Date.now() + offsetMs);
    const period = {
      from: new Date(now.getTime() - 86_400_000).toISOString(),
      to: now.toISOString(),
    };
    const before = await measure(period);
    expect(before).toMatchObject({ expected: 2, notified: 2, lag: { max: 200 } });
    await run(
      `UPDATE statement_state SET clock_offset_ms = clock_offset_ms + 40 * 86400000::bigint
       WHERE account_id = $1`,
    );
    expect(await measure(period)).toEqual(before);
  });

  it('expects no webhook for lines from before the account was created', async () => {
    await addLines({ nsu: 1, referencedBy: null }, { nsu: 2, referencedBy: null, age: 60 });
    await run(`UPDATE bank_account SET created_at = now() - interval '300 seconds' WHERE id = $1`);
    expect(await measure()).toMatchObject({ expected: 0, lost: 0, waiting: 1, lossRate: null });
    expect((await listUnnotified()).data).toEqual([]);
  });

  it.each([
    [{ from: 'yesterday' }, '$.from'],
    [{ to: '2026-02-30' }, '$.to'],
    [{ from: '2026-03-02', to: '2026-03-01' }, '$.from'],
    [{ from: '2026-01-01', to: '2026-04-01' }, '$.from'],
  ])('rejects the period %j', async (query, path) => {
    await expect(measure(query)).rejects.toMatchObject({
      code: 'validation_failed',
      details: { errors: { [path]: [expect.any(String)] } },
    });
  });

  describe('adjusts the sync interval', () => {
    const adjust = async () => {
      await health.adjustSyncIntervals();
      const { syncIntervalMs } = await service.database.prisma.statementState.findUniqueOrThrow({
        where: { accountId },
      });
      return syncIntervalMs;
    };
    const lines = (count: number, line: Partial<LineFixture> = {}) =>
      Array.from({ length: count }, (_, index) => ({ nsu: index + 1, age: 300 + index, ...line }));

    it('to twice the setting where all webhooks come, and to a quarter once one is lost', async () => {
      await addLines(...lines(20));
      expect(await adjust()).toBe(120_000);
      await addLines({ nsu: 21, referencedBy: null });
      expect(await adjust()).toBe(15_000);
    });

    it('to the setting where there are too few webhooks', async () => {
      await run(`UPDATE statement_state SET sync_interval_ms = 1000 WHERE account_id = $1`);
      await addLines(...lines(5));
      expect(await adjust()).toBeNull();
    });

    it('to the setting once the last hour has no lines, and then reads no more', async () => {
      const activeAccounts = async () =>
        (await listActiveAccounts(service.database.sql, 3_600_000)).map((one) => one.accountId);
      await run(`UPDATE statement_state SET sync_interval_ms = 1000 WHERE account_id = $1`);
      await addLines(...lines(20, { age: 3_700 }));
      expect(await activeAccounts()).toContain(accountId);
      expect(await adjust()).toBeNull();
      expect(await activeAccounts()).not.toContain(accountId);
    });

    it('to the setting where a burst’s first webhook triggers the sync of the other lines', async () => {
      await addLines(...lines(10, { syncedAfterMs: 100, lagMs: 9_000 }));
      expect(await adjust()).toBeNull();
    });

    it('to a quarter where syncs record lines well before their webhooks come', async () => {
      await addLines(...lines(10, { syncedAfterMs: 100, lagMs: 11_000 }));
      expect(await adjust()).toBe(15_000);
    });

    it('by the lines of the last hour only', async () => {
      await addLines(...lines(5, { referencedBy: null, age: 4_000 }));
      expect(await adjust()).toBeNull();
    });
  });
});
