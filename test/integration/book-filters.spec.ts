import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listTransactionRows } from '../../src/reconciliation/book.queries.js';
import { SentMoney } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('the book', () => {
  let service: ServiceDatabase;
  const { mirror, reconcile } = new SentMoney(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  it('finds a line by each id that it bears, and by what it is', async () => {
    await mirror(
      { nsu: 1, endToEndId: 'E' },
      { nsu: 2, externalId: 'X' },
      { nsu: 3, endToEndId: 'E' },
    );
    const all = { nsu: null, isCredit: null, from: null, until: null, beforeNsu: null, limit: 9 };
    const nsus = async (filters: object) => {
      const asked = { ...all, reference: null, state: null, ...filters };
      const rows = await listTransactionRows(service.database.prisma, service.accountId, asked);
      return rows.map(({ nsu }) => Number(nsu));
    };
    expect(await nsus({ reference: 'E' })).toEqual([3, 1]);
    expect(await nsus({ reference: 'E', beforeNsu: 3n })).toEqual([1]);
    expect(await nsus({ reference: 'X' })).toEqual([2]);
    expect(await nsus({ reference: 'nobody' })).toEqual([]);
    expect(await nsus({ reference: 'X', nsu: 1n })).toEqual([]);
    expect(await nsus({ state: 'pending' })).toEqual([3, 2, 1]);
    await reconcile();
    expect(await nsus({ state: 'in_break' })).toEqual([3, 2, 1]);
    expect(await nsus({ state: 'pending' })).toEqual([]);
    expect(await nsus({ state: 'in_break', reference: 'X' })).toEqual([2]);
  });
});
