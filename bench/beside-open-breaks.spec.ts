// Measures what a reconcile and the summary cost beside open breaks, as a multiple of the same work
// in an empty account of the same database. The rounds are interleaved.
import { it } from '@jest/globals';
import type pg from 'pg';
import { loadSummary } from '../src/reconciliation/api/summary.queries.js';
import { ReconciliationService } from '../src/reconciliation/reconciliation.service.js';
import { alignColumns } from '../test/support/table.js';
import { openYearDeployment, type YearDeployment } from '../test/year/deployment.js';
import { generateYear } from '../test/year/generate.js';

const openBreaks = Number(process.env.BENCH_OPEN_BREAKS ?? 50_000);
const rounds = 20;
const today = '2026-09-01';

interface Account {
  id: number;
  /** The number of the next line. */
  nextNsu: number;
  paidCharges: number;
}

async function openAccount(pool: pg.Pool, slug: string): Promise<Account> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO bank_account (slug, go_live_at, updated_at)
     VALUES ($1, '2026-01-01', now()) RETURNING id`,
    [slug],
  );
  const id = rows[0]?.id ?? 0;
  await pool.query(
    `INSERT INTO statement_state (account_id, last_sync_started_at) VALUES ($1, clock_timestamp())`,
    [id],
  );
  return { id, nextNsu: 1, paidCharges: 0 };
}

/** Lines without a partner: each becomes a break. */
async function insertLines(pool: pg.Pool, account: Account, count: number, correlationId?: string) {
  await pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       end_to_end_id, correlation_id, balance_previous_cents, current_balance_cents, occurred_at,
       content_hash, content)
     SELECT $1, n, n::text, true, 1000, 'CREDIT_PIX',
            'E' || n, $4, 1000 * (n - 1), 1000 * n, '2026-08-01T12:00:00Z', md5(n::text), '{}'
     FROM generate_series($2::bigint, $3::bigint) AS n`,
    [account.id, account.nextNsu, account.nextNsu + count - 1, correlationId ?? null],
  );
  account.nextNsu += count;
}

/** Charges of R$ 10.00: those due on a past day become breaks. */
async function insertCharges(
  pool: pg.Pool,
  account: Account,
  charges: { count: number; dueDate: string; name: string },
) {
  const { count, dueDate, name } = charges;
  await pool.query(
    `WITH made AS (
       SELECT $3 || n AS correlation_id, gen_random_uuid() AS id FROM generate_series(1, $2::int) n
     ), sent AS (
       INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
         response_status, ended_at, created_at, updated_at)
       SELECT $1, id, 'create_charge', 'succeeded', 'h', '{}', 1,
              200, '2026-07-01', '2026-07-01', '2026-07-01' FROM made
     ), expected AS (
       INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
         due_date, is_multi_use, created_at)
       SELECT $1, id, id, 'create_charge', true, 1000, $4, false, '2026-07-01' FROM made
     ), due AS (
       INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
       SELECT $1, 'payment', id FROM made
     ), charged AS (
       INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents, due_date, created_at)
       SELECT $1, correlation_id, id, id, 'BANKSLIP_PIX', 1000, $4, '2026-07-01' FROM made
     )
     INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
     SELECT $1, 'correlation_id', correlation_id, id FROM made`,
    [account.id, count, name, dueDate],
  );
}

/** The median duration in milliseconds of the work in each account. */
async function medians(accounts: Account[], work: (account: Account) => Promise<() => unknown>) {
  const measured = accounts.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, account] of accounts.entries()) {
      const timed = await work(account);
      const startedAt = performance.now();
      await timed();
      measured[index]?.push(performance.now() - startedAt);
    }
  return measured.map((times) => times.sort((a, b) => a - b)[rounds >> 1] ?? 0);
}

/** The medians of each step in the two accounts. */
async function measureSteps(deployment: YearDeployment, accounts: Account[]) {
  const { pool, database, application } = deployment;
  const reconciliation = application.get(ReconciliationService, { strict: false });
  const reconcile =
    ({ id }: Account) =>
    () =>
      reconciliation.reconcile({ accountId: id });
  return {
    'reconcile, nothing new': await medians(accounts, (account) =>
      Promise.resolve(reconcile(account)),
    ),
    'reconcile, a charge is paid': await medians(accounts, async (account) => {
      account.paidCharges += 1;
      await insertLines(pool, account, 1, `paid${account.paidCharges}`);
      return reconcile(account);
    }),
    summary: await medians(accounts, ({ id }) =>
      Promise.resolve(() => loadSummary(database.prisma, id, today)),
    ),
  };
}

/** What was measured: the open breaks, and how many of the charges are matched. */
async function describeBook(pool: pg.Pool, busy: Account, accounts: Account[]): Promise<string> {
  const { rows: breaks } = await pool.query<{ kind: string; count: string }>(
    `SELECT kind, count(*) FROM break WHERE account_id = $1 AND state = 'open'
     GROUP BY kind ORDER BY kind`,
    [busy.id],
  );
  const { rows: matches } = await pool.query<{ count: string }>(
    'SELECT count(*) FROM match WHERE account_id = ANY ($1::int[])',
    [accounts.map(({ id }) => id)],
  );
  const kinds = breaks.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return `open breaks: ${kinds}; ${matches[0]?.count} of ${2 * rounds} charges matched`;
}

it('measures a reconcile and the summary beside open breaks', async () => {
  const plan = { lines: 1_000, seed: 1, days: 365, until: today, rate: 0.02 };
  const deployment = await openYearDeployment(generateYear(plan), 'desc');
  try {
    const { pool, application } = deployment;
    const reconciliation = application.get(ReconciliationService, { strict: false });
    const [empty, busy] = [await openAccount(pool, 'empty'), await openAccount(pool, 'busy')];
    const half = Math.floor(openBreaks / 2);
    await insertLines(pool, busy, half);
    await insertCharges(pool, busy, { count: half, dueDate: '2026-08-10', name: 'late' });
    for (const account of [empty, busy]) {
      await insertCharges(pool, account, { count: rounds, dueDate: '2030-01-01', name: 'paid' });
      await reconciliation.reconcile({ accountId: account.id });
    }
    await pool.query('VACUUM ANALYZE');
    const steps = await measureSteps(deployment, [empty, busy]);
    const table = alignColumns([
      ['step', 'empty, ms', 'beside breaks, ms', 'ratio'],
      ...Object.entries(steps).map(([step, [alone = 0, beside = 0]]) => [
        ...[step, alone.toFixed(1), beside.toFixed(1), (beside / alone).toFixed(1)],
      ]),
    ]);
    const book = await describeBook(pool, busy, [empty, busy]);
    process.stdout.write(`\n${book}\n${table.join('\n')}\n\n`);
  } finally {
    await deployment.close();
  }
});
