// A break and a match of an account, for whoever asks whether another account sees or changes them.
import type { Database } from '../../src/database.service.js';

/** Writes into `bodies` what the routes about them need, by the routes' names. */
export async function makeOutcomes(
  { pool }: Database,
  accountId: number,
  bodies: Record<string, unknown>,
): Promise<{ breakId: string; matchId: string }> {
  const breakId = '01900000-0000-7000-8000-00000000b0b0';
  const matchId = '01900000-0000-7000-8000-00000000b0b1';
  await pool.query(
    `INSERT INTO "break" (account_id, id, kind, state, subject, evidence)
     VALUES ($1, $2, 'unknown_outcome', 'open', 'isolation', '{}')`,
    [accountId, breakId],
  );
  await pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, balance_previous_cents,
       current_balance_cents, occurred_at, content_hash, content)
     VALUES ($1, 8000001, 'x', true, 1000, 'CREDIT_PIX', 0, 0, now(), 'h', '{}')`,
    [accountId],
  );
  await pool.query(
    `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
     VALUES ($1, $2, 8000001, gen_random_uuid(), 1000, 'reference', '{}')`,
    [accountId, matchId],
  );
  bodies.actOnBreak = { action: 'note', reason: 'canary' };
  bodies.unlinkManually = { reason: 'canary' };
  return { breakId, matchId };
}
