import type { FixtureAccount } from '../accounts/fixtures.js';
import type { SandboxTx } from '../sandbox-database.service.js';

export type AccountOpening = Omit<FixtureAccount, 'dictKeys'>;

/**
 * Opens a customer's account and returns its id. Its balance chain begins at the opening balance. A
 * movement without a line moves that balance from the bank's capital, so that the statement of a
 * new account is empty.
 */
export async function openAccount(
  tx: SandboxTx,
  opening: AccountOpening,
  at: Date,
): Promise<number> {
  const { openingBalanceCents } = opening;
  await tx.insert('account', {
    ...opening,
    kind: 'customer',
    balanceCents: openingBalanceCents,
    createdAt: at,
  });
  const [opened] = await tx.query<{ id: number }>(
    `WITH opened AS (
       SELECT id, opening_balance_cents FROM account WHERE number = $1
     ), funding AS (
       INSERT INTO movement (kind, created_at)
       SELECT 'opening', $2 FROM opened WHERE opening_balance_cents > 0
       RETURNING id
     ), legs AS (
       INSERT INTO entry (movement_id, account_id, change_cents)
       SELECT funding.id, leg.account_id, leg.change_cents
       FROM funding, opened
       CROSS JOIN LATERAL (
         VALUES (opened.id, opened.opening_balance_cents),
                ((SELECT id FROM account WHERE number = 'capital'), -opened.opening_balance_cents)
       ) AS leg (account_id, change_cents)
     )
     SELECT id FROM opened`,
    [opening.number, at],
  );
  return opened!.id;
}
