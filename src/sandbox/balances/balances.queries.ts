import type { Queryable } from '../sandbox-database.service.js';

export interface HeldBalance {
  balanceCents: bigint;
  blockedCents: bigint;
}

/** Null when there is no such customer. */
export async function findHeldBalance(
  database: Queryable,
  accountId: number,
): Promise<HeldBalance | null> {
  const [held] = await database.query<HeldBalance>(
    `SELECT balance_cents AS "balanceCents", blocked_cents AS "blockedCents"
     FROM account WHERE id = $1 AND kind = 'customer'`,
    [accountId],
  );
  return held ?? null;
}
