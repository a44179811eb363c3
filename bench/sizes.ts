// `npm run bench -- sizes [LINES]`: the bytes on disk of a statement line and of everything that is
// stored for it, by table, in a book of which most lines match and in one of open breaks. Webhooks
// are without their bodies, as after `WEBHOOK_BODY_RETENTION_DAYS`.
import { testDatabase } from '../test/support/postgres.js';
import { alignColumns } from '../test/support/table.js';
import { addBookAccount, bookOf, storeBook } from './harness/book.js';
import { withBenchPostgres } from './harness/postgres.js';

const kinds = ['matched', 'open breaks'] as const;

/** Bytes a line, indexes included, by table. */
async function measureBook(kind: (typeof kinds)[number], lines: number) {
  const test = await testDatabase('service');
  try {
    await storeBook(test.pool, bookOf(await addBookAccount(test.pool, 'book'), lines, kind));
    const { rows } = await test.pool.query<{ table: string; bytes: number }>(
      `SELECT relname AS table, pg_total_relation_size(oid)::float8 / $1 AS bytes
       FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
      [lines],
    );
    return new Map(rows.map(({ table, bytes }) => [table, bytes]));
  } finally {
    await test.drop();
  }
}

async function measure(lines: number): Promise<void> {
  const books: Map<string, number>[] = [];
  for (const kind of kinds) books.push(await measureBook(kind, lines));
  const tables = [...new Set(books.flatMap((book) => [...book.keys()]))];
  const rows = tables
    .map((table) => [table, ...books.map((book) => Math.round(book.get(table) ?? 0))] as const)
    .filter(([, ...bytes]) => bytes.some((count) => count >= 2))
    .sort((a, b) => Number(b[1]) - Number(a[1]));
  const total = books.map((book) => Math.round([...book.values()].reduce((a, b) => a + b, 0)));
  const header = [`bytes a line, ${lines.toLocaleString('en-US')} lines`, ...kinds];
  console.log(alignColumns([header, ...rows, ['all', ...total]]).join('\n'));
}

await withBenchPostgres(() => measure(Number(process.argv[2] ?? 100_000)));
