// Every key and index of a table of accounts begins with the account, so that PostgreSQL can split
// the tables by it, or spread them over servers, without a change of code. Read from the catalogue.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

/** Small tables of the installation: each part of a split database has a copy of them. */
const tablesOfTheInstallation = [
  // Accounts and the keys to them: a caller is found before the account is known.
  'api_key',
  'bank_account',
  'rate_limit',
  'service_secret',
  'signing_key',
  // People, who work in several accounts, and what they did.
  'audit_entry',
  'operator',
  'operator_address',
  'operator_link',
  'operator_role',
  'operator_session',
  'sign_in_limit',
  // Written by `concilia migrate`.
  '_prisma_migrations',
];

/** One statement finds what is due in all accounts: each of these has such rows only. */
const indexesOfSweepers = [
  'bulk_file_part_first',
  'bulk_upload_unfinished',
  'idempotency_record_with_body',
  'operation_due',
  'operation_with_bodies',
  'reconciliation_schedule_due',
  'relay_delivery_ended',
  'webhook_event_with_body',
  'pix_lookup_payee',
];

/** Which encryption keys are still in use, over all accounts. */
const indexesOfKeys = [
  'break_comment_key_id',
  'idempotency_record_key_id',
  'pix_lookup_payee_key_id',
];

/** A debit in one account finds its credit in another account of the same holder. */
const indexesAcrossAccounts = ['statement_line_own_end_to_end_id', 'statement_line_own_movement'];

/** A GiST index of ranges: its first is a hash of the account and more. */
const indexesOfHashes = ['expected_payment_conditions'];

interface Index {
  name: string;
  table: string;
  firstColumn: string;
  isUnique: boolean;
  isPartial: boolean;
}

interface ForeignKey {
  name: string;
  table: string;
  target: string;
  columns: string[];
  targetColumns: string[];
}

const sortedNames = (rows: { name: string }[]) => rows.map(({ name }) => name).sort();

describe('the tables of bank accounts', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await testDatabase('service');
  });

  afterAll(async () => {
    await test.drop();
  });

  const listIndexes = async () => {
    const { rows } = await test.pool.query<Index>(
      `SELECT i.relname AS name, t.relname AS table, x.indisunique AS "isUnique",
              x.indpred IS NOT NULL AS "isPartial",
              pg_get_indexdef(x.indexrelid, 1, false) AS "firstColumn"
       FROM pg_index x
       JOIN pg_class i ON i.oid = x.indexrelid
       JOIN pg_class t ON t.oid = x.indrelid
       WHERE t.relnamespace = 'public'::regnamespace`,
    );
    return rows.filter(({ table }) => !tablesOfTheInstallation.includes(table));
  };

  it('have unique keys that begin with the account, without exception', async () => {
    const indexes = await listIndexes();
    const unique = indexes.filter(({ isUnique }) => isUnique);
    expect(unique.length).toBeGreaterThan(50);
    expect(unique.filter(({ firstColumn }) => firstColumn !== 'account_id')).toEqual([]);
  });

  it('have other indexes that begin with the account, but for the listed ones', async () => {
    const others = (await listIndexes()).filter(({ firstColumn }) => firstColumn !== 'account_id');
    const known = [
      ...[...indexesOfSweepers, ...indexesOfKeys],
      ...[...indexesAcrossAccounts, ...indexesOfHashes],
    ];
    expect(sortedNames(others)).toEqual(known.sort());
    // A whole index would grow with the history of all accounts.
    expect(others.filter(({ isPartial }) => !isPartial)).toEqual([]);
  });

  it('reference each other by the account and more, or the account alone', async () => {
    const { rows } = await test.pool.query<ForeignKey>(
      `SELECT f.conname AS name, f.conrelid::regclass::text AS table,
              f.confrelid::regclass::text AS target,
              ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY k(number, place)
                    JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number
                    ORDER BY k.place) AS columns,
              ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY k(number, place)
                    JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number
                    ORDER BY k.place) AS "targetColumns"
       FROM pg_constraint f WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace`,
    );
    expect(rows.length).toBeGreaterThan(30);
    // People are of the installation, as accounts are.
    const wrong = rows.filter(({ target, columns, targetColumns }) =>
      target === 'operator'
        ? columns.length !== 1 || targetColumns.join() !== 'id'
        : target === 'bank_account'
          ? columns.join() !== 'account_id' || targetColumns.join() !== 'id'
          : columns[0] !== 'account_id' || targetColumns[0] !== 'account_id',
    );
    expect(wrong).toEqual([]);
  });

  it('are all tables but those of the installation', async () => {
    const { rows } = await test.pool.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
         AND NOT EXISTS (SELECT FROM pg_attribute a
                         WHERE a.attrelid = c.oid AND a.attname = 'account_id')`,
    );
    const ofAccounts = ['api_key', 'audit_entry', 'operator_role'];
    const inInstallation = tablesOfTheInstallation.filter((name) => !ofAccounts.includes(name));
    expect(sortedNames(rows)).toEqual(inInstallation.sort());
  });
});
