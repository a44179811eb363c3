// What readiness says when PostgreSQL has no space left, and still answers.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DiskSpace } from '../../../src/platform/postgres/disk-space.queries.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase('service');
});
afterAll(() => test.drop());

it('shows that no table can grow, and leaves nothing behind', async () => {
  const { pool } = test;
  const tables = async () =>
    (await pool.query(`SELECT 1 FROM pg_class WHERE relname = 'disk_space'`)).rows.length;
  expect(await new DiskSpace(pool).isThere()).toBe(true);
  expect(await tables()).toBe(0);
  await pool.query(`
    CREATE FUNCTION no_space() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE EVENT TRIGGER no_space ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
      EXECUTE FUNCTION no_space()`);
  const space = new DiskSpace(pool);
  expect(await space.isThere()).toBe(false);
  await pool.query('DROP EVENT TRIGGER no_space');
  // It is asked rarely: a flood of requests writes no more.
  expect(await space.isThere()).toBe(false);
  expect(await new DiskSpace(pool).isThere()).toBe(true);
});
