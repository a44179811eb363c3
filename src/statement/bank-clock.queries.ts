// Reads the bank's clock: PostgreSQL's clock and the offset between the two that the last completed
// sync of the account's statement measured. No clock of a process takes part.
import { opaqueAccountId, type Db } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';

/** The time at the account's bank, at least. Before the first sync it is PostgreSQL's. */
export const bankTimeNow = (accountId: number) => Prisma.sql`(clock_timestamp() + COALESCE((
  SELECT clock_offset_ms FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}
), 0) * interval '1 millisecond')`;

export async function readBankTime(db: Db, accountId: number): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`SELECT ${bankTimeNow(accountId)} AS now`;
  return row?.now ?? new Date(NaN);
}

/**
 * The bank's clock minus PostgreSQL's, at least and at most, in milliseconds.
 */
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
