import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TableStatistics } from '../../../src/platform/postgres/table-statistics/table-statistics.service.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let statistics: TableStatistics;

beforeAll(async () => {
  service = await serviceDatabase();
  statistics = new TableStatistics(service.database);
});
afterAll(() => service.drop());

/** PostgreSQL counts what a session has done once the session is idle, or at once when asked to. */
const add = (rows: number) =>
  service.database.transaction(async (tx) => {
    await tx.$executeRaw`
      INSERT INTO webhook_event (account_id, event_type, body_hash, body, state)
      SELECT ${service.accountId}::int, 'PIX', gen_random_uuid()::text, '\\x00', 'processed'
      FROM generate_series(1, ${rows}::int)`;
    await tx.$executeRaw`SELECT pg_stat_force_next_flush()`;
  });

/** How often the table was analysed, and of how many rows its statistics are. */
const analyses = async () => {
  const { rows } = await service.database.pool.query<{ count: number; rows: number }>(
    `SELECT analyze_count::int AS count, reltuples::int AS rows
     FROM pg_stat_user_tables JOIN pg_class ON oid = relid WHERE oid = 'webhook_event'::regclass`,
  );
  return rows[0];
};

it('analyses a table each time that it has quadrupled, and a table of few rows never', async () => {
  await add(400);
  await statistics.renew();
  expect(await analyses()).toMatchObject({ count: 0 });
  await add(1);
  await statistics.renew();
  expect(await analyses()).toEqual({ count: 1, rows: 401 });
  await add(3 * 401);
  await statistics.renew();
  expect(await analyses()).toEqual({ count: 1, rows: 401 });
  await add(1);
  await statistics.renew();
  expect(await analyses()).toEqual({ count: 2, rows: 1_605 });
});

it('leaves a table to the session that vacuums or changes it', async () => {
  await add(10_000);
  const { pool } = service.database;
  const other = await pool.connect();
  await other.query('BEGIN; LOCK TABLE webhook_event IN SHARE UPDATE EXCLUSIVE MODE');
  await statistics.renew();
  expect(await analyses()).toMatchObject({ count: 2 });
  await other.query('ROLLBACK');
  other.release();
  await statistics.renew();
  expect(await analyses()).toMatchObject({ count: 3 });
});
