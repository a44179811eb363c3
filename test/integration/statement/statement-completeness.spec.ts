// How the statement copy becomes complete again after gaps and interruptions, or reports that it is
// not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import * as statementBreaks from '../../../src/reconciliation/apply/break-writer.queries.js';
import { readStatementView } from '../../../src/statement/lines/statement-view.queries.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { PacedSync } from '../../../src/statement/lines/paced-sync.service.js';
import { UnreadableLines } from '../../../src/statement/lines/unreadable-lines.service.js';
import { reconciliationOn } from '../../support/reconciliation.js';
import { ScriptedBank, type ScriptedLine } from '../../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { insertUnreadableLine } from '../../support/unreadable-lines.js';
import { addAccounts } from '../../support/parent-rows.js';
import { lineQueues, recordedQueues } from '../../support/recorded-queues.js';

const orders = ['desc', 'asc'] as const;

describe('the completeness of the statement copy', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: ScriptedBank;
  let enqueued: string[];

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new ScriptedBank();
    enqueued = [];
  });

  const queueOf = recordedQueues((job) => enqueued.push(job));
  const sync = (options = {}) =>
    new StatementSync(
      service.database,
      bank as never,
      ...lineQueues((job) => enqueued.push(job)),
      pino({ level: 'silent' }),
    ).sync(accountId, options);
  const state = () =>
    service.database.prisma.statementState.findUniqueOrThrow({ where: { accountId } });
  const storedNsus = async () => {
    const rows = await service.database.prisma.statementLine.findMany({
      where: { accountId },
      orderBy: { nsu: 'asc' },
    });
    return rows.map(({ nsu }) => Number(nsu));
  };
  const view = () => readStatementView(service.database.prisma, accountId);
  const unreportedBreaks = () =>
    statementBreaks.listUnreportedStatementBreaks(service.database.prisma, accountId, 1_000);
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

  /**
   * An initial balance of 100.00 and 1.00 a line; the second and third lines were booked in reverse
   * order.
   */
  const swapped = (last: number) =>
    credits(last).map((line) => {
      if (line.nsu === 2) return { ...line, override: balances('102.00', '103.00') };
      return line.nsu === 3 ? { ...line, override: balances('101.00', '102.00') } : line;
    });

  it('is complete when the bank numbers lines in another order than it books them', async () => {
    bank.lines = swapped(5);
    await sync();
    expect(await state()).toMatchObject({ firstGapNsu: null, balanceCents: 10_500n });
  });

  it('stores the balance reached when the last lines are numbered out of order', async () => {
    const expectBalance = async (balanceCents: bigint) => {
      await sync();
      expect(await state()).toMatchObject({ firstGapNsu: null, balanceCents });
    };
    bank.lines = swapped(3);
    await expectBalance(10_300n);
    await expectBalance(10_300n);
    // Also out of order: their balances continue from line 3, the highest number, although line 2
    // was booked last.
    bank.lines.push({ nsu: 4, cents: 100, override: balances('102.00', '103.00') });
    bank.lines.push({ nsu: 5, cents: -100, override: balances('103.00', '102.00') });
    await expectBalance(10_300n);
  });

  it.each(orders)(
    'stores a late line with an old time where pages are ordered by time, %s',
    async (order) => {
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
      expect(await storedNsus()).toEqual(upTo(24));
      expect((await state()).firstGapNsu).toBeNull();
    },
  );

  it('is broken once a gap is older than the bound and two full reads did not fill it', async () => {
    bank.lines = credits(9);
    bank.withheld.add(4);
    await sync();
    await sync();
    await sync();
    expect(await view()).toMatchObject({ broken: null });
    await change(`gap_since = now() - interval '11 seconds'`);
    for (const isBroken of [false, true]) {
      enqueued = [];
      await change('gap_next_read_at = NULL');
      await sync();
      expect((await view()).broken !== null).toBe(isBroken);
    }
    expect((await view()).broken?.nsu).toBe(5n);
    expect(enqueued).toContain('reconcile');
    expect(await unreportedBreaks()).toMatchObject([
      {
        ...{ kind: 'broken_balance_chain', subject: 'gap:5', nsu: 5n, amountCents: 100n },
        evidence: { nsu: '5', neighbourNsu: '3', neighbourBalanceCents: '10300', fullReads: 2 },
      },
    ]);
    const { breaks } = reconciliationOn(service.database, queueOf);
    const refresh = () =>
      service.database.transaction((tx) => breaks.refreshStatementBreaks(tx, accountId));
    const kinds = async () => {
      const where = { accountId, state: 'open' as const };
      const open = await service.database.prisma.break.findMany({ where });
      return open.map(({ kind }) => kind);
    };
    await refresh();
    await refresh();
    expect(await kinds()).toEqual(['broken_balance_chain']);
    bank.withheld.clear();
    await change('gap_next_read_at = NULL');
    await sync();
    expect((await view()).broken).toBeNull();
    await refresh();
    expect(await kinds()).toEqual([]);
    expect(await unreportedBreaks()).toEqual([]);
  });

  it.each(orders)('resumes an interrupted import, pages %s', async (order) => {
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
    expect(await storedNsus()).toEqual(upTo(62));
    expect(bank.pagesRead).toBeLessThanOrEqual(13);
    expect(await view()).toMatchObject({ import: null });
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('imports lines that appear among the pages that a resumed import skips', async () => {
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
    expect(await storedNsus()).toEqual(upTo(60));
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('imports a long history in slices, so that other accounts are synced between', async () => {
    bank.lines = credits(40);
    for (let slices = 0; slices < 40 && !(await storedNsus()).includes(1); slices += 1) {
      enqueued = [];
      await sync({ sliceMs: 0 });
      expect(enqueued).toContain('syncStatement');
    }
    await sync();
    expect(await storedNsus()).toEqual(upTo(40));
    expect(await state()).toMatchObject({ isAnchored: true, firstGapNsu: null });
    expect(enqueued).toContain('processWebhooks');
  });

  it('is complete although pages change their order and length between syncs', async () => {
    const shapes = [
      { order: 'desc', maxPageSize: 3 },
      { order: 'asc', maxPageSize: 2 },
      { order: 'desc', maxPageSize: 1 },
      { order: 'asc', maxPageSize: 3 },
    ] as const;
    for (const [index, shape] of [...shapes, ...shapes].entries()) {
      Object.assign(bank, shape);
      bank.lines = credits(12 + index * 4);
      await sync();
      expect(await storedNsus()).toEqual(upTo(12 + index * 4));
    }
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('resolves a changed line once it is shown as stored, and reopens it when it differs again', async () => {
    const other = credits(3).map((line) =>
      line.nsu === 2 ? { ...line, override: { notes: 'written over' } } : line,
    );
    const unreadableLines = () =>
      service.database.prisma.unreadableLine.findMany({ where: { accountId } });
    bank.lines = credits(3);
    await sync();
    for (const resolution of [null, 'restored', null]) {
      bank.lines = resolution ? credits(3) : other;
      enqueued = [];
      await sync();
      expect(await unreadableLines()).toMatchObject([{ kind: 'changed', nsu: 2n, resolution }]);
      expect(await unreportedBreaks()).toHaveLength(resolution ? 0 : 1);
      expect(enqueued).toContain('reconcile');
    }
  });

  it('records a line once when it becomes readable, and leaves other lines unreadable', async () => {
    bank.lines = [{ nsu: 1, cents: 100, override: { amount: new LosslessNumber('10.005') } }];
    await sync();
    const [, id] = await insertUnreadableLine(service.database.pool, accountId, { nsu: 2 });
    // A line with erased content does not stop the others.
    const [, erasedId] = await insertUnreadableLine(service.database.pool, accountId, {
      ...{ nsu: 3, id: '0'.repeat(64) },
    });
    await service.database.pool.query(
      `UPDATE unreadable_line SET content = '' WHERE content_hash = $1`,
      [erasedId],
    );
    const lines = new UnreadableLines(
      service.database,
      queueOf('syncStatement'),
      queueOf('reconcile'),
    );
    expect(await lines.redrive(accountId)).toEqual({ read: 1, unreadable: 2 });
    expect(await storedNsus()).toEqual([2]);
    expect(await lines.get(accountId, id)).toMatchObject({ resolution: 'read' });
    expect(enqueued).toEqual(expect.arrayContaining(['syncStatement', 'reconcile']));
    expect(await lines.redrive(accountId)).toEqual({ read: 0, unreadable: 2 });
    await expect(lines.get(accountId + 1, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('reads a stored line whose text has a key twice, and stores that text', async () => {
    const { pool } = service.database;
    await insertUnreadableLine(pool, accountId, { nsu: 2 });
    const { rows } = await pool.query<{ content: string }>(
      `UPDATE unreadable_line SET content = '{"notes": "a", "notes": "b",' || substr(content, 2)
       WHERE account_id = $1 RETURNING content`,
      [accountId],
    );
    const lines = new UnreadableLines(
      service.database,
      queueOf('syncStatement'),
      queueOf('reconcile'),
    );
    expect(await lines.redrive(accountId)).toEqual({ read: 1, unreadable: 0 });
    const line = await service.database.prisma.statementLine.findFirstOrThrow({
      where: { accountId, nsu: 2 },
    });
    expect(line).toMatchObject({ notes: 'b', content: rows[0]?.content });
  });

  it('is compared with the balance that the bank reports, and has a break when they keep differing', async () => {
    let response: unknown = {
      outcome: 'success',
      value: { amountAvailable: 10_350n, amountBlocked: 0n },
    };
    let calls = 0;
    const account = { id: accountId, slug: 'main', goLiveAt: null };
    const balances = new PacedSync(
      service.database,
      { profile: bank.profile, call: () => Promise.resolve((calls += 1) && response) } as never,
      queueOf('reconcile'),
      { sync: (_: number, options: object) => sync(options) } as never,
    );
    const compare = async () => {
      await change('live_balance_next_at = NULL');
      await balances.compareWithBank(account);
      return (await view()).liveBalance;
    };
    await balances.compareWithBank(account);
    expect(calls).toBe(0);
    bank.lines = credits(3);
    await sync();
    expect(await compare()).toMatchObject({ amountCents: 10_350n, agrees: false, nsu: 3n });
    await balances.compareWithBank(account);
    expect(calls).toBe(1);
    await compare();
    expect(await unreportedBreaks()).toEqual([]);
    await change(`balance_differs_since = now() - interval '11 seconds'`);
    await compare();
    expect(await unreportedBreaks()).toMatchObject([
      { kind: 'balance_mismatch', subject: 'balance:3', amountCents: 50n },
    ]);
    response = { outcome: 'success', value: { amountAvailable: 10_200n, amountBlocked: 100n } };
    expect(await compare()).toMatchObject({
      ...{ amountCents: 10_300n, blockedCents: 100n, agrees: true },
    });
    expect(await unreportedBreaks()).toEqual([]);
    // Only the available amount: a block may explain that it is lower.
    response = { outcome: 'success', value: { amountAvailable: 10_150n } };
    expect(await compare()).toMatchObject({
      ...{ amountCents: 10_150n, blockedCents: null, agrees: null },
    });
    response = { outcome: 'success', value: { amountAvailable: 10_300n } };
    expect(await compare()).toMatchObject({ amountCents: 10_300n, agrees: true, nsu: 3n });
    // A newer line: nobody knows whether the bank's balance is still that of the statement.
    bank.lines = credits(4);
    await sync();
    expect((await view()).liveBalance).toMatchObject({ nsu: 3n, agrees: null });
    // A line that comes while the balance is read.
    bank.lines = credits(5);
    expect(await compare()).toMatchObject({ amountCents: 10_300n, nsu: 3n, agrees: null });
    response = { outcome: 'success', value: { amountAvailable: 10_500n } };
    expect(await compare()).toMatchObject({ amountCents: 10_500n, nsu: 5n, agrees: true });
    response = { outcome: 'rejection', status: 404, text: '{}' };
    await compare();
    const { rows } = await service.database.pool.query<{ isLater: boolean }>(
      `SELECT live_balance_next_at > now() + interval '50 minutes' AS "isLater"
       FROM statement_state WHERE account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([{ isLater: true }]);
  });

  /** A history that was read to its beginning and whose chain is not checked yet. */
  const storeHistory = async (lines: number, missing: number) => {
    await service.database.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, nsu, nsu::text, true, 100, 'CREDIT_PIX', nsu * 100, nsu * 100 + 100,
              '2026-11-21T12:00:00Z'::timestamptz + nsu * interval '1 second', nsu::text, '{}'
       FROM generate_series(1, $2::int) nsu WHERE nsu <> $3`,
      [accountId, lines, missing],
    );
    await service.database.pool.query(
      `INSERT INTO statement_state (account_id, line_count, first_gap_nsu, page_order, page_lines)
       VALUES ($1, $2, 1, 'desc', 3)`,
      [accountId, lines],
    );
  };

  it.each([
    ['complete', 0, null],
    ['a line is missing', 110_000, 110_001n],
  ])(
    'checks a long history slice by slice, and keeps its progress: %s',
    async (_, missing, gap) => {
      await storeHistory(120_000, missing);
      const seen: (bigint | null)[] = [];
      // Each sync ends after one slice: the bank shows no new line.
      for (let syncs = 1; syncs <= 3; syncs += 1) {
        await sync({ sliceMs: -1 });
        const { isAnchored, firstGapNsu } = await state();
        seen.push(firstGapNsu);
        expect(isAnchored).toBe(syncs === 3);
        expect(enqueued.at(-1)).toBe(syncs === 3 ? 'processWebhooks' : 'syncStatement');
      }
      expect(seen).toEqual([50_001n, 99_951n, gap]);
    },
  );
});
