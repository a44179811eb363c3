// How commands end after an error: what an operator can act on is printed without a stack.
import { exitCodes } from './exit-codes.js';
import { printError } from './output.js';
import { fieldMessage } from '../bank-contract/field-errors.js';
import { AppError } from '../platform/errors.js';
import { SettingsError } from '../platform/settings/environment.js';
import { UnusableDatabase } from '../platform/postgres/database-errors.js';
import { LockNotAvailable } from '../platform/postgres/lock-waits.queries.js';
import { OtherMigrations, PendingMigrations } from '../platform/postgres/migrations.js';

/** A command cannot do what it was asked for. The message says why, for the operator. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

const expected = [
  ...[CommandFailure, SettingsError, UnusableDatabase, OtherMigrations, PendingMigrations],
  LockNotAvailable,
];

/** What an operator can act on; null for an error that needs its stack. */
export function plainMessageOf(error: unknown): string | null {
  if (error instanceof AppError) {
    const [wrongField] = Object.values(error.details.errors ?? {}).flat();
    return wrongField ? fieldMessage(wrongField) : (error.details.public ?? null);
  }
  return expected.some((type) => error instanceof type) ? (error as Error).message : null;
}

/** The exit code is 75 when a lock was not available in time, and 1 otherwise. */
export function exitWith(error: unknown): never {
  printError(plainMessageOf(error) ?? error);
  process.exit(error instanceof LockNotAvailable ? exitCodes.tryAgain : exitCodes.failed);
}
