// The service's PostgreSQL: one pool, Prisma on top of it, and transactions. Nothing calls the bank inside
// one: a slow answer would hold locks, and a rolled back row would forget a call that was made.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from './generated/service/client.js';
import { advisoryLocks } from './platform/advisory-locks.js';
import { invariant } from './platform/errors.js';

/** A database transaction, given to whatever must be committed together. */
export type Tx = Prisma.TransactionClient;
/** What a query that only reads may be given: a transaction, or the database itself. */
export type Db = Tx | PrismaClient;

/**
 * An account's id that the planner does not look up. Its statistics may be of before the account's history came in: then
 * they say that it has no rows, and any index that begins with the account looks as good as the one that is meant.
 */
export const ofAccount = (accountId: number): Prisma.Sql => Prisma.sql`(SELECT ${accountId}::int)`;

const insideTransaction = new AsyncLocalStorage<true>();

/** Throws where the bank would be called inside a transaction. */
export function assertOutsideTransaction(what: string): void {
  invariant(!insideTransaction.getStore(), `${what} inside a database transaction`);
}

export type SessionLock = 'syncStatement' | 'advanceBulk' | 'runReconciliation' | 'closeDays';

const maxTries = 5;

export class Database {
  readonly prisma: PrismaClient;

  constructor(readonly pool: pg.Pool) {
    this.prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  }

  /**
   * Runs `work` in one transaction. A conflict that PostgreSQL asks to try again (deadlock, serialization)
   * runs it again, so that it must do nothing but database work.
   */
  async transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await insideTransaction.run(true, () =>
          this.prisma.$transaction(work, { maxWait: 10_000, timeout: 30_000 }),
        );
      } catch (error) {
        if (!isConflict(error) || tries === maxTries) throw error;
        await sleep(tries * 20 * (1 + Math.random()));
      }
    }
  }

  /**
   * Runs `work` while no other process does it for this number; null when one does. The lock lives with its
   * connection, so that a killed process holds nothing, and PostgreSQL ends the connection of one that is
   * paused or cut off: `work` calls `stillHere` at least every 15 seconds. Such a process is told by no one,
   * so that what `work` writes needs a fence of its own.
   */
  async alone<Result>(
    lock: SessionLock,
    number: number,
    work: (stillHere: () => Promise<void>) => Promise<Result>,
  ): Promise<{ result: Result } | null> {
    const client = await this.pool.connect();
    let isLost = false;
    const onError = () => {
      isLost = true;
    };
    client.on('error', onError);
    const numbers = [advisoryLocks[lock], number];
    try {
      await client.query(`SET idle_session_timeout = '20s'`);
      const { rows } = await client.query<{ held: boolean }>(
        'SELECT pg_try_advisory_lock($1, $2) AS held',
        numbers,
      );
      if (!rows[0]?.held) return null;
      try {
        const result = await work(async () => {
          await client.query('SELECT 1');
        });
        return { result };
      } finally {
        await client.query('SELECT pg_advisory_unlock($1, $2)', numbers).catch(onError);
      }
    } finally {
      // A connection that cannot be put back as it was is not put back.
      await client.query('RESET idle_session_timeout').catch(onError);
      client.off('error', onError);
      client.release(isLost);
    }
  }

  async isReady(): Promise<boolean> {
    await this.pool.query('SELECT 1');
    return true;
  }

  /** Ends the connections: last of all, when nothing works any more. */
  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** The pool that Prisma and the hot paths share. */
export function createPool(databaseUrl: string, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 20,
    // Prisma's adapter reads every time as UTC, whatever zone the database would answer in.
    options: '-c timezone=UTC',
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  });
  pool.on('error', onError);
  return pool;
}

/** Serialization failure, deadlock. */
const conflictCodes = new Set(['40001', '40P01']);

/** PostgreSQL's own word that a transaction may be tried again, as Prisma hands it on. */
function isConflict(error: unknown): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  if (error.code === 'P2034') return true;
  const { driverAdapterError } = (error.meta ?? {}) as {
    driverAdapterError?: { cause?: { kind?: string; originalCode?: string } };
  };
  const { kind, originalCode } = driverAdapterError?.cause ?? {};
  return kind === 'TransactionWriteConflict' || conflictCodes.has(originalCode ?? '');
}
