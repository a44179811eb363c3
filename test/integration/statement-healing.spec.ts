// How the mirror comes to be whole again, or says that it is not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { Clock } from '../../src/platform/clock.js';
import * as ofStatement from '../../src/reconciliation/statement-breaks.queries.js';
import { LiveBalance } from '../../src/statement/live-balance.service.js';
import { readStatementView } from '../../src/statement/statement-view.queries.js';
import { StatementService } from '../../src/statement/statement.service.js';
import { UnreadableLines } from '../../src/statement/unreadable-lines.service.js';
import { reconciliationOn } from '../support/reconciliation.js';
import { ScriptedBank, type ScriptedLine } from '../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { setLineAside } from '../support/statement-things.js';

const orders = ['desc', 'asc'] as const;

describe('the mirror of the statement', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: ScriptedBank;
  let woken: string[];

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new ScriptedBank();
    woken = [];
  });

  const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
  const jobQueue = { enqueue: (name: string) => Promise.resolve(void woken.push(name)) } as never;
  const sync = (options = {}) =>
    new StatementService(
      service.database,
      accounts,
      bank as never,
      jobQueue,
      new Clock(),
      pino({ level: 'silent' }),
    ).sync(accountId, options);
  const state = () =>
    service.database.prisma.statementState.findUniqueOrThrow({ where: { accountId } });
  const mirrored = async () => {
    const rows = await service.database.prisma.statementLine.findMany({
      where: { accountId },
      orderBy: { nsu: 'asc' },
    });
    return rows.map(({ nsu }) => Number(nsu));
  };
  const view = () => readStatementView(service.database.prisma, accountId);
  const untold = () => ofStatement.listUnreportedOfStatement(service.database.prisma, accountId);
  const change = (sql: string) =>
    service.database.pool.query(`UPDATE statement_state SET ${sql} WHERE account_id = $1`, [
      accountId,
    ]);
  const credits = (last: number): ScriptedLine[] =>
    Array.from({ length: last }, (_, index) => ({ nsu: index + 1, cents: 100 }));
  const upTo = (last: number) => credits(last).map(({ nsu }) => nsu);
  const balances = (previous: string, current: string) => ({
    balance: {
      balancePrevious: new LosslessNumber(previous),
      currentBalance: new LosslessNumber(current),
    },
  });

  /** 100.00 and 1.00 a line: the second and the third change places. */
  const swapped = (last: number) =>
    credits(last).map((line) => {
      if (line.nsu === 2) return { ...line, override: balances('102.00', '103.00') };
      return line.nsu === 3 ? { ...line, override: balances('101.00', '102.00') } : line;
    });

  it('is whole where the bank numbers lines in another order than it books them', async () => {
    bank.lines = swapped(5);
    await sync();
    expect(await state()).toMatchObject({ firstGapNsu: null, balanceCents: 10_500n });
  });

  it('knows what the chain has come to where its last lines are numbered out of order', async () => {
    const comesTo = async (balanceCents: bigint) => {
      await sync();
      expect(await state()).toMatchObject({ firstGapNsu: null, balanceCents });
    };
    bank.lines = swapped(3);
    await comesTo(10_300n);
    await comesTo(10_300n);
    // Out of order again, they follow the line with the highest number as if that had been booked last.
    bank.lines.push({ nsu: 4, cents: 100, override: balances('102.00', '103.00') });
    bank.lines.push({ nsu: 5, cents: -100, override: balances('103.00', '102.00') });
    await comesTo(10_300n);
  });

  it.each(orders)('finds a late line of long ago where pages come by time, %s', async (order) => {
    const longAgo = { createdAt: '2026-11-01T12:00:00Z' };
    const lines = credits(24);
    Object.assign(bank, { order, byTime: true });
    bank.lines = lines.map((line) => (line.nsu === 22 ? { ...line, override: longAgo } : line));
    bank.withheld.add(22);
    await sync();
    bank.withheld.clear();
    await sync();
    expect((await view()).broken).toBeNull();
    await change(`gap_since = now() - interval '11 seconds', gap_next_read_at = NULL`);
    await sync();
    expect(await mirrored()).toEqual(upTo(24));
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('is broken where a hole is older than the bound and all was read twice more, until it is filled', async () => {
    bank.lines = credits(9);
    bank.withheld.add(4);
    await sync();
    await sync();
    await sync();
    expect(await view()).toMatchObject({ broken: null });
    await change(`gap_since = now() - interval '11 seconds'`);
    for (const isBroken of [false, true]) {
      woken = [];
      await change('gap_next_read_at = NULL');
      await sync();
      expect((await view()).broken !== null).toBe(isBroken);
    }
    expect((await view()).broken?.nsu).toBe(5n);
    expect(woken).toContain('reconcile');
    expect(await untold()).toMatchObject([
      {
        ...{ kind: 'broken_balance_chain', subject: 'hole:5', nsu: 5n, amountCents: 100n },
        evidence: { nsu: '5', neighbourNsu: '3', neighbourBalanceCents: '10300', fullReads: 2 },
      },
    ]);
    const { standing } = reconciliationOn(service.database, jobQueue);
    const kinds = async () => {
      const where = { accountId, state: 'open' };
      const open = await service.database.prisma.break.findMany({ where });
      return open.map(({ kind }) => kind);
    };
    await standing.tell(accountId);
    await standing.tell(accountId);
    expect(await kinds()).toEqual(['broken_balance_chain']);
    bank.withheld.clear();
    await change('gap_next_read_at = NULL');
    await sync();
    expect((await view()).broken).toBeNull();
    await standing.tell(accountId);
    expect(await kinds()).toEqual([]);
    expect(await untold()).toEqual([]);
  });

  it.each(orders)('goes on where its first reading was cut off, pages %s', async (order) => {
    bank.order = order;
    bank.lines = credits(60);
    bank.beforePage = (page) => {
      if (page === 15) throw new Error('the process died here');
    };
    await expect(sync()).rejects.toThrow('died');
    expect((await view()).import).toMatchObject({ lines: 42n });
    bank.beforePage = () => undefined;
    bank.pagesRead = 0;
    bank.lines = credits(62);
    await sync();
    expect(await mirrored()).toEqual(upTo(62));
    expect(bank.pagesRead).toBeLessThanOrEqual(13);
    expect(await view()).toMatchObject({ import: null });
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('is read whole for the first time although lines show up among those that were passed over', async () => {
    bank.lines = credits(60);
    bank.withheld.add(50).add(40).add(41).add(42).add(43);
    bank.beforePage = (page) => {
      if (page === 12) throw new Error('the process died here');
    };
    await expect(sync()).rejects.toThrow('died');
    bank.beforePage = () => undefined;
    bank.withheld.clear();
    await sync();
    await sync();
    expect(await mirrored()).toEqual(upTo(60));
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('lets other accounts be read while it is read for the first time, and is judged meanwhile', async () => {
    bank.lines = credits(40);
    for (let slices = 0; slices < 40 && !(await mirrored()).includes(1); slices += 1) {
      woken = [];
      await sync({ sliceMs: 0 });
      expect(woken).toContain('syncStatement');
    }
    await sync();
    expect(await mirrored()).toEqual(upTo(40));
    expect(await state()).toMatchObject({ isAnchored: true, firstGapNsu: null });
    expect(woken).toContain('settleWebhooks');
  });

  it('is whole although pages change their order and their length from poll to poll', async () => {
    const shapes = [
      { order: 'desc', mostLines: 3 },
      { order: 'asc', mostLines: 2 },
      { order: 'desc', mostLines: 1 },
      { order: 'asc', mostLines: 3 },
    ] as const;
    for (const [index, shape] of [...shapes, ...shapes].entries()) {
      Object.assign(bank, shape);
      bank.lines = credits(12 + index * 4);
      await sync();
      expect(await mirrored()).toEqual(upTo(12 + index * 4));
    }
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('settles a line that came otherwise once it comes as it was, and opens it when it does not', async () => {
    const other = credits(3).map((line) =>
      line.nsu === 2 ? { ...line, override: { notes: 'written over' } } : line,
    );
    const aside = () => service.database.prisma.unreadableLine.findMany({ where: { accountId } });
    bank.lines = credits(3);
    await sync();
    for (const resolution of [null, 'restored', null]) {
      bank.lines = resolution ? credits(3) : other;
      woken = [];
      await sync();
      expect(await aside()).toMatchObject([{ kind: 'changed', nsu: 2n, resolution }]);
      expect(await untold()).toHaveLength(resolution ? 0 : 1);
      expect(woken).toContain('reconcile');
    }
  });

  it('takes a line that can be read by now, once, and leaves what still cannot be', async () => {
    bank.lines = [{ nsu: 1, cents: 100, override: { amount: new LosslessNumber('10.005') } }];
    await sync();
    const [, id] = await setLineAside(service.database.pool, accountId, { nsu: 2 });
    // One whose content is gone holds up no other.
    const [, gone] = await setLineAside(service.database.pool, accountId, {
      ...{ nsu: 3, id: '0'.repeat(64) },
    });
    await service.database.pool.query(
      `UPDATE unreadable_line SET content = '' WHERE content_hash = $1`,
      [gone],
    );
    const lines = new UnreadableLines(service.database, jobQueue);
    expect(await lines.redrive(accountId)).toEqual({ read: 1, unreadable: 2 });
    expect(await mirrored()).toEqual([2]);
    expect(await lines.get(accountId, id)).toMatchObject({ resolution: 'read' });
    expect(woken).toEqual(expect.arrayContaining(['syncStatement', 'reconcile']));
    expect(await lines.redrive(accountId)).toEqual({ read: 0, unreadable: 2 });
    await expect(lines.get(accountId + 1, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is held against what the bank says the account holds, and is off when that lasts', async () => {
    let answer: unknown = {
      outcome: 'success',
      value: { amountAvailable: 10_350n, amountBlocked: 0n },
    };
    let calls = 0;
    const balances = new LiveBalance(
      service.database,
      accounts,
      { profile: bank.profile, call: () => Promise.resolve((calls += 1) && answer) } as never,
      jobQueue,
    );
    const ask = async () => {
      await change('live_balance_next_at = NULL');
      await balances.ask(accountId);
      return (await view()).liveBalance;
    };
    await balances.ask(accountId);
    expect(calls).toBe(0);
    bank.lines = credits(3);
    await sync();
    expect(await ask()).toMatchObject({ amountCents: 10_350n, agrees: false });
    await balances.ask(accountId);
    expect(calls).toBe(1);
    await ask();
    expect(await untold()).toEqual([]);
    await change(`balance_differs_since = now() - interval '11 seconds'`);
    await ask();
    expect(await untold()).toMatchObject([
      { kind: 'balance_mismatch', subject: 'balance:3', amountCents: 50n },
    ]);
    answer = { outcome: 'success', value: { amountAvailable: 10_200n, amountBlocked: 100n } };
    expect(await ask()).toMatchObject({ amountCents: 10_300n, agrees: true });
    expect(await untold()).toEqual([]);
    answer = { outcome: 'rejection', status: 404, text: '{}' };
    await ask();
    const { rows } = await service.database.pool.query<{ isLater: boolean }>(
      `SELECT live_balance_next_at > now() + interval '50 minutes' AS "isLater" FROM statement_state
       WHERE account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([{ isLater: true }]);
  });
});
