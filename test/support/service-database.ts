// A new database with the service's tables and one account, for tests of single modules.
import { Database } from '../../src/platform/postgres/database.service.js';
import { testDatabase } from './postgres.js';

export interface ServiceDatabase {
  database: Database;
  /** The account `main`. */
  accountId: number;
  drop(): Promise<void>;
}

export async function serviceDatabase(goLiveAt = new Date(0)): Promise<ServiceDatabase> {
  const test = await testDatabase('service');
  const database = new Database(test.pool);
  const { id } = await database.prisma.bankAccount.create({ data: { slug: 'main', goLiveAt } });
  return {
    database,
    accountId: id,
    drop: async () => {
      await database.prisma.$disconnect();
      await test.drop();
    },
  };
}
