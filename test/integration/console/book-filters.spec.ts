import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/statement-day.js';
import { listTransactionRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

describe('the list of transactions', () => {
  let service: ServiceDatabase;
  const { addLines, reconcile } = new SentMoneyFixture(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  it('finds a line by each reference on it and by its state', async () => {
    await addLines(
      { nsu: 1, endToEndId: 'E' },
      { nsu: 2, externalId: 'X' },
      { nsu: 3, endToEndId: 'E' },
    );
    const noFilters = {
      nsu: null,
      isCredit: null,
      from: null,
      until: null,
      afterNsu: null,
      limit: 9,
    };
    const nsus = async (filters: object) => {
      const query = { ...noFilters, reference: null, state: null, ...filters };
      const { rows } = await listTransactionRows(service.database.prisma, service.accountId, query);
      return rows.map(({ nsu }) => Number(nsu));
    };
    expect(await nsus({ reference: 'E' })).toEqual([3, 1]);
    expect(await nsus({ reference: 'E', afterNsu: 3n })).toEqual([1]);
    expect(await nsus({ reference: 'X' })).toEqual([2]);
    expect(await nsus({ reference: 'nobody' })).toEqual([]);
    expect(await nsus({ reference: 'X', nsu: 1n })).toEqual([]);
    expect(await nsus({ state: 'pending' })).toEqual([3, 2, 1]);
    await reconcile();
    expect(await nsus({ state: 'in_break' })).toEqual([3, 2, 1]);
    expect(await nsus({ state: 'pending' })).toEqual([]);
    expect(await nsus({ state: 'in_break', reference: 'X' })).toEqual([2]);
  });

  it('finds by its day also a line that came after those of later days', async () => {
    const dayMs = 86_400_000;
    const ofDay = (nsu: number, days: number) => ({ nsu, age: (days * dayMs) / 1_000 });
    await addLines(ofDay(101, 5), ofDay(102, 4), ofDay(103, 2), ofDay(104, 4), ofDay(105, 1));
    const day = (ago: number) => saoPauloDay(new Date(Date.now() - ago * dayMs));
    const find = async (dayFrom: string | null, dayTo: string | null, more = {}) => {
      const query = { dayFrom, dayTo, limit: 9, ...more };
      const { rows } = await listTransactionRows(service.database.prisma, service.accountId, query);
      return rows.map(({ nsu }) => Number(nsu)).filter((nsu) => nsu > 100);
    };
    expect(await find(day(5), day(4))).toEqual([104, 102, 101]);
    expect(await find(day(4), day(2))).toEqual([104, 103, 102]);
    expect(await find(null, day(4))).toEqual([104, 102, 101]);
    expect(await find(day(1), null)).toEqual([105]);
    expect(await find(day(5), day(1), { minAmount: 1_001n })).toEqual([]);
    expect(await find(day(5), day(1), { state: 'pending', maxAmount: 1_000n })).toHaveLength(5);
  });
});
