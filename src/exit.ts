// How the programs end after an error: what an operator can act on is printed without a stack.
import { inspect } from 'node:util';
import { SettingsError } from './config.js';
import { LockNotAvailable } from './platform/lock-waits.queries.js';
import { OtherInitialSchema, PendingMigrations } from './platform/migrations.js';

const expected = [SettingsError, OtherInitialSchema, PendingMigrations, LockNotAvailable];

/** EX_TEMPFAIL of sysexits: nothing is wrong, and another try may succeed. */
const tryAgainCode = 75;

export function printError(problem: unknown): void {
  process.stderr.write(`${typeof problem === 'string' ? problem : inspect(problem)}\n`);
}

/** The exit code is 75 when a lock was not available in time, and 1 otherwise. */
export function exitWith(error: unknown): never {
  const isExpected = expected.some((type) => error instanceof type);
  printError(isExpected ? (error as Error).message : error);
  process.exit(error instanceof LockNotAvailable ? tryAgainCode : 1);
}
