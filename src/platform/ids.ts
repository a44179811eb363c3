// New ids that ascend with PostgreSQL's time, so that a list by id is newest first also where the
// clocks of two processes differ. Nothing else may follow from the order of ids.
import { randomBytes, randomInt } from 'node:crypto';

/** No id is as high: a list that begins at the newest begins below it. */
export const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** PostgreSQL's time when it was last read, and the monotonic clock of this process then. */
let reading = { databaseMs: Date.now(), monotonicMs: performance.now() };
let last = { ms: 0, sequence: 0 };
/** The time of the last id, as it begins with it. */
let lastTime = '';

/** Called with each reading of PostgreSQL's time; the first is at start. */
export function followDatabaseTime(now: Date): void {
  reading = { databaseMs: now.getTime(), monotonicMs: performance.now() };
}

/** Readings of PostgreSQL's time differ by less than this unless its clock was set. */
const jitterMs = 1_000;

/** A uuid v7 (RFC 9562). It is greater than the earlier ones of this process. */
export function newId(): string {
  const now = Math.floor(reading.databaseMs + performance.now() - reading.monotonicMs);
  if (now <= last.ms && now > last.ms - jitterMs) last.sequence += 1;
  else {
    last = { ms: now, sequence: randomInt(2 ** 24) };
    const time = now.toString(16).padStart(12, '0');
    lastTime = `${time.slice(0, 8)}-${time.slice(8)}-`;
  }
  const { sequence } = last;
  // The version and the variant stand before 12 and 14 bits of the sequence.
  const high = (0x7000 | (sequence >>> 14)).toString(16);
  const low = (0x8000 | (sequence & 0x3fff)).toString(16);
  return `${lastTime}${high}-${low}-${drawRandom()}`;
}

const hexDigits = 12;
const drawnBytes = 4_096 * (hexDigits / 2);
let pool = '';
let drawn = 0;

/** The digits of many ids are drawn at once: a call for each id costs more than the rest of it. */
function drawRandom(): string {
  if (drawn === pool.length) {
    pool = randomBytes(drawnBytes).toString('hex');
    drawn = 0;
  }
  drawn += hexDigits;
  return pool.slice(drawn - hexDigits, drawn);
}
