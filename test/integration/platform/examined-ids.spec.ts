import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Db } from '../../../src/platform/postgres/database.service.js';
import { fewRows, listExaminedIds } from '../../../src/platform/http/examined-ids.queries.js';
import { Prisma } from '../../../src/generated/service/client.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

/** One more than a page examines. */
const rowCount = 2_001;

let service: ServiceDatabase;

beforeAll(async () => {
  service = await serviceDatabase();
  await service.database.pool.query(
    `CREATE TABLE listed AS
     SELECT 1 AS account_id, lpad(n::text, 32, '0')::uuid AS id, true AS is_waiting,
            n = 1 AS is_wanted
     FROM generate_series(1, ${rowCount}) n`,
  );
});
afterAll(() => service.drop());

it('finds a row though newer ones leave the list between any two of its statements', async () => {
  const { pool, prisma } = service.database;
  const leave = () =>
    pool.query(
      `UPDATE listed SET is_waiting = false WHERE id IN (
         SELECT id FROM listed WHERE is_waiting ORDER BY id DESC LIMIT 1)`,
    );
  const db = {
    $queryRaw: async (...query: Parameters<Db['$queryRaw']>) => {
      const rows = await prisma.$queryRaw(...query);
      await leave();
      return rows;
    },
  } as unknown as Db;
  const examined = {
    rows: fewRows(Prisma.sql`listed`, 1, Prisma.sql`is_waiting`),
    key: Prisma.sql`id`,
    filters: [Prisma.sql`is_wanted`],
  };
  const found: string[] = [];
  for (let after: string | null = null, isDone = false; !isDone;) {
    const page = await listExaminedIds(db, 1, examined, { after, limit: 10 });
    found.push(...page.ids);
    after = page.lastExamined;
    isDone = after === null;
  }
  expect(found).toHaveLength(1);
});
