// A database of the last release is migrated to this version while other sessions read and write
// it. MIGRATION_LINES sets its size and prints what was measured (CONTRIBUTING.md).
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { addBookAccount, bookOf, storeBook } from '../../bench/harness/book.js';
import { applyMigrations } from '../../src/platform/postgres/migrations.js';
import { MigrationTraffic } from '../support/migration-traffic.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { extractReleasedMigrations } from '../support/released-version.js';
import { until } from '../support/until.js';

const release = '0.2.0';
const folder = join(import.meta.dirname, '../../prisma/service/migrations');
const lines = Number(process.env.MIGRATION_LINES ?? 100_000);
/** A second with 10⁶ lines: three tries for a lock take as long with fewer, the rest grows. */
const limitMs = 750 + lines / 4_000;

let scratch: string;
let released: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'concilia-released-'));
  released = extractReleasedMigrations(release, scratch);
});
afterAll(() => rmSync(scratch, { recursive: true }));

async function releasedDatabase(ofLines: number) {
  const database = await testDatabase();
  await applyMigrations({ url: database.url, folder: released, log: () => undefined });
  let accountId = 0;
  for (const [slug, size] of Object.entries({ large: ofLines, small: 2_000 })) {
    accountId = await addBookAccount(database.pool, slug);
    const book = { ...bookOf(accountId, size, 'matched'), inBreak: 0.3, names: 50_000 };
    await storeBook(database.pool, book);
  }
  await database.pool.query(`SET session_replication_role = replica; ${restOfBook.join(';')};
    RESET session_replication_role; ANALYZE`);
  return { database, accountId };
}

/** What a book lacks: whom webhooks and look-ups named, and the events. */
const restOfBook = [
  `INSERT INTO webhook_counterparty (account_id, reference_kind, reference, is_credit, name)
   SELECT account_id, 'nsu', nsu::text, is_credit, counterparty_name FROM statement_line`,
  `INSERT INTO pix_lookup (account_id, end_to_end_id, counterparty, looked_up_at, expires_at)
   SELECT account_id, 'L' || nsu, 'x', now(), now() FROM statement_line WHERE nsu % 10 = 0`,
  `INSERT INTO event_position SELECT account_id, max(nsu) FROM statement_line GROUP BY 1`,
  `INSERT INTO event (account_id, id, position, type, resource_kind, resource_id, sequence, data)
   SELECT account_id, gen_random_uuid(), nsu, 'charge.paid', 'charge', nsu, 1, '{"nsu":1}'
   FROM statement_line`,
];

const migrations = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(join(folder, name, 'migration.sql'), 'utf8') }));

/** PostgreSQL keeps the beginning of the text of a statement. */
const migrationOf = (query: string) =>
  migrations.find(({ sql }) => query !== '' && sql.includes(query.trim()))?.name;

const listInvalidIndexes = async ({ pool }: TestDatabase) => {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid',
  );
  return rows.map(({ name }) => name);
};

/** Names of lines that were not kept, and such that no line has any more. */
const listNameDifferences = async ({ pool }: TestDatabase) =>
  (
    await pool.query(
      `SELECT name, kept.account_id IS NOT NULL AS "isKept" FROM (
         SELECT DISTINCT account_id, lower("left"(counterparty_name, 100)) AS name
         FROM statement_line WHERE counterparty_name IS NOT NULL
       ) stored FULL JOIN line_name kept USING (account_id, name)
       WHERE stored.account_id IS NULL OR kept.account_id IS NULL`,
    )
  ).rows;

it(`stop no statement for a second beside ${lines} lines`, async () => {
  const startedAtMs = performance.now();
  const { database, accountId } = await releasedDatabase(lines);
  const filledAtMs = performance.now();
  const traffic = await MigrationTraffic.start(database.url, accountId);
  const messages: string[] = [];
  try {
    await applyMigrations({ url: database.url, folder, log: (line) => messages.push(line) });
  } finally {
    await traffic.stop();
  }
  const blocked = traffic
    .blocked()
    .map(({ ms, lock, waiting, blocker }) =>
      [`${ms} ms for ${lock}`, waiting, `behind ${migrationOf(blocker) ?? 'traffic'}`, blocker]
        .map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 120))
        .join(' | '),
    );
  if (process.env.MIGRATION_LINES)
    process.stdout.write(
      `${[
        `filled in ${Math.round((filledAtMs - startedAtMs) / 1_000)} s`,
        `migrated in ${Math.round((performance.now() - filledAtMs) / 1_000)} s`,
        ...messages,
        `${traffic.statements} statements, of which the longest took ${traffic.longest.ms} ms`,
        ...blocked.slice(0, 10),
      ].join('\n')}\n`,
    );
  expect([...traffic.failures]).toEqual([]);
  if (traffic.longest.ms >= limitMs) expect([traffic.longest, ...blocked.slice(0, 5)]).toEqual([]);
  expect(await listInvalidIndexes(database)).toEqual([]);
  expect(await listNameDifferences(database)).toEqual([]);
  await database.drop();
}, 3_600_000);

/** Its sessions are killed when the index is there and not valid yet. */
function killedAt(index: string, { pool }: TestDatabase): pg.Pool {
  const connect = async () => {
    const client = await pool.connect();
    client.on('error', () => undefined);
    const query = client.query.bind(client) as (
      text: string,
      values?: unknown[],
    ) => Promise<unknown>;
    const killing = async (text: string, values?: unknown[]) => {
      if (!text.includes(` INDEX CONCURRENTLY "${index}" ON`)) return query(text, values);
      // The index becomes valid when no transaction is left that may not see it.
      const holder = await pool.connect();
      await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1');
      const created = query(text).catch((error: unknown) => error);
      await until('the index is there', async () =>
        (await listInvalidIndexes({ pool } as TestDatabase)).includes(index),
      );
      await pool.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE query ~ 'CREATE.* INDEX CONCURRENTLY' AND pid <> pg_backend_pid()`,
      );
      holder.release(true);
      throw await created;
    };
    return Object.assign(client, { query: killing });
  };
  return { connect } as unknown as pg.Pool;
}

it('leave no invalid index when they are killed and run again', async () => {
  const { database } = await releasedDatabase(2_000);
  const indexes = migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/INDEX CONCURRENTLY "(\w+)" ON/g)].map(([, name = '']) => name),
  );
  expect(indexes).not.toEqual([]);
  const log = () => undefined;
  for (const index of indexes) {
    const pool = killedAt(index, database);
    await expect(applyMigrations({ pool, folder, log })).rejects.toThrow(/terminat/);
    expect(await listInvalidIndexes(database)).toEqual([index]);
  }
  const { applied } = await applyMigrations({ url: database.url, folder, log });
  expect(applied).not.toEqual([]);
  expect(await listInvalidIndexes(database)).toEqual([]);
  const { rows } = await database.pool.query(
    'SELECT indexrelid::regclass::text AS name FROM pg_index',
  );
  expect(rows.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(indexes));
  expect(await listNameDifferences(database)).toEqual([]);
  await database.drop();
}, 300_000);
