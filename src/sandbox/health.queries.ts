import type { Queryable } from './sandbox-database.service.js';

export async function isReachable(database: Queryable): Promise<boolean> {
  return database.query('SELECT 1').then(
    () => true,
    () => false,
  );
}
