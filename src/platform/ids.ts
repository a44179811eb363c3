// New ids that ascend with PostgreSQL's time, so that a list by id is newest first also where the
// clocks of two processes differ. Nothing else may follow from the order of ids.
import { randomFillSync, randomInt } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** PostgreSQL's time when it was last read, and the monotonic clock of this process then. */
let reading = { databaseMs: Date.now(), monotonicMs: performance.now() };
let last = { ms: 0, sequence: 0 };

/** Called with each reading of PostgreSQL's time; the first is at start. */
export function followDatabaseTime(now: Date): void {
  reading = { databaseMs: now.getTime(), monotonicMs: performance.now() };
}

/** Readings of PostgreSQL's time differ by less than this unless its clock was set. */
const jitterMs = 1_000;

/** A uuid v7. It is greater than the earlier ones of this process. */
export function newId(): string {
  const now = Math.floor(reading.databaseMs + performance.now() - reading.monotonicMs);
  const isSameMs = now <= last.ms && now > last.ms - jitterMs;
  last = isSameMs
    ? { ms: last.ms, sequence: last.sequence + 1 }
    : { ms: now, sequence: randomInt(2 ** 24) };
  return uuidv7({ msecs: last.ms, seq: last.sequence, random: drawRandom() });
}

const randomBytes = 16;
const pool = new Uint8Array(randomBytes * 256);
let drawn = pool.length;

/** The bytes of many ids are drawn at once: a call for each id costs more than the rest of it. */
function drawRandom(): Uint8Array {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += randomBytes;
  return pool.subarray(drawn - randomBytes, drawn);
}
