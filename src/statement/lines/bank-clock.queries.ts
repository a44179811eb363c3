// Reads the bank's clock: PostgreSQL's clock and the offset between the two that the last completed
// sync of the account's statement measured. No clock of a process takes part.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';

/** The time at the account's bank, at least. Before the first sync it is PostgreSQL's. */
export const bankTimeNow = (accountId: number) => Prisma.sql`(clock_timestamp() + COALESCE((
  SELECT clock_offset_ms FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}
), 0) * interval '1 millisecond')`;

/** The statement day, yyyy-mm-dd, of an instant: it begins at 03:00Z. */
export const statementDayIn = (instant: Prisma.Sql) =>
  Prisma.sql`to_char((${instant} AT TIME ZONE 'UTC') - interval '3 hours', 'YYYY-MM-DD')`;

export async function readBankTime(db: Db, accountId: number): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`SELECT ${bankTimeNow(accountId)} AS now`;
  return row?.now ?? new Date(NaN);
}

/** The bank's clock minus PostgreSQL's, at least and at most, in milliseconds. */
export interface ClockOffset {
  clockOffsetMs: number;
  clockOffsetMaxMs: number;
}

/** The whole seconds of the bank's `Date` header hide up to this much. */
const hiddenMs = 999;

/**
 * The offset that a response shows. `before` and `after` are PostgreSQL's times before and after
 * the call.
 */
export function clockOffsetOf(bankDate: Date, before: Date, after: Date): ClockOffset {
  return {
    clockOffsetMs: bankDate.getTime() - after.getTime(),
    clockOffsetMaxMs: bankDate.getTime() + hiddenMs - before.getTime(),
  };
}

/** By more than this, two readings of a clock show that it was set. */
export const steadyClockMs = 5_000;

/** Whether two offsets can be of the same clocks, so that neither was set in between. */
export function areSteady(one: ClockOffset, other: ClockOffset): boolean {
  const atLeastMs = Math.max(one.clockOffsetMs, other.clockOffsetMs);
  const atMostMs = Math.min(one.clockOffsetMaxMs, other.clockOffsetMaxMs);
  return atLeastMs - atMostMs <= steadyClockMs;
}

/** An offset in SQL, in milliseconds. */
type OffsetSql = Record<keyof ClockOffset, Prisma.Sql>;

export function offsetOf({ clockOffsetMs, clockOffsetMaxMs }: ClockOffset): OffsetSql {
  return {
    clockOffsetMs: Prisma.sql`${clockOffsetMs}::float8`,
    clockOffsetMaxMs: Prisma.sql`${clockOffsetMaxMs}::float8`,
  };
}

/** Like `clockOffsetOf`, where the SQL statement runs after the call. */
export function offsetShownNow(bankDate: Date, before: Date): OffsetSql {
  return {
    clockOffsetMs: Prisma.sql`floor(
      ${bankDate.getTime()}::float8 - extract(epoch FROM clock_timestamp()) * 1000)`,
    clockOffsetMaxMs: Prisma.sql`${bankDate.getTime() + hiddenMs - before.getTime()}::float8`,
  };
}

/**
 * Sets the offset that a sync measured, after other columns of the statement's row `s`. A closed
 * period that ends in the bank's future was closed while the bank's clock was wrong: it was not
 * read to its end, so it counts as closed no longer.
 */
export function setClockOffset(measuredAt: Date, offset: OffsetSql): Prisma.Sql {
  const { clockOffsetMs, clockOffsetMaxMs } = offset;
  const isOver = Prisma.sql`s.closed_until <= clock_timestamp()
    + ${clockOffsetMaxMs} * interval '1 millisecond'`;
  return Prisma.sql`,
    clock_offset_ms = ${clockOffsetMs}::bigint, clock_offset_max_ms = ${clockOffsetMaxMs}::bigint,
    first_clock_offset_ms = CASE WHEN s.clock_measured_at IS NULL THEN ${clockOffsetMs}::bigint
                                 ELSE s.first_clock_offset_ms END,
    clock_measured_at = ${measuredAt},
    closed_from = CASE WHEN ${isOver} THEN s.closed_from END,
    closed_until = CASE WHEN ${isOver} THEN s.closed_until END`;
}
