import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { withLease } from '../../../src/platform/postgres/leases/leases.service.js';
import { StatementClosing } from '../../../src/statement/lines/statement-closing.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { ComputedBank } from '../../support/computed-bank.js';
import { ScriptedBank } from '../../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';
import { lineQueues, recordedQueues } from '../../support/recorded-queues.js';

const orders = ['desc', 'asc'] as const;
const shapes = orders.flatMap((order) =>
  [Infinity, 2].flatMap((maxPageSize) =>
    [true, false].map((repeatsLastPage) => ({ order, maxPageSize, repeatsLastPage })),
  ),
);

describe('closing a period of the statement', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: ScriptedBank;
  let enqueued: string[];

  // The scripted bank's lines are one second apart, from 12:00:01 on.
  const noon = new Date('2026-11-21T12:00:00Z');
  const after = (seconds: number) => new Date(noon.getTime() + seconds * 1_000);
  const credits = (last: number) =>
    Array.from({ length: last }, (_, index) => ({ nsu: index + 1, cents: 100 }));

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new ScriptedBank();
    setClock(60);
    enqueued = [];
  });
  /** The bank's clock goes on from this many seconds after noon. */
  const setClock = (seconds: number) => {
    const setAt = performance.now();
    bank.clock = () => after(seconds + (performance.now() - setAt) / 1_000);
  };

  const services = () => {
    const { database } = service;
    const accounts = {
      get: (id: number) => Promise.resolve({ id, slug: 'main', goLiveAt: new Date(0) }),
    } as never;
    const queueOf = recordedQueues((job) => enqueued.push(job));
    const log = pino({ level: 'silent' });
    const statement = new StatementSync(
      database,
      bank as never,
      ...lineQueues((job) => enqueued.push(job)),
      log,
    );
    const closing = new StatementClosing(
      database,
      accounts,
      bank as never,
      statement,
      queueOf('closeStatement'),
      queueOf('syncStatement'),
      queueOf('reconcile'),
      log,
    );
    return { statement, closing };
  };
  const close = () => services().closing.close({ accountId });
  const sync = () => services().statement.sync(accountId);
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
  const countStoredLines = () =>
    service.database.prisma.statementLine.count({ where: { accountId } });
  /** Runs `act` once, before the given page of the first or second full read. */
  const during = (fullRead: 1 | 2, page: number, act: () => void | Promise<void>) => {
    const limit = fullRead === 1 ? bank.profile.statementPageSize : 2;
    let firstPages = 0;
    let isDone = false;
    bank.beforePage = async (requestedPage, requestedLimit) => {
      // The sync before the full reads has the page size of the first full read.
      if (requestedPage === 1 && requestedLimit === bank.profile.statementPageSize) firstPages += 1;
      const isPage =
        requestedLimit === limit && requestedPage === page && (fullRead === 2 || firstPages === 2);
      if (!isPage || isDone) return;
      isDone = true;
      await act();
    };
    return () => isDone;
  };

  it.each(shapes)(
    'closes it: pages $order, at most $maxPageSize lines a page, last page repeated $repeatsLastPage',
    async (shape) => {
      Object.assign(bank, shape);
      bank.lines = credits(7);
      await close();
      expect(await closed()).toMatchObject({ from: new Date('2026-11-21T03:00:00Z') });
      // One visibility bound before the first full read, by the bank's clock.
      expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
      expect(await secondsClosed()).toBeLessThan(60);
      expect(await countStoredLines()).toBe(7);
      expect(enqueued).toContain('reconcile');
    },
  );

  it.each(orders)('closes it although lines arrive after its end, pages %s', async (order) => {
    bank.order = order;
    bank.lines = credits(7);
    const isDone = during(1, 2, () => {
      bank.lines = [...credits(7), { nsu: 58, cents: 100 }, { nsu: 59, cents: 100 }];
    });
    await close();
    expect(isDone()).toBe(true);
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
    // The newest lines are left to the next sync.
    expect(await countStoredLines()).toBe(7);
  });

  it.each(orders)(
    'does not close it when a line appears between the two full reads, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(7);
      bank.withheld.add(7);
      const isDone = during(2, 1, () => bank.withheld.clear());
      await close();
      expect(isDone()).toBe(true);
      expect(await closed()).toEqual({ from: null, until: null });
      expect(await countStoredLines()).toBe(7);
      await close();
      expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
    },
  );

  it.each(orders)(
    'does not close it when shifting pages hide a line in one full read, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(9);
      // A line vanishes from a page already read, and all lines after it move up by one.
      const hidden = order === 'asc' ? 1 : 9;
      const isDone = during(1, 2, () => void bank.withheld.add(hidden));
      await close();
      expect(isDone()).toBe(true);
      expect((await closed()).until).toBeNull();
    },
  );

  it.each([1, 0])('does not close it over a gap, lines numbered from %i', async (first) => {
    bank.lines = credits(7).map((line) => ({ ...line, nsu: line.nsu - 1 + first }));
    bank.withheld.add(first + 3);
    await close();
    expect((await closed()).until).toBeNull();
    bank.withheld.clear();
    await close();
    expect((await closed()).until).not.toBeNull();
  });

  it('does not close it when a line changes between the two full reads', async () => {
    bank.lines = credits(7);
    during(2, 1, () => {
      bank.lines = credits(7).map((line) =>
        line.nsu === 3 ? { ...line, override: { notes: 'other' } } : line,
      );
    });
    await close();
    expect((await closed()).until).toBeNull();
  });

  it('reads the second time with pages shorter than the bank returned the first time', async () => {
    bank.profile.statementPageSize = 5;
    bank.maxPageSize = 4;
    bank.lines = credits(7);
    const limits: number[] = [];
    bank.beforePage = (_, limit) => void limits.push(limit);
    await close();
    expect(limits.at(-1)).toBe(3);
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it.each([
    ['each page has one line', { maxPageSize: 1 }],
    ['each page has the same length', { maxPageSize: 3, ignoresLimit: true }],
    ['each page after the second repeats it', { maxPages: 2, maxPageSize: 3, ignoresLimit: true }],
    ['each page after the second repeats it, at any length', { maxPages: 2 }],
  ])('does not close it when two full reads cannot differ: %s', async (_, shape) => {
    Object.assign(bank, shape);
    bank.lines = credits(7);
    await close();
    expect((await closed()).until).toBeNull();
  });

  it('closes nothing without a visibility bound in the bank profile', async () => {
    bank.profile.visibilityBoundMs = null;
    bank.lines = credits(3);
    await close();
    expect(bank.pagesRead).toBe(0);
    expect((await closed()).until).toBeNull();
  });

  it('closes nothing by a response without the bank’s clock', async () => {
    bank.lines = credits(3);
    bank.clock = () => null as never;
    await close();
    expect((await closed()).until).toBeNull();
    setClock(60);
    await close();
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it.each([-86_400, -60, 60, 86_400])(
    'closes nothing by a clock that was set by %d s since the last sync',
    async (seconds) => {
      bank.lines = credits(3);
      setClock(100_000);
      await sync();
      setClock(100_000 + seconds);
      await close();
      expect((await closed()).until).toBeNull();
      await close();
      expect(await secondsClosed()).toBeGreaterThanOrEqual(99_990 + seconds);
    },
  );

  it('takes back a closed period that ends in the future: the bank’s clock was wrong', async () => {
    bank.lines = credits(3);
    setClock(86_400);
    await close();
    expect(await secondsClosed()).toBeGreaterThanOrEqual(86_390);
    setClock(60);
    await sync();
    expect(await closed()).toEqual({ from: null, until: null });
    await close();
    expect(await secondsClosed()).toBeLessThan(90);
  });

  it('extends the closed period forward, and back to an operation with unknown outcome', async () => {
    bank.lines = credits(3);
    await close();
    setClock(86_400);
    await sync();
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-21T03:00:00Z'));
    expect(await secondsClosed()).toBeGreaterThanOrEqual(86_390);
    const attemptedAt = Math.floor(noon.getTime() / 1_000) - 3 * 86_400;
    await service.database.pool.query(
      `WITH o AS (
         INSERT INTO operation
           (account_id, id, kind, state, request_hash, request_params, next_action_at)
         VALUES ($1, gen_random_uuid(), 'k', 'unknown', 'h', '{}', now()) RETURNING id
       )
       INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by)
       SELECT $1, id, 1, to_timestamp($2), to_timestamp($2) FROM o`,
      [accountId, attemptedAt],
    );
    await service.database.pool.query(
      `UPDATE operation_attempt a SET clock_offset_ms = s.clock_offset_ms FROM statement_state s
       WHERE a.account_id = $1 AND s.account_id = $1`,
      [accountId],
    );
    await service.database.pool.query(
      `UPDATE operation_attempt
       SET started_at = started_at - clock_offset_ms * interval '1 millisecond'
       WHERE account_id = $1`,
      [accountId],
    );
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-18T03:00:00Z'));
  });

  it('extends back to the first day without a day close once that day is over', async () => {
    bank.lines = credits(3);
    const setNextDayToClose = (date: string) =>
      service.database.pool.query(
        `INSERT INTO day_close_state (account_id, next_date) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET next_date = $2`,
        [accountId, date],
      );
    await setNextDayToClose('2026-11-21');
    await close();
    expect((await closed()).from).toEqual(new Date('2026-11-21T03:00:00Z'));
    await setNextDayToClose('2025-11-21');
    await close();
    expect((await closed()).from).toEqual(new Date('2025-11-21T03:00:00Z'));
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it('enqueues itself again while a sync or another closing runs', async () => {
    for (const name of ['sync_statement', 'close_statement'] as const)
      await withLease(service.database, accountId, name, () => close());
    expect(enqueued).toEqual(['closeStatement', 'closeStatement']);
  });

  it('is closed beside syncs: no sync waits for it', async () => {
    bank.lines = credits(7);
    const isDone = during(1, 2, async () => void (await sync()));
    await close();
    expect(isDone()).toBe(true);
    expect(enqueued).toContain('processWebhooks');
    expect(await secondsClosed()).toBeGreaterThanOrEqual(50);
  });

  it('is not closed when a sync stores a line of it during the reads', async () => {
    bank.lines = credits(7);
    bank.withheld.add(7);
    const isDone = during(2, 3, async () => {
      bank.withheld.clear();
      await sync();
      bank.withheld.add(7);
    });
    await close();
    expect(isDone()).toBe(true);
    expect(await countStoredLines()).toBe(7);
    expect((await closed()).until).toBeNull();
  });

  it('is not closed by a process that lost its lease', async () => {
    bank.lines = credits(7);
    const isDone = during(2, 4, async () => {
      await service.database.pool.query(
        `UPDATE lease SET leased_until = clock_timestamp() - interval '1 second'
         WHERE account_id = $1 AND name = 'close_statement'`,
        [accountId],
      );
    });
    await expect(close()).rejects.toThrow('close_statement');
    expect(isDone()).toBe(true);
    expect((await closed()).until).toBeNull();
  });

  describe('of a long day', () => {
    const lines = 4_000;
    const closeLong = async (long: ComputedBank) => {
      const { closing } = long.services(service.database, enqueued);
      long.pagesRead = 0;
      await closing.close({ accountId });
      return long.pagesRead;
    };

    const untilTime = async () => (await closed()).until?.getTime();

    it('covers the day, and is then read from the closed period on', async () => {
      const long = new ComputedBank(lines);
      const pages = lines / long.profile.statementPageSize;
      await service.database.pool.query(
        `INSERT INTO day_close_state (account_id, next_date) VALUES ($1, '2026-11-21')`,
        [accountId],
      );
      const setLongClock = async (time: string) => {
        long.clock = () => new Date(time);
        await long.services(service.database).statement.sync(accountId);
      };
      await setLongClock('2026-11-22T03:00:30Z');
      expect(await closeLong(long)).toBeGreaterThan(2 * pages);
      expect(await untilTime()).toBeGreaterThanOrEqual(Date.parse('2026-11-22T03:00:20Z'));
      await setLongClock('2026-11-22T03:01:00Z');
      expect(await closeLong(long)).toBeLessThan(10);
      expect(await untilTime()).toBeGreaterThanOrEqual(Date.parse('2026-11-22T03:00:50Z'));
      expect(await countStoredLines()).toBe(lines);
    }, 60_000);
  });
});
