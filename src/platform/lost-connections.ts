// Connections of a pool that are lost while nobody listens. The server's last message may arrive
// together with the answer before it. The pool has then given the connection to the next caller,
// who has had no time to listen, and an error without a listener ends the process.
import type pg from 'pg';

/** A lost connection ends no process: its next statement fails, and the pool opens another one. */
export function endNoProcess(pool: pg.Pool): void {
  pool.on('connect', (client) => client.on('error', () => undefined));
}
