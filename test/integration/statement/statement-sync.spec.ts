import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { ScriptedBank } from '../../support/scripted-bank.js';
import { addAccounts } from '../../support/parent-rows.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { listStoredNsus } from '../../support/stored-lines.js';
import { until } from '../../support/until.js';
import { lineQueues } from '../../support/recorded-queues.js';

/** The clock that PostgreSQL has too, whatever a test makes of `Date.now`. */
const realNow = () => performance.timeOrigin + performance.now();

describe('the statement sync', () => {
  let service: ServiceDatabase;
  let bank: ScriptedBank;
  let enqueued: string[];

  const statement = (log = pino({ level: 'silent' })) =>
    new StatementSync(
      service.database,
      bank as never,
      ...lineQueues((job) => enqueued.push(job)),
      log,
    );
  const sync = () => statement().sync(service.accountId);
  const state = async () => {
    const found = await service.database.prisma.statementState.findUniqueOrThrow({
      where: { accountId: service.accountId },
    });
    return { complete: found.firstGapNsu === null, ...found };
  };
  const storedNsus = () => listStoredNsus(service);
  const credits = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => ({ nsu: from + index, cents: 100 }));
  const upTo = (last: number) => credits(1, last).map(({ nsu }) => nsu);

  beforeEach(async () => {
    service = await serviceDatabase();
    bank = new ScriptedBank();
    enqueued = [];
  });

  afterEach(async () => {
    await service.drop();
  });

  it.each(['desc', 'asc'] as const)('reads every line of a history, pages %s', async (order) => {
    bank.order = order;
    bank.lines = credits(1, 20);
    await sync();
    expect(await storedNsus()).toEqual(upTo(20));
    expect(await state()).toMatchObject({
      complete: true,
      lastNsu: 20n,
      lineCount: 20n,
      balanceCents: 12_000n,
      pageOrder: order,
    });
    expect(enqueued).toEqual(['reconcile', 'processWebhooks']);
  });

  it('says why the bank does not show the statement, since when, until it does again', async () => {
    bank.lines = credits(1, 2);
    const call = jest.spyOn(bank, 'call');
    const failed = async (status: number | undefined) => {
      call.mockResolvedValueOnce({ outcome: 'unknown', reason: 'bank_error', status } as never);
      await expect(sync()).rejects.toThrow();
      return state();
    };
    const { readFailedSince } = await failed(undefined);
    expect(await failed(500)).toMatchObject({ readFailure: 'no_answer', readFailedSince });
    expect(await failed(401)).toMatchObject({ readFailure: 'key_refused' });
    await sync();
    expect(await state()).toMatchObject({ readFailure: null, readFailedSince: null });
  });

  it.each([-86_400_000, -5_000, 0, 3_600_000])(
    'stores the go-live of a new account in bank time, %d ms ahead, before its first line',
    async (aheadMs) => {
      const { prisma } = service.database;
      const where = { id: service.accountId };
      await prisma.bankAccount.update({ where, data: { goLiveAt: null } });
      bank.clock = () => new Date(Date.now() + aheadMs);
      bank.lines = credits(1, 20);
      let isStoredFirst = false;
      bank.beforePage = async (page) => {
        if (page === 2)
          isStoredFirst = (await prisma.bankAccount.findUnique({ where }))?.goLiveAt !== null;
      };
      await sync();
      expect(isStoredFirst).toBe(true);
      const account = await prisma.bankAccount.findUniqueOrThrow({ where });
      const shownAheadMs = Number(account.goLiveAt) - account.createdAt.getTime();
      expect(Math.abs(shownAheadMs - aheadMs)).toBeLessThan(5_000);
      bank.clock = () => new Date(Date.now() + aheadMs + 7_200_000);
      await sync();
      expect((await prisma.bankAccount.findUnique({ where }))?.goLiveAt).toEqual(account.goLiveAt);
    },
  );

  it('measures the bank’s clock against PostgreSQL’s, at least and at most', async () => {
    const wrongClock = jest.spyOn(Date, 'now').mockImplementation(() => 0);
    const aheadMs = 3_600_000;
    try {
      bank.clock = () => new Date(Math.floor((realNow() + aheadMs) / 1_000) * 1_000);
      await sync();
    } finally {
      wrongClock.mockRestore();
    }
    const { clockOffsetMs, clockOffsetMaxMs } = await state();
    expect(Number(clockOffsetMs)).toBeLessThanOrEqual(aheadMs);
    expect(Number(clockOffsetMaxMs)).toBeGreaterThanOrEqual(aheadMs);
    expect(Number(clockOffsetMaxMs) - Number(clockOffsetMs)).toBeLessThan(10_000);
    // A bank without a clock changes nothing.
    bank.clock = () => null as never;
    await sync();
    expect(await state()).toMatchObject({ clockOffsetMs, clockOffsetMaxMs });
  });

  it('logs the progress of the first import in total lines, also after it resumes', async () => {
    bank.lines = credits(1, 20);
    const logged: { lines: number; linesPerSecond: number }[] = [];
    const log = pino({ base: null }, { write: (text) => logged.push(JSON.parse(text)) });
    let elapsedMs = 0;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (elapsedMs += 5_000));
    try {
      for (let slice = 1; slice <= 3; slice += 1)
        await statement(log).sync(service.accountId, { sliceMs: 0 });
    } finally {
      now.mockRestore();
    }
    const { lineCount } = await state();
    expect(logged.length).toBeGreaterThanOrEqual(3);
    expect(logged.at(-1)?.lines).toBe(Number(lineCount));
    expect(logged.map(({ lines }) => lines)).toEqual(
      logged.map(({ lines }) => lines).sort((a, b) => a - b),
    );
    expect(logged.every(({ linesPerSecond }) => linesPerSecond <= 2)).toBe(true);
  });

  it.each(['desc', 'asc'] as const)(
    'reads pages for new lines, not for history, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(1, 60);
      await sync();
      bank.pagesRead = 0;
      bank.lines = credits(1, 62);
      await sync();
      expect(await storedNsus()).toEqual(upTo(62));
      expect(bank.pagesRead).toBeLessThanOrEqual(3);
      bank.pagesRead = 0;
      enqueued = [];
      await sync();
      expect(bank.pagesRead).toBeLessThanOrEqual(3);
      expect(enqueued).toEqual(['processWebhooks']);
    },
  );

  it.each([0, 1, 5])(
    'costs two statements and one call, and enqueues nothing, while a statement of %i lines stays',
    async (lines) => {
      bank.profile.statementPageSize = 20;
      bank.lines = credits(1, lines);
      for (let syncs = 1; syncs <= 2; syncs += 1) await sync();
      await service.database.prisma.webhookHealthState.create({
        data: { accountId: service.accountId, comparedArrival: 1_000_000n },
      });
      const { syncs, lastSyncStartedAt } = await state();
      enqueued = [];
      bank.pagesRead = 0;
      const connections = jest.spyOn(service.database.pool, 'connect');
      await sync();
      expect(connections).toHaveBeenCalledTimes(2);
      connections.mockRestore();
      expect(bank.pagesRead).toBe(1);
      expect(enqueued).toEqual([]);
      const after = await state();
      expect(after).toMatchObject({ syncs: syncs + 1n, lineCount: BigInt(lines), complete: true });
      expect(Number(after.lastSyncStartedAt)).toBeGreaterThan(Number(lastSyncStartedAt));
      expect(await service.database.prisma.lease.count()).toBe(0);
      bank.lines = credits(1, lines + 2);
      await sync();
      expect(await storedNsus()).toEqual(upTo(lines + 2));
      expect(await state()).toMatchObject({ complete: true, pageOrder: 'desc' });
    },
  );

  it('loses no line when pages shift while they are read', async () => {
    bank.lines = credits(1, 12);
    bank.beforePage = (page) => {
      if (page > 1) bank.lines = credits(1, bank.lines.length + 1);
    };
    await sync();
    bank.beforePage = () => undefined;
    await sync();
    expect(await storedNsus()).toEqual(upTo(bank.lines.length));
    expect(await state()).toMatchObject({ complete: true });
  });

  it('stores lines that arrive during a catch-up of many pages before its end', async () => {
    bank.lines = credits(1, 10);
    await sync();
    bank.lines = credits(1, 100);
    enqueued = [];
    bank.pagesRead = 0;
    let storedMeanwhile: number[] = [];
    bank.beforePage = async (page) => {
      if (page === 10) bank.lines = credits(1, 107);
      if (page > 20 && storedMeanwhile.length === 0) storedMeanwhile = await storedNsus();
    };
    await statement().sync(service.accountId, { newestIntervalMs: 0 });
    expect(storedMeanwhile).toEqual(expect.arrayContaining([101, 107]));
    expect(storedMeanwhile).not.toContain(11);
    expect(await storedNsus()).toEqual(upTo(107));
    expect(await state()).toMatchObject({ complete: true, lastNsu: 107n });
    expect(enqueued.filter((name) => name === 'reconcile').length).toBeGreaterThan(1);
    // Each page once, and the first page once for each of them.
    expect(bank.pagesRead).toBeLessThan(2 * 36 + 4);
  });

  describe.each(['the first import', 'a catch-up'])('%s', (name) => {
    it.each([1, 2, 3, 5, 8])('reads all lines while %d more come at once', async (count) => {
      bank.lines = credits(1, 5);
      if (name === 'a catch-up') await sync();
      bank.lines = credits(1, 60);
      bank.pagesRead = 0;
      // More than one page may come between two pages.
      bank.beforePage = () => {
        if (bank.pagesRead % 4 === 3 && bank.lines.length < 150)
          bank.lines = credits(1, bank.lines.length + count);
      };
      await statement().sync(service.accountId, { newestIntervalMs: 0 });
      expect(await state()).toMatchObject({ complete: true, isAnchored: true });
      bank.beforePage = () => undefined;
      await sync();
      expect(await storedNsus()).toEqual(upTo(bank.lines.length));
    });
  });

  it('is incomplete while a line is withheld, and complete once it appears', async () => {
    bank.lines = credits(1, 10);
    bank.withheld.add(4);
    await sync();
    expect(await state()).toMatchObject({ complete: false, firstGapNsu: 5n });
    bank.lines = credits(1, 14);
    await sync();
    expect((await state()).complete).toBe(false);
    bank.withheld.clear();
    await sync();
    expect(await storedNsus()).toEqual(upTo(14));
    expect((await state()).complete).toBe(true);
  });

  it('stores an nsu that becomes visible late', async () => {
    bank.lines = credits(1, 5);
    bank.withheld.add(5);
    await sync();
    expect(await storedNsus()).toEqual(upTo(4));
    bank.withheld.clear();
    await sync();
    expect(await storedNsus()).toEqual(upTo(5));
  });

  it('completes after a sync was interrupted between two pages', async () => {
    bank.lines = credits(1, 20);
    bank.beforePage = (page) => {
      if (page === 3) throw new Error('the process died here');
    };
    await expect(sync()).rejects.toThrow('died');
    expect((await storedNsus()).length).toBe(6);
    expect((await state()).complete).toBe(false);
    bank.beforePage = () => undefined;
    await sync();
    expect(await storedNsus()).toEqual(upTo(20));
    expect((await state()).complete).toBe(true);
  });

  it('starts again at page one when the bank has fewer pages than before, and ends', async () => {
    bank.order = 'asc';
    bank.lines = credits(1, 15);
    await sync();
    bank.lines = credits(1, 12); // a bank that lost lines, or shows more of them on a page
    await sync();
    bank.lines = credits(1, 16);
    await sync();
    expect(await storedNsus()).toEqual(upTo(16));
  });

  describe('new lines that continue the stored ones', () => {
    beforeEach(async () => {
      bank.profile.statementPageSize = 1_000;
      bank.lines = credits(1, 60);
      await sync();
      bank.pagesRead = 0;
      enqueued = [];
    });

    it('are read with one call, however long the history', async () => {
      const limits: number[] = [];
      bank.beforePage = (_, limit) => void limits.push(limit);
      bank.lines = credits(1, 63);
      await sync();
      await sync();
      expect(limits).toEqual([20, 20]);
      expect(await storedNsus()).toEqual(upTo(63));
      expect(await state()).toMatchObject({
        complete: true,
        lastNsu: 63n,
        lineCount: 63n,
        balanceCents: 16_300n,
        syncs: 3n,
      });
      expect(enqueued).toEqual(['reconcile', 'processWebhooks', 'processWebhooks']);
    });

    it('are read by long pages when there are many', async () => {
      bank.lines = credits(1, 90);
      await sync();
      expect(bank.pagesRead).toBe(2);
      expect(await storedNsus()).toEqual(upTo(90));
      expect((await state()).complete).toBe(true);
    });

    it('are read further when a line between them is missing', async () => {
      bank.lines = credits(1, 63);
      bank.withheld.add(62);
      await sync();
      expect((await state()).complete).toBe(false);
      bank.withheld.clear();
      await sync();
      expect(await storedNsus()).toEqual(upTo(63));
      expect((await state()).complete).toBe(true);
    });

    it('do not hide a stored line that is shown with other content', async () => {
      bank.lines = credits(1, 61);
      bank.lines[58] = { nsu: 59, cents: 100, correlationId: 'another' };
      await sync();
      const where = { accountId: service.accountId };
      const [changed] = await service.database.prisma.unreadableLine.findMany({ where });
      expect(changed).toMatchObject({ kind: 'changed', nsu: 59n, resolvedAt: null });
      bank.lines = credits(1, 62);
      await sync();
      const [restored] = await service.database.prisma.unreadableLine.findMany({ where });
      expect(restored).toMatchObject({ resolution: 'restored' });
      expect(await storedNsus()).toEqual(upTo(62));
    });

    it('are not stored under a lease that was lost', async () => {
      bank.lines = credits(1, 61);
      bank.beforePage = async () => void (await service.database.prisma.lease.deleteMany());
      await expect(sync()).rejects.toThrow();
      expect(await storedNsus()).toEqual(upTo(60));
    });
  });

  it('requests shorter pages of a bank that refuses long ones', async () => {
    bank.profile.statementPageSize = 1_000;
    bank.lines = credits(1, 250);
    const limits: number[] = [];
    const { call } = bank;
    bank.call = async (route, account, input) => {
      const limit = input.query?.limit ?? 0;
      limits.push(limit);
      const refusal = { outcome: 'rejection', status: 400, text: '{}' } as const;
      return limit > 100 ? (refusal as never) : call(route, account, input);
    };
    const subject = statement();
    await expect(subject.sync(service.accountId)).rejects.toThrow();
    await subject.sync(service.accountId);
    expect(new Set(limits)).toEqual(new Set([1_000, 100]));
    expect(await storedNsus()).toEqual(upTo(250));
  });

  it.each(['desc', 'asc'] as const)(
    'ends when the bank repeats its last page, pages %s',
    async (order) => {
      bank.order = order;
      bank.repeatsLastPage = true;
      bank.lines = credits(1, 8);
      await sync();
      expect(await storedNsus()).toEqual(upTo(8));
      expect(bank.pagesRead).toBeLessThanOrEqual(8);
      bank.lines = credits(1, 11);
      await sync();
      expect(await storedNsus()).toEqual(upTo(11));
    },
  );

  it('stores an unreadable line apart, and all other lines', async () => {
    bank.lines = [
      ...credits(1, 2),
      { nsu: 3, cents: 100, override: { amount: new LosslessNumber('10.005') } },
      ...credits(4, 5),
    ];
    await sync();
    await sync();
    expect(await storedNsus()).toEqual([1, 2, 4, 5]);
    const unreadable = await service.database.prisma.unreadableLine.findMany();
    expect(unreadable).toHaveLength(1);
    expect(unreadable[0]).toMatchObject({
      kind: 'unreadable',
      nsu: 3n,
      reason: 'cannot be read at amount',
    });
    expect((await state()).complete).toBe(false);
  });

  it('does not change a stored line when the bank shows it again with different content', async () => {
    bank.lines = credits(1, 3);
    await sync();
    bank.lines = [...credits(1, 2), { nsu: 3, cents: 100, override: { notes: 'written over' } }];
    await sync();
    const line = await service.database.prisma.statementLine.findFirstOrThrow({
      where: { nsu: 3n },
    });
    expect(line.notes).toBeNull();
    const [changed] = await service.database.prisma.unreadableLine.findMany();
    expect(changed).toMatchObject({ kind: 'changed', nsu: 3n });
  });

  it('stores unknown types and fields', async () => {
    const type = { name: 'CREDIT_OF_TOMORROW', isCredit: true };
    bank.lines = [{ nsu: 1, cents: 100, override: { type, tomorrow: { a: [1] } } }];
    await sync();
    const line = await service.database.prisma.statementLine.findFirstOrThrow();
    expect(line).toMatchObject({ typeName: 'CREDIT_OF_TOMORROW', amountCents: 100n });
    expect(line.content).toContain('"tomorrow":{"a":[1]}');
  });

  it('lets one process sync at a time, and enqueues the other again', async () => {
    bank.lines = credits(1, 5);
    let release = () => undefined as void;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isReading = false;
    bank.beforePage = () => {
      if (isReading) return undefined;
      isReading = true;
      return blocked;
    };
    const first = sync();
    while (!isReading) await new Promise((resolve) => setImmediate(resolve));
    await sync();
    expect(enqueued).toEqual(['syncStatement']);
    expect(bank.pagesRead).toBe(0);
    release();
    await first;
    expect(await storedNsus()).toEqual(upTo(5));
  });

  it('rejects writes of a suspended sync after another process has taken its lease', async () => {
    bank.lines = credits(1, 5);
    let isSuspended = false;
    bank.beforePage = async () => {
      if (isSuspended) return;
      isSuspended = true;
      await service.database.pool.query(
        `UPDATE lease SET leased_until = clock_timestamp() - interval '1 second'`,
      );
      bank.withheld.add(5);
      await sync();
      bank.withheld.clear();
    };
    await expect(sync()).rejects.toThrow('the lease sync_statement');
    expect(await storedNsus()).toEqual(upTo(4));
  });

  it('uses no connection while the bank does not answer', async () => {
    const { pool } = service.database;
    const accounts = pool.options.max * 2;
    await addAccounts(pool, accounts);
    let waiting = 0;
    let answer = () => undefined as void;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    bank.beforePage = () => {
      waiting += 1;
      return answered;
    };
    const syncs = Array.from({ length: accounts }, (_, index) => statement().sync(index + 1));
    try {
      await until('every sync waits for the bank', () => waiting === accounts);
      // A renewal uses a connection for a moment.
      await until('no connection is in use', () => pool.totalCount === pool.idleCount);
      const { rows } = await pool.query<{ held: number }>(
        `SELECT count(*)::int AS held FROM lease WHERE leased_until > clock_timestamp()`,
      );
      expect(rows).toEqual([{ held: accounts }]);
    } finally {
      answer();
      await Promise.all(syncs);
    }
  });
});
