// What work costs the PostgreSQL server: figures that a busy machine hardly changes.
import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** In microseconds of CPU, pages and bytes. */
export interface ServerCosts {
  cpu: number;
  buffers: number;
  wal: number;
}

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
    cpu: row ? cpuOfProcess(row.pid) : 0,
    buffers: Number(row?.buffers),
    wal: Number(row?.wal),
  };
}

/** The CPU time of a process, in microseconds; 0 where `/proc` does not show it. */
export function cpuOfProcess(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return 0;
  }
}
