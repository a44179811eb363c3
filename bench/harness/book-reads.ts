// The reads of a book that must not cost more in a larger one: their paths, and a key to read with.
import type pg from 'pg';
import { codeOfManyPayments } from './book.js';

const dayMs = 86_400_000;

/** The paths of the reads of a book, by name. */
export async function pathsOfReads(
  pool: pg.Pool,
  accountId: number,
): Promise<Record<string, string>> {
  const find = async (sql: string): Promise<string> => {
    const { rows } = await pool.query<{ key: string }>(sql, [accountId]);
    if (!rows[0]) throw new Error(`the book has no row: ${sql}`);
    return rows[0].key;
  };
  const middleOf = (table: string, key: string, condition = 'true') =>
    find(
      `SELECT ${key}::text AS key FROM ${table} WHERE account_id = $1 AND ${condition}
       ORDER BY ${key} OFFSET (
         SELECT count(*) / 2 FROM ${table} WHERE account_id = $1 AND ${condition}) LIMIT 1`,
    );
  const inBreak = await middleOf('line_outcome', 'nsu', `state = 'in_break'`);
  const overdue = `settlement = 'open' AND last_payment_day < to_char(now(), 'YYYY-MM-DD')`;
  const charge = await find(
    `SELECT correlation_id AS key FROM charge
     WHERE account_id = $1 AND type = 'BANKSLIP_PIX' ORDER BY operation_id DESC LIMIT 1`,
  );
  const code = await find(
    `SELECT expected_payment_id AS key FROM charge
     WHERE account_id = $1 AND correlation_id = '${codeOfManyPayments}'`,
  );
  const breakOf = (kind: string) => middleOf('break', 'id', `kind = '${kind}' AND state = 'open'`);
  const day = new Date(Date.now() - 40 * dayMs).toISOString().slice(0, 10);
  const weekAgo = new Date(Date.now() - 7 * dayMs).toISOString();
  const after = (key: string) => `cursor=${Buffer.from(key).toString('base64url')}`;
  return {
    keyLookUp: `/v1/transactions?nsu=${inBreak}`,
    summary: '/v1/summary',
    webhookHealth: '/v1/webhook-health',
    webhookHealthOfWeek: `/v1/webhook-health?from=${weekAgo}`,
    unnotified: '/v1/webhook-health/unnotified?limit=10',
    inBreak: '/v1/transactions?state=in_break',
    inBreakDeep: `/v1/transactions?state=in_break&${after(inBreak)}`,
    matchedLines: '/v1/transactions?state=matched',
    pendingLines: '/v1/transactions?state=pending',
    linesOfDay: `/v1/transactions?day=${day}`,
    inBreakOfDay: `/v1/transactions?day=${day}&state=in_break`,
    linesOfCode: `/v1/transactions?reference=${codeOfManyPayments}`,
    overdue: '/v1/expected-payments?state=overdue',
    overdueDeep: `/v1/expected-payments?state=overdue&${after(
      await middleOf('expected_payment_total', 'expected_payment_id', overdue),
    )}`,
    open: '/v1/expected-payments?state=open',
    overpaid: '/v1/expected-payments?state=overpaid',
    breakOfLine: `/v1/breaks/${await breakOf('unexpected')}`,
    breakOfPayment: `/v1/breaks/${await breakOf('missing')}`,
    openBreaks: '/v1/breaks?state=open',
    resolvedBreaks: '/v1/breaks?state=resolved',
    rareBreaks: '/v1/breaks?kind=overpaid',
    criticalBreaks: '/v1/breaks?severity=critical',
    largeBreaks: '/v1/breaks?minAmount=100000',
    oldBreaks: '/v1/breaks?openedTo=2020-01-01',
    charges: '/v1/charges',
    chargesOfType: '/v1/charges?type=NONE',
    charge: `/v1/charges/${charge}`,
    chargePaidOften: `/v1/charges/${codeOfManyPayments}`,
    transfers: '/v1/transfers',
    failedTransfers: '/v1/transfers?state=failed',
    unknownOperations: '/v1/operations?state=unknown',
    rejectedOperations: '/v1/operations?state=rejected',
    matchesOfLine: `/v1/matches?nsu=${inBreak}`,
    matchesOfCode: `/v1/matches?expectedPaymentId=${code}`,
    dayCloses: '/v1/day-closes',
    ready: '/health/ready',
  };
}
