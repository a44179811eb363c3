import type { Queryable } from './sandbox-database.service.js';

export async function isSandboxDatabaseReachable(database: Queryable): Promise<boolean> {
  return database.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

export async function findBankSetting(database: Queryable, name: string): Promise<string | null> {
  const [row] = await database.query<{ value: string }>(
    'SELECT value::text FROM bank_setting WHERE name = $1',
    [name],
  );
  return row?.value ?? null;
}

export async function storeBankSetting(
  database: Queryable,
  name: string,
  value: string,
): Promise<void> {
  await database.query(
    `INSERT INTO bank_setting (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  );
}
