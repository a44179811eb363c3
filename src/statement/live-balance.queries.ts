// The SQL of the live balance: when it is asked for, and since when the last line has said otherwise.
import type { Db } from '../database.service.js';

/** Takes the turn to ask; false while it is not time yet, or the statement was never read whole. */
export async function claimAsking(db: Db, accountId: number, pauseMs: number): Promise<boolean> {
  const claimed = await db.$executeRaw`
    UPDATE statement_state
    SET live_balance_next_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND is_anchored
      AND COALESCE(live_balance_next_at <= clock_timestamp(), true)`;
  return claimed === 1;
}

export async function postponeAsking(db: Db, accountId: number, pauseMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE statement_state
    SET live_balance_next_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId}`;
}

export async function readLastLine(
  db: Db,
  accountId: number,
): Promise<{ lastNsu: bigint; balanceCents: bigint } | null> {
  const [row] = await db.$queryRaw<{ lastNsu: bigint; balanceCents: bigint }[]>`
    SELECT last_nsu AS "lastNsu", balance_cents AS "balanceCents" FROM statement_state
    WHERE account_id = ${accountId} AND last_nsu IS NOT NULL AND balance_cents IS NOT NULL`;
  return row ?? null;
}

/**
 * Notes what the bank says. It is off when two askings in a row, further apart than an effect can be late, differ and no
 * newer line has come; then it stays off until both agree. Whether that has changed.
 */
export async function recordLive(
  db: Db,
  accountId: number,
  live: { liveCents: bigint; differenceCents: bigint; lastNsu: bigint; boundMs: number },
): Promise<boolean> {
  const { liveCents, differenceCents, lastNsu, boundMs } = live;
  const differs = differenceCents !== 0n;
  const [state] = await db.$queryRaw<{ isChanged: boolean }[]>`
    UPDATE statement_state s
    SET live_balance_cents = ${liveCents}, live_balance_at = clock_timestamp(),
        balance_differs_since = CASE WHEN NOT ${differs} THEN NULL WHEN before.goes_on
          THEN s.balance_differs_since ELSE clock_timestamp() END,
        balance_differs_nsu = CASE WHEN NOT ${differs} THEN NULL WHEN before.goes_on
          THEN s.balance_differs_nsu ELSE ${lastNsu} END,
        balance_differs_cents = CASE WHEN ${differs} THEN ${differenceCents}::bigint END,
        is_balance_off = ${differs} AND (before.is_off OR before.goes_on
          AND s.balance_differs_since < clock_timestamp() - ${boundMs} * interval '1 millisecond')
    FROM (
      SELECT is_balance_off AS is_off, is_balance_off OR COALESCE(balance_differs_nsu = ${lastNsu}, false) AS goes_on
      FROM statement_state WHERE account_id = ${accountId} FOR UPDATE
    ) before
    WHERE s.account_id = ${accountId}
    RETURNING s.is_balance_off <> before.is_off AS "isChanged"`;
  return state?.isChanged ?? false;
}
