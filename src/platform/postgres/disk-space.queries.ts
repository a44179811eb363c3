// Whether tables of PostgreSQL can grow: with a full disk it still answers.
import type pg from 'pg';

const askEveryMs = 5_000;
/** SQLSTATE disk_full. */
const diskFull = '53100';

export class DiskSpace {
  private found: Promise<boolean> = Promise.resolve(true);
  private askedAtMs = -Infinity;

  constructor(private readonly pool: pg.Pool) {}

  /** Grows a table that is never committed: once in five seconds, however often this is asked. */
  isThere(): Promise<boolean> {
    const nowMs = performance.now();
    if (nowMs < this.askedAtMs + askEveryMs) return this.found;
    this.askedAtMs = nowMs;
    return (this.found = growTable(this.pool));
  }
}

async function growTable(pool: pg.Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `CREATE TEMPORARY TABLE disk_space AS
       SELECT repeat('x', 1000) AS text FROM generate_series(1, 100)`,
    );
    return true;
  } catch (error) {
    // Of all other errors, the check of the database speaks.
    return (error as { code?: unknown }).code !== diskFull;
  } finally {
    await client.query('ROLLBACK').then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }
}
