// Stores the balance that the bank reports, the time of the next request, and since when the last
// line differs from that balance.
import type { SqlTx, Tx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';

/** Of `statement_state s`; null for an account without one. */
export const isBalanceCheckDue = Prisma.sql`
  s.is_anchored AND COALESCE(s.live_balance_next_at <= clock_timestamp(), true)`;

/**
 * Claims the next balance check; false while it is not due, or while the first import is not
 * complete.
 */
export async function claimBalanceCheck(
  db: SqlTx,
  accountId: number,
  pauseMs: number,
): Promise<boolean> {
  const claimed = await db.$executeRaw`
    UPDATE statement_state s
    SET live_balance_next_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE s.account_id = ${accountId} AND ${isBalanceCheckDue}`;
  return claimed === 1;
}

export async function postponeBalanceCheck(
  db: SqlTx,
  accountId: number,
  pauseMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE statement_state
    SET live_balance_next_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId}`;
}

/** A balance that the bank reported while `lastNsu` was its newest line. */
interface LiveBalance {
  liveCents: bigint;
  blockedCents: bigint | null;
  lastNsu: bigint;
}

/** Records the balance that the bank reports, if it agrees with that line as it did before. */
export async function confirmBankBalance(
  db: SqlTx,
  accountId: number,
  { liveCents, blockedCents, lastNsu }: LiveBalance,
): Promise<boolean> {
  const confirmed = await db.$executeRaw`
    UPDATE statement_state
    SET live_balance_cents = ${liveCents}, live_balance_nsu = ${lastNsu},
        live_balance_at = clock_timestamp(), live_blocked_cents = ${blockedCents}
    WHERE account_id = ${accountId} AND last_nsu = ${lastNsu} AND balance_cents = ${liveCents}
      AND balance_differs_since IS NULL AND balance_differs_cents IS NULL AND NOT is_balance_off`;
  return confirmed === 1;
}

/**
 * Records the balance that the bank reports. The balance counts as off when two checks in a row
 * differ, more than `boundMs` (the visibility bound) apart and with no newer line between them. It
 * then counts as off until the balance and the last line agree. Returns whether this changed, or by
 * how much the balance is off.
 */
export async function recordBankBalance(
  tx: Tx,
  accountId: number,
  live: LiveBalance & { differenceCents: bigint; boundMs: number },
): Promise<boolean> {
  const { liveCents, blockedCents, differenceCents, lastNsu, boundMs } = live;
  const differs = differenceCents !== 0n;
  const [state] = await tx.$queryRaw<{ isChanged: boolean }[]>`
    UPDATE statement_state s
    SET live_balance_cents = ${liveCents}, live_balance_nsu = ${lastNsu},
        live_balance_at = clock_timestamp(), live_blocked_cents = ${blockedCents},
        balance_differs_since = CASE WHEN NOT ${differs} THEN NULL WHEN before.still_differs
          THEN s.balance_differs_since ELSE clock_timestamp() END,
        balance_differs_nsu = CASE WHEN NOT ${differs} THEN NULL WHEN before.still_differs
          THEN s.balance_differs_nsu ELSE ${lastNsu} END,
        balance_differs_cents = CASE WHEN ${differs} THEN ${differenceCents}::bigint END,
        is_balance_off = ${differs} AND (before.is_off OR before.still_differs
          AND s.balance_differs_since < clock_timestamp() - ${boundMs} * interval '1 millisecond')
    FROM (
      SELECT is_balance_off AS is_off, balance_differs_cents AS cents,
             is_balance_off OR COALESCE(balance_differs_nsu = ${lastNsu}, false) AS still_differs
      FROM statement_state WHERE account_id = ${accountId} FOR NO KEY UPDATE
    ) before
    WHERE s.account_id = ${accountId} AND s.last_nsu = ${lastNsu}
    RETURNING s.is_balance_off <> before.is_off
      OR s.is_balance_off AND s.balance_differs_cents <> before.cents AS "isChanged"`;
  return state?.isChanged ?? false;
}
