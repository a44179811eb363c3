import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
});
