// Stored statement lines for tests of export files and reports.
import type { ServiceApplication } from './service-application.js';

/**
 * Stores a line of the current month. Adds its correlationId to `canaries`: no other account may
 * see it. Returns the API paths that precede the month, each with the month.
 */
export async function insertLineForExports(
  { database }: ServiceApplication,
  accountId: number,
  canaries: string[],
): Promise<[string, string][]> {
  const correlationId = 'isolation-canary-exported';
  await database.pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, balance_previous_cents, current_balance_cents, occurred_at,
       content_hash, content)
     VALUES ($1, 900000000000000001, 'x', true, 1000, 'CREDIT_PIX',
       $2, 0, 1000, now() - interval '2 minutes',
       'h', '{}')`,
    [accountId, correlationId],
  );
  canaries.push(correlationId);
  const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7);
  const paths = ['/v1/exports/reports/', '/v1/exports/fees/', '/v1/exports/journal/'];
  return [...paths, '/v1/fee-checks/', '/v1/months/'].map((path) => [path, month]);
}

/**
 * Stores lines of March, `perDay` a day, each with its own amount. The highest nsu is inserted
 * first.
 */
export async function insertMarchLines(
  { database }: ServiceApplication,
  accountId: number,
  lineCount: number,
  perDay: number,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, notes,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, n, 'x', n % 3 <> 0, 1000 + n,
            CASE WHEN n % 3 <> 0 THEN 'CREDIT_PIX' ELSE 'DEBIT_PIX' END,
            'c-' || n, CASE WHEN n = 2 THEN E'=HYPERLINK("http://evil.example")\n<b>' END,
            sum(signed) OVER (ORDER BY n) - signed, sum(signed) OVER (ORDER BY n),
            timestamptz '2026-03-01 03:00Z'
              + (n - 1) / $3 * interval '1 day' + (n - 1) % $3 * interval '1 minute',
            'h', '{}'
     FROM (SELECT n, (CASE WHEN n % 3 <> 0 THEN 1 ELSE -1 END) * (1000 + n) AS signed
           FROM generate_series(1, $2::bigint) n) lines ORDER BY n DESC`,
    [accountId, lineCount, perDay],
  );
}
