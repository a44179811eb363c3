// What work costs the PostgreSQL server: figures that a busy machine hardly changes.
import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';

/** In microseconds of CPU, pages and bytes. */
export interface ServerCosts {
  cpu: number;
  buffers: number;
  wal: number;
}

/** Elsewhere the CPU time of the server is left out. */
const canReadServer = existsSync('/proc/self/stat');

/**
 * What `work` costs. Pages and WAL are those of the whole server, the CPU time is that of the
 * session: the pool must have one connection. Full-page images are left out. `work` must write
 * something, and less WAL than the server keeps.
 */
export async function measureServerCosts(
  pool: pg.Pool,
  work: () => Promise<unknown>,
): Promise<ServerCosts> {
  // It shows what each record is made of.
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect');
  const before = await readCounters(pool);
  await work();
  const after = await readCounters(pool);
  const { rows } = await pool.query<{ bytes: string }>(
    'SELECT sum(record_size) AS bytes FROM pg_get_wal_stats($1, $2)',
    [before.position, after.position],
  );
  return {
    cpu: after.cpu - before.cpu,
    buffers: after.buffers - before.buffers,
    wal: Number(rows[0]?.bytes),
  };
}

export function perItem({ cpu, buffers, wal }: ServerCosts, items: number): ServerCosts {
  return { cpu: cpu / items, buffers: buffers / items, wal: wal / items };
}

/** Since the start, and the position in the WAL. */
async function readCounters(pool: pg.Pool) {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ pid: number; buffers: string; position: string }>(
    `SELECT pg_backend_pid() AS pid, pg_current_wal_insert_lsn() AS position,
            (SELECT blks_hit + blks_read FROM pg_stat_database
             WHERE datname = current_database()) AS buffers`,
  );
  const [row] = rows;
  return {
    cpu: row && canReadServer ? cpuOfProcess(row.pid) : 0,
    buffers: Number(row?.buffers),
    position: row?.position,
  };
}

/** The CPU time of a process, of all its threads, in microseconds and steps of ten milliseconds. */
export function cpuOfProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
