// What an account has that files and reports are made of.
import type { ServiceApplication } from './service-application.js';

/** A line of this month, whose ids nobody else may see; and by which path its month is asked for. */
export async function exportedThings(
  { database }: ServiceApplication,
  accountId: number,
  canaries: string[],
): Promise<[string, string][]> {
  const correlationId = 'isolation-canary-exported';
  await database.pool.query(
    `INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     VALUES ($1, 900000000000000001, 'x', true, 1000, 'CREDIT_PIX', $2, 0, 1000, now() - interval '2 minutes', 'h', '{}')`,
    [accountId, correlationId],
  );
  canaries.push(correlationId);
  const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7);
  return [['/v1/exports/reports/', month]];
}
