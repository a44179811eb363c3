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
 * Since the start, of the whole server but for the CPU time, which is that of the session.
 * Full-page images are left out. The pool must have one connection.
 */
export async function readServerCosts(pool: pg.Pool): Promise<ServerCosts> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ pid: number; buffers: string; wal: string }>(
    `SELECT pg_backend_pid() AS pid,
            (SELECT blks_hit + blks_read FROM pg_stat_database
             WHERE datname = current_database()) AS buffers,
            (SELECT wal_bytes - wal_fpi * 8192 FROM pg_stat_wal) AS wal`,
  );
  const [row] = rows;
  return {
    cpu: row && canReadServer ? cpuOfProcess(row.pid) : 0,
    buffers: Number(row?.buffers),
    wal: Number(row?.wal),
  };
}

/** The CPU time of a process, of all its threads, in microseconds and steps of ten milliseconds. */
export function cpuOfProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
