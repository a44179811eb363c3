// How the programs end after an error: what an operator can act on is printed without a stack.
import { inspect } from 'node:util';
import { SettingsError } from '../platform/settings/config.js';
import { UnusableDatabase } from '../platform/postgres/database-errors.js';
import { LockNotAvailable } from '../platform/postgres/lock-waits.queries.js';
import { OtherMigrations, PendingMigrations } from '../platform/postgres/migrations.js';

const expected = [
  ...[SettingsError, UnusableDatabase, OtherMigrations, PendingMigrations],
  LockNotAvailable,
];

/** EX_TEMPFAIL of sysexits: nothing is wrong, and another try may succeed. */
const tryAgainCode = 75;

export function printError(problem: unknown): void {
  process.stderr.write(`${typeof problem === 'string' ? problem : inspect(problem)}\n`);
}

/** What an operator can act on; null for an error that needs its stack. */
export function plainMessageOf(error: unknown): string | null {
  return expected.some((type) => error instanceof type) ? (error as Error).message : null;
}

/** The exit code is 75 when a lock was not available in time, and 1 otherwise. */
export function exitWith(error: unknown): never {
  printError(plainMessageOf(error) ?? error);
  process.exit(error instanceof LockNotAvailable ? tryAgainCode : 1);
}
