import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { ScriptedBank } from '../../support/scripted-bank.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { listStoredNsus } from '../../support/stored-lines.js';
import { lineQueues } from '../../support/recorded-queues.js';

let service: ServiceDatabase;
let bank: ScriptedBank;
const credits = (last: number) =>
  Array.from({ length: last }, (_, index) => ({ nsu: index + 1, cents: 100 }));
const sync = (options?: { newestIntervalMs: number }) =>
  new StatementSync(
    service.database,
    bank as never,
    ...lineQueues(),
    pino({ level: 'silent' }),
  ).sync(service.accountId, options);

beforeEach(async () => {
  service = await serviceDatabase();
  bank = new ScriptedBank();
});
afterEach(() => service.drop());

it('reads one whole page after twenty syncs of the newest lines, not before its turn', async () => {
  Object.assign(bank, { maxPageSize: 100 });
  bank.profile.statementPageSize = 50;
  bank.lines = credits(100);
  await sync();
  let pages: [number, number][] = [];
  bank.beforePage = (page, limit) => void pages.push([page, limit]);
  const pagesOfNextSync = async (syncsSince: number, lastSync: string) => {
    await service.database.pool.query(
      `UPDATE statement_state SET syncs_at_long_read = syncs - $1,
         last_sync_started_at = now() + $2::interval`,
      [syncsSince, lastSync],
    );
    bank.lines = credits(bank.lines.length + 1);
    pages = [];
    await sync();
    return pages;
  };
  expect(await pagesOfNextSync(18, '-11 seconds')).toEqual([[1, 20]]);
  // The last sync began in the same ten seconds, or in later ones.
  expect(await pagesOfNextSync(19, '10 seconds')).toEqual([[1, 20]]);
  expect(await pagesOfNextSync(25, '10 seconds')).toEqual([[1, 20]]);
  expect(await pagesOfNextSync(25, '-11 seconds')).toEqual([[1, 50]]);
  const { syncs, syncsAtLongRead } =
    await service.database.prisma.statementState.findFirstOrThrow();
  expect(syncsAtLongRead).toBe(syncs);
  expect(await service.database.prisma.statementLine.count()).toBe(104);
});

it.each([
  ['a few lines', 7, 0],
  ['more lines than a few', 30, 1],
  ['two pages of lines', 100, 1],
])('reads %s that arrive during the first import', async (_, arriving, longReads) => {
  bank.profile.statementPageSize = 50;
  bank.lines = credits(400);
  const limitsOfNewest: number[] = [];
  let storedMeanwhile: number[] = [];
  bank.beforePage = async (page, limit) => {
    if (page === 1) limitsOfNewest.push(limit);
    if (page === 3) bank.lines = credits(400 + arriving);
    if (page === 8) storedMeanwhile = await listStoredNsus(service);
  };
  await sync({ newestIntervalMs: 0 });
  // The first page of the import, and then the newest lines again and again.
  const [first, ...again] = limitsOfNewest;
  expect([first, again.filter((limit) => limit === 50).length]).toEqual([50, longReads]);
  expect(again.filter((limit) => limit === 20).length).toBeGreaterThan(5);
  expect(storedMeanwhile).toEqual(expect.arrayContaining([401, 400 + arriving]));
  expect(storedMeanwhile).not.toContain(1);
  expect(await listStoredNsus(service)).toEqual(bank.lines.map(({ nsu }) => nsu));
  const state = await service.database.prisma.statementState.findFirst();
  expect(state).toMatchObject({ isAnchored: true, firstGapNsu: null });
});
