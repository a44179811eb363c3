import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { ScriptedBank } from '../../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { listStoredNsus } from '../../support/stored-lines.js';
import { lineQueues } from '../../support/recorded-queues.js';

const orders = ['desc', 'asc'] as const;

describe('the statement sync with a bank that misbehaves', () => {
  let service: ServiceDatabase;
  let bank: ScriptedBank;

  beforeEach(async () => {
    service = await serviceDatabase();
    bank = new ScriptedBank();
  });
  afterEach(() => service.drop());

  const sync = () =>
    new StatementSync(
      service.database,
      bank as never,
      ...lineQueues(),
      pino({ level: 'silent' }),
    ).sync(service.accountId);
  const storedNsus = () => listStoredNsus(service);
  const state = () => service.database.prisma.statementState.findFirstOrThrow();
  const unreadableLines = () => service.database.prisma.unreadableLine.findMany();
  const credits = (last: number) =>
    Array.from({ length: last }, (_, index) => ({ nsu: index + 1, cents: 100 }));
  const upTo = (last: number) => credits(last).map(({ nsu }) => nsu);

  it.each(orders)(
    'stores an old line once the bank stops withholding it, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(30);
      bank.withheld.add(2);
      await sync();
      expect((await state()).firstGapNsu).toBe(3n);
      bank.withheld.clear();
      await sync();
      expect(await storedNsus()).toEqual(upTo(30));
      expect((await state()).firstGapNsu).toBeNull();
    },
  );

  it.each(orders)(
    'stores a withheld line however often syncs missed it, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(30);
      bank.withheld.add(15);
      for (let syncs = 0; syncs < 6; syncs += 1) await sync();
      bank.withheld.clear();
      // The pause until the next read of the gap is over.
      await service.database.prisma.statementState.updateMany({
        data: { gapNextReadAt: new Date(0) },
      });
      await sync();
      expect(await storedNsus()).toEqual(upTo(30));
      expect((await state()).firstGapNsu).toBeNull();
    },
  );

  it.each(orders)(
    'stores all new lines while one is withheld for long, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(10);
      bank.withheld.add(5);
      for (let last = 10; last <= 40; last += 5) {
        bank.lines = credits(last);
        await sync();
        expect(await storedNsus()).toEqual(upTo(last).filter((nsu) => nsu !== 5));
      }
    },
  );

  it.each(orders)(
    'imports the whole history although its pages shift by a full page, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(12);
      bank.beforePage = (page) => {
        if (page === 2) bank.lines = credits(12 + bank.profile.statementPageSize);
      };
      await sync();
      bank.beforePage = () => undefined;
      await sync();
      expect(await storedNsus()).toEqual(upTo(15));
    },
  );

  it.each(orders)(
    'reads pages for new lines only at a bank that returns fewer lines than requested, pages %s',
    async (order) => {
      bank.order = order;
      const { call } = bank;
      bank.call = (route, account, { query }) =>
        call(route, account, { query: { ...query, limit: 2 } });
      bank.lines = credits(60);
      await sync();
      expect(await storedNsus()).toEqual(upTo(60));
      bank.pagesRead = 0;
      bank.lines = credits(62);
      await sync();
      expect(await storedNsus()).toEqual(upTo(62));
      expect(bank.pagesRead).toBeLessThanOrEqual(4);
    },
  );

  it.each(orders)(
    'continues when the bank changes the number of lines on a page, pages %s',
    async (order) => {
      bank.order = order;
      bank.lines = credits(30);
      await sync();
      bank.profile.statementPageSize = 10;
      bank.lines = credits(34);
      await sync();
      expect(await storedNsus()).toEqual(upTo(34));
      bank.profile.statementPageSize = 2;
      bank.lines = credits(40);
      await sync();
      expect(await storedNsus()).toEqual(upTo(40));
    },
  );

  it.each<[string, Record<string, unknown>]>([
    [
      'a reference longer than an index can hold',
      { correlationId: randomBytes(8_000).toString('hex') },
    ],
    [
      'an endToEndId longer than an index can hold',
      { proof: { endToEndId: randomBytes(8_000).toString('hex') } },
    ],
    ['a time in the year 0', { createdAt: '0000-01-01T00:00:00Z' }],
    ['a time before the year 1', { createdAt: '0001-01-01T00:00:00+03:00' }],
    ['the default time of .NET', { createdAt: '0001-01-01T00:00:00' }],
    ['a time at the end of time', { createdAt: '9999-12-31T23:59:59-12:00' }],
    ['NUL and unpaired surrogates', { notes: '\0\ud800', id: '\0', correlationId: 'a\udc00' }],
    ['an nsu of 18 digits', { nsu: new LosslessNumber('999999999999999999') }],
    ['the largest amounts', { amount: new LosslessNumber('999999999999.99') }],
  ])('stores all other lines beside one with %s', async (_, override) => {
    bank.lines = credits(7).map((line) => (line.nsu === 4 ? { ...line, override } : line));
    await sync();
    await sync();
    expect((await storedNsus()).filter((nsu) => nsu < 100)).toEqual(
      expect.arrayContaining([1, 2, 3, 5, 6, 7]),
    );
    expect((await storedNsus()).length + (await unreadableLines()).length).toBe(7);
  });

  it('stores an unreadable line once, however often it is shown', async () => {
    const override = { amount: new LosslessNumber('1e400') };
    bank.lines = credits(5).map((line) => (line.nsu === 3 ? { ...line, override } : line));
    for (let syncs = 0; syncs < 3; syncs += 1) await sync();
    expect(await unreadableLines()).toHaveLength(1);
    bank.lines = credits(5);
    await sync();
    expect(await storedNsus()).toEqual(upTo(5));
    expect((await state()).firstGapNsu).toBeNull();
  });

  it('is incomplete while a net amount is missing, and complete with lines of zero amount', async () => {
    bank.lines = [
      ...credits(3),
      { nsu: 4, cents: 0 },
      { nsu: 9, cents: -50 },
      { nsu: 20, cents: 1 },
    ];
    await sync();
    expect(await state()).toMatchObject({
      firstGapNsu: null,
      lastNsu: 20n,
      balanceCents: 10_251n,
    });
    bank.lines.push({ nsu: 21, cents: 7, override: { amount: new LosslessNumber('0.06') } });
    await sync();
    expect((await state()).firstGapNsu).toBe(21n);
  });

  it('stores each line once when several syncs run at once', async () => {
    bank.lines = credits(30);
    await Promise.all([sync(), sync(), sync(), sync()]);
    expect(await storedNsus()).toEqual(upTo(30));
    expect(await state()).toMatchObject({ lineCount: 30n, firstGapNsu: null });
  });
});
