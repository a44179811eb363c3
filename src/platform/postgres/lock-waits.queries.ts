// Waits for locks that other sessions hold, for the migrations. A wait is reported with the holder
// of the lock, and it ends after a bounded time.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { advisoryLocks } from './advisory-locks.js';

export interface LockWait {
  /** How long one lock is waited for, over all tries. */
  totalMs: number;
  /**
   * How long one try waits for the lock of a table. Every query of that table waits behind the try,
   * and it may already hold the locks of two others: so it is short, and pauses between tries let
   * the queries pass.
   */
  tryMs: number;
  /** How often a wait is reported. */
  reportEveryMs: number;
}

export const defaultLockWait: LockWait = { totalMs: 60_000, tryMs: 250, reportEveryMs: 5_000 };

/** Another session held a lock for longer than the wait. The message names the lock. */
export class LockNotAvailable extends Error {
  override readonly name = 'LockNotAvailable';
}

/** Calls `report` with a message at once, and with later messages once in `everyMs`. */
class Reports {
  private reportedAtMs = -Infinity;

  constructor(
    private readonly report: (message: string) => void,
    private readonly everyMs: number,
  ) {}

  add(message: string): void {
    const nowMs = performance.now();
    if (nowMs - this.reportedAtMs < this.everyMs) return;
    this.reportedAtMs = nowMs;
    this.report(message);
  }
}

const advisoryPollMs = 200;

/**
 * Takes an advisory lock for the client's session. It asks again and again and never waits inside a
 * statement: the holder may create an index concurrently, which waits for every running statement.
 * Throws LockNotAvailable.
 */
export async function takeAdvisoryLock(
  client: pg.ClientBase,
  lock: keyof typeof advisoryLocks,
  { totalMs, reportEveryMs }: LockWait,
  log: (message: string) => void,
): Promise<void> {
  const reports = new Reports(log, reportEveryMs);
  const startedAtMs = performance.now();
  for (;;) {
    const { rows } = await client.query<{ isTaken: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS "isTaken"',
      [advisoryLocks[lock]],
    );
    if (rows[0]?.isTaken) return;
    const awaited = `the advisory lock ${lock}${await describeHolder(client, lock)}`;
    const remainingMs = totalMs - (performance.now() - startedAtMs);
    if (remainingMs <= 0)
      throw new LockNotAvailable(`Gave up after ${totalMs / 1_000} s waiting for ${awaited}.`);
    reports.add(`Waiting for ${awaited}`);
    await sleep(Math.min(advisoryPollMs, remainingMs));
  }
}

interface Session {
  pid: number;
  applicationName: string | null;
  state: string | null;
}

const heldBy = ({ pid, applicationName, state }: Session): string =>
  `, held by process ${pid} (${[applicationName, state].filter(Boolean).join(', ') || 'unknown'})`;

async function describeHolder(
  client: pg.ClientBase,
  lock: keyof typeof advisoryLocks,
): Promise<string> {
  const { rows } = await client.query<Session>(
    `SELECT l.pid, a.application_name AS "applicationName", a.state
     FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (l.classid::bigint << 32) + l.objid::bigint = $1`,
    [advisoryLocks[lock]],
  );
  return rows[0] ? heldBy(rows[0]) : '';
}

/** Reports the locks that the statements of another session wait for, until it is stopped. */
export class LockWatch {
  /** The last lock that the session waited for. */
  lastAwaited = 'a lock';
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  /** `observer` is a connection of its own: that of the session is busy while it waits. */
  constructor(
    private readonly observer: pg.ClientBase,
    private readonly pid: number,
    { tryMs, reportEveryMs }: LockWait,
    log: (message: string) => void,
  ) {
    // A lost connection ends the reports only: the wait itself is the session's.
    this.watching = this.watch(tryMs / 4, new Reports(log, reportEveryMs)).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
  }

  private async watch(pollMs: number, reports: Reports): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const awaited = await findAwaitedLock(this.observer, this.pid);
      if (awaited) {
        this.lastAwaited = awaited;
        reports.add(`Waiting for ${awaited}`);
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function findAwaitedLock(observer: pg.ClientBase, pid: number): Promise<string | null> {
  const { rows } = await observer.query<Session & { mode: string; locked: string }>(
    `SELECT l.mode, concat_ws(' ', l.locktype, l.relation::regclass::text) AS locked,
            a.pid, a.application_name AS "applicationName", a.state
     FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = ANY (pg_blocking_pids(l.pid))
     WHERE l.pid = $1 AND NOT l.granted
     LIMIT 1`,
    [pid],
  );
  const [lock] = rows;
  return lock ? `${lock.mode} on ${lock.locked}${lock.pid ? heldBy(lock) : ''}` : null;
}

/** lock_not_available, deadlock_detected: the transaction may be tried again. */
export const isLockFailure = (error: unknown): boolean =>
  ['55P03', '40P01'].includes(String((error as { code?: unknown }).code));
