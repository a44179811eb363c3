// The decided lines that a bench inserts by SQL are stored as if the product had decided them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LineBook, openReconciliation } from '../../../bench/reconciliation-book.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

const lines = 120;
const openPayments = 8;
const matchedOfTen = 6;
const tables = [
  ...[
    'account_counter',
    'day_total',
    'open_break_total',
    'break',
    'break_history_entry',
    'event',
    'event_position',
  ],
  ...['expected_payment_total', 'line_outcome', 'match', 'reconciliation_state'],
  ...['reconciliation_task'],
];
/** Of each row of its own: ids and times, and the hash of a line with its salt. */
const ownColumns = [
  ...['account_id', 'id', 'created_at', 'opened_at', 'decided_arrival'],
  ...['leaf_hash', 'position'],
];

let test: TestDatabase;
const written: Record<'bySql' | 'byProduct', Record<string, string[]>> = {
  bySql: {},
  byProduct: {},
};

beforeAll(async () => {
  test = await testDatabase('service');
  const { reconcile, disconnect } = openReconciliation(test.pool);
  const bySql = await LineBook.open(test.pool, 'by-sql', matchedOfTen);
  await bySql.addDecidedLines(lines / 2);
  await bySql.addDecidedLines(lines / 2);
  await bySql.addOpenPayments(openPayments);
  written.bySql = await readRows(bySql.accountId);
  await reconcile(bySql.accountId);
  expect(await readRows(bySql.accountId)).toEqual(written.bySql);

  const byProduct = await LineBook.open(test.pool, 'by-product', matchedOfTen);
  await byProduct.addPaymentsFor(lines);
  await byProduct.addDuePayments(openPayments);
  await reconcile(byProduct.accountId);
  await byProduct.addLines(lines);
  await reconcile(byProduct.accountId);
  written.byProduct = await readRows(byProduct.accountId);
  await disconnect();
});
afterAll(() => test.drop());

/** The rows of each table, as sorted texts in which the ids of the account's own rows are named. */
async function readRows(accountId: number): Promise<Record<string, string[]>> {
  const names = new Map<string, string>();
  const { rows: breaks } = await test.pool.query<{ id: string; subject: string }>(
    'SELECT id, subject FROM break WHERE account_id = $1',
    [accountId],
  );
  for (const { id, subject } of breaks) names.set(id, `break of ${subject}`);
  const { rows: payments } = await test.pool.query<{ id: string; value: string }>(
    `SELECT expected_payment_id AS id, value FROM expected_payment_reference
     WHERE account_id = $1 AND kind IN ('correlation_id', 'end_to_end_id')`,
    [accountId],
  );
  for (const { id, value } of payments) names.set(id, `payment ${value}`);
  const read: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await test.pool.query<Record<string, unknown>>(
      `SELECT * FROM ${table} WHERE account_id = $1`,
      [accountId],
    );
    read[table] = rows.map((row) => describeRow(table, row, names)).sort();
  }
  return read;
}

function describeRow(
  table: string,
  row: Record<string, unknown>,
  names: Map<string, string>,
): string {
  // The position in the history of breaks is that of the whole database.
  const left = table === 'break_history_entry' ? [...ownColumns, 'sequence'] : ownColumns;
  const columns = Object.entries(row)
    .filter(([name]) => !left.includes(name))
    .map(([name, value]) => [name, name === 'data' ? JSON.parse(String(value)) : value]);
  return JSON.stringify(Object.fromEntries(columns)).replaceAll(
    /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? id,
  );
}

it.each(tables)('has the rows of the product in %s', (table) => {
  expect(written.bySql[table]).toEqual(written.byProduct[table]);
});
