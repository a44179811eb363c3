import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Clock } from '../../src/platform/clock.js';
import { StatementClosing } from '../../src/statement/statement-closing.service.js';
import { StatementService } from '../../src/statement/statement.service.js';
import { ScriptedBank } from '../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const orders = ['desc', 'asc'] as const;
const shapes = orders.flatMap((order) =>
  [Infinity, 2].flatMap((mostLines) =>
    [true, false].map((repeatsLastPage) => ({ order, mostLines, repeatsLastPage })),
  ),
);

describe('a span of the statement', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: ScriptedBank;
  let woken: string[];

  // The scripted bank's lines are of one second each, from 12:00:01 on.
  const noon = new Date('2026-11-21T12:00:00Z');
  const after = (seconds: number) => new Date(noon.getTime() + seconds * 1_000);
  const credits = (last: number) =>
    Array.from({ length: last }, (_, index) => ({ nsu: index + 1, cents: 100 }));

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new ScriptedBank();
    bank.time = () => after(60);
    woken = [];
  });

  const close = () => {
    const { database } = service;
    const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
    const jobQueue = { enqueue: (name: string) => Promise.resolve(void woken.push(name)) } as never;
    const log = pino({ level: 'silent' });
    const mirror = new StatementService(
      database,
      accounts,
      bank as never,
      jobQueue,
      new Clock(),
      log,
    );
    const closing = new StatementClosing(database, accounts, bank as never, mirror, jobQueue, log);
    return closing.close({ accountId });
  };
  const closed = async () => {
    const state = await service.database.prisma.statementState.findFirst({
      where: { accountId },
    });
    return { from: state?.closedFrom ?? null, until: state?.closedUntil ?? null };
  };
  const secondsClosed = async () => {
    const { until } = await closed();
    return until && (until.getTime() - noon.getTime()) / 1_000;
  };
  const mirrored = () => service.database.prisma.statementLine.count({ where: { accountId } });
  /** Does something once, before the given page of the given one of the two readings. */
  const during = (reading: 1 | 2, page: number, act: () => void) => {
    const limit = reading === 1 ? bank.profile.statementPageSize : 2;
    let readings = 0;
    let isDone = false;
    bank.beforePage = (asked, of) => {
      // The poll before has pages of the first reading's size.
      if (asked === 1 && of === bank.profile.statementPageSize) readings += 1;
      const isIt = of === limit && asked === page && (reading === 2 || readings === 2);
      if (isIt && !isDone) [isDone] = [true, act()];
    };
    return () => isDone;
  };

  it.each(shapes)(
    'is closed, pages $order, at most $mostLines lines on one, the last repeated $repeatsLastPage',
    async (shape) => {
      Object.assign(bank, shape);
      bank.lines = credits(7);
      await close();
      expect(await closed()).toMatchObject({ from: new Date('2026-11-21T03:00:00Z') });
      // One bound before the reading began, by the bank's clock.
      expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
      expect(await secondsClosed()).toBeLessThan(55);
      expect(await mirrored()).toBe(7);
      expect(woken).toContain('reconcile');
    },
  );

  it.each(orders)('is not disturbed by what happens after its end, pages %s', async (order) => {
    bank.order = order;
    bank.lines = credits(7);
    const isDone = during(1, 2, () => {
      bank.lines = [...credits(7), { nsu: 58, cents: 100 }, { nsu: 59, cents: 100 }];
    });
    await close();
    expect(isDone()).toBe(true);
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
    expect(await mirrored()).toBe(9);
    expect(woken).toContain('syncStatement');
  });

  it.each(orders)(
    'is not closed when a line shows up between the readings, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(7);
      bank.withheld.add(7);
      const isDone = during(2, 1, () => bank.withheld.clear());
      await close();
      expect(isDone()).toBe(true);
      expect(await closed()).toEqual({ from: null, until: null });
      expect(await mirrored()).toBe(7);
      await close();
      expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
    },
  );

  it.each(orders)(
    'is not closed when pages slip past a line in one reading, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(9);
      // A line vanishes from a page that was read, and all that follow move up by one.
      const hidden = order === 'asc' ? 1 : 9;
      const isDone = during(1, 2, () => bank.withheld.add(hidden));
      await close();
      expect(isDone()).toBe(true);
      expect((await closed()).until).toBeNull();
    },
  );

  it('is not closed over a broken chain', async () => {
    bank.lines = credits(7);
    bank.withheld.add(4);
    await close();
    expect((await closed()).until).toBeNull();
    bank.withheld.clear();
    await close();
    expect((await closed()).until).not.toBeNull();
  });

  it('is not closed when a line changes between the readings', async () => {
    bank.lines = credits(7);
    during(2, 1, () => {
      bank.lines = credits(7).map((line) =>
        line.nsu === 3 ? { ...line, override: { notes: 'other' } } : line,
      );
    });
    await close();
    expect((await closed()).until).toBeNull();
  });

  it('is read the second time with shorter pages than the bank put out, whatever it was asked for', async () => {
    bank.profile.statementPageSize = 5;
    bank.mostLines = 4;
    bank.lines = credits(7);
    const asked: number[] = [];
    bank.beforePage = (_, limit) => void asked.push(limit);
    await close();
    expect(asked.at(-1)).toBe(3);
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it.each([
    ['has one line', { mostLines: 1 }],
    ['is of one length', { mostLines: 3, ignoresLimit: true }],
    ['after the second is the second again', { mostPages: 2, mostLines: 3, ignoresLimit: true }],
    ['after the second is the second again, at any length', { mostPages: 2 }],
  ])('is not closed where two readings cannot differ: each page %s', async (_, shape) => {
    Object.assign(bank, shape);
    bank.lines = credits(7);
    await close();
    expect((await closed()).until).toBeNull();
  });

  it('is never closed at a bank of which nobody has said how late an effect may show', async () => {
    bank.profile.visibilityBoundMs = null;
    bank.lines = credits(3);
    await close();
    expect(bank.pagesRead).toBe(0);
    expect((await closed()).until).toBeNull();
  });

  it('lengthens the one before, and begins where an unknown operation did', async () => {
    bank.lines = credits(3);
    await close();
    bank.time = () => after(86_400);
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-21T03:00:00Z'));
    expect(await secondsClosed()).toBeGreaterThanOrEqual(86_390);
    const days = Math.floor(noon.getTime() / 1_000) - 3 * 86_400;
    await service.database.pool.query(
      `WITH o AS (
         INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, next_action_at)
         VALUES ($1, gen_random_uuid(), 'k', 'unknown', 'h', '{}', now()) RETURNING id
       )
       INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by)
       SELECT $1, id, 1, to_timestamp($2), to_timestamp($2) FROM o`,
      [accountId, days],
    );
    await service.database.pool.query(
      `UPDATE operation_attempt a SET clock_offset_ms = s.clock_offset_ms FROM statement_state s
       WHERE a.account_id = $1 AND s.account_id = $1`,
      [accountId],
    );
    await service.database.pool.query(
      `UPDATE operation_attempt SET started_at = started_at - clock_offset_ms * interval '1 millisecond'
       WHERE account_id = $1`,
      [accountId],
    );
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-18T03:00:00Z'));
  });

  it('reaches back to the first day that has no close, once that is over', async () => {
    bank.lines = credits(3);
    const waitFor = (date: string) =>
      service.database.pool.query(
        `INSERT INTO day_close_state (account_id, next_date) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET next_date = $2`,
        [accountId, date],
      );
    await waitFor('2026-11-21');
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-21T03:00:00Z'));
    await waitFor('2025-11-21');
    await close();
    expect((await closed()).from).toEqual(new Date('2025-11-21T03:00:00Z'));
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it('waits for the poll that is under way, and comes again', async () => {
    await service.database.alone('syncStatement', accountId, () => close());
    expect(woken).toEqual(['closeStatement']);
  });
});
