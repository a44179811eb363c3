// What is done with the finished year beyond judging it: its days are closed, their chain is verified, and tampering
// with it is found.
import { addDays, daysBetween } from '../../src/brazil/calendar.js';
import { statementDayOf } from '../../src/brazil/statement-day.js';
import { DayClosing } from '../../src/day-closes/day-closing.service.js';
import { Verifier } from '../../src/day-closes/verifier.service.js';
import { StatementClosing } from '../../src/statement/statement-closing.service.js';
import type { Year } from './generate.js';
import type { House } from './deployment.js';

/** What it found wrong; nothing where all is well. */
export type Step = (house: House, year: Year) => Promise<string[]>;

type Verified = Awaited<ReturnType<Verifier['verify']>>[number];

async function verify(house: House): Promise<Verified> {
  const [main] = await new Verifier(house.database, () => undefined).verify('main');
  if (!main) throw new Error('the account was not verified');
  return main;
}

const sayDifference = ({ difference }: Verified) =>
  difference && `day ${difference.date}, nsu ${String(difference.nsu)}, ${difference.field}`;

/** Closes every day of the year, piece by piece, as the timers would. */
const closeDays: Step = async (house, year) => {
  const closing = house.application.get(DayClosing, { strict: false });
  const spans = house.application.get(StatementClosing, { strict: false });
  const account = { id: house.accountId, goLiveAt: year.goLiveAt };
  const firstDay = statementDayOf(year.goLiveAt);
  const lastDay = addDays(year.plan.until, -1);
  const wanted = daysBetween(firstDay, lastDay) + 1;
  let certified = await certifiedDays(house, lastDay);
  for (let idle = 0; certified < wanted && idle < 3;) {
    await closing.close(account);
    await spans.close({ accountId: house.accountId });
    await house.reconcile();
    await closing.close(account);
    const now = await certifiedDays(house, lastDay);
    idle = now > certified ? 0 : idle + 1;
    certified = now;
  }
  if (certified < wanted) return [`${certified} of ${wanted} days have a certificate`];
  const { rows } = await house.pool.query<{ cents: number }>(
    `SELECT closing_cents::float8 AS cents FROM day_close
     WHERE account_id = $1 AND date = $2 ORDER BY sequence DESC LIMIT 1`,
    [house.accountId, lastDay],
  );
  const closingCents = rows[0]?.cents;
  if (closingCents === year.closingCents) return [];
  return [`the last day closes with ${closingCents}, the ledger with ${year.closingCents}`];
};

async function certifiedDays({ pool, accountId }: House, lastDay: string): Promise<number> {
  const { rows } = await pool.query<{ days: number }>(
    `SELECT count(DISTINCT date)::int AS days FROM day_close WHERE account_id = $1 AND date <= $2`,
    [accountId, lastDay],
  );
  return rows[0]?.days ?? 0;
}

const verifyChain: Step = async (house) => {
  const difference = sayDifference(await verify(house));
  return difference ? [`the chain does not verify: ${difference}`] : [];
};

/** Each a change that no trigger of the database saw, and what takes it back. */
const tampering = [
  {
    what: 'an amount of a stored line',
    change: `UPDATE statement_line SET amount_cents = amount_cents + 1 WHERE account_id = $1 AND nsu = $2`,
    back: `UPDATE statement_line SET amount_cents = amount_cents - 1 WHERE account_id = $1 AND nsu = $2`,
  },
  {
    what: 'the time of a stored line',
    change: `UPDATE statement_line SET occurred_at = occurred_at + interval '1 second' WHERE account_id = $1 AND nsu = $2`,
    back: `UPDATE statement_line SET occurred_at = occurred_at - interval '1 second' WHERE account_id = $1 AND nsu = $2`,
  },
  {
    what: 'the text of a certificate',
    change: `UPDATE day_close SET certificate = replace(certificate, '"', ' "')
             WHERE account_id = $1 AND sequence = $2 % 20 + 1`,
    back: `UPDATE day_close SET certificate = replace(certificate, ' "', '"')
           WHERE account_id = $1 AND sequence = $2 % 20 + 1`,
  },
  {
    what: 'the hash of a certificate',
    change: `UPDATE day_close SET hash = reverse(hash) WHERE account_id = $1 AND sequence = $2 % 20 + 1`,
    back: `UPDATE day_close SET hash = reverse(hash) WHERE account_id = $1 AND sequence = $2 % 20 + 1`,
  },
];

const tamper: Step = async (house, year) => {
  const nsu = year.lines[Math.floor(year.lines.length / 2)]?.nsu ?? 0;
  const findings: string[] = [];
  for (const { what, change, back } of tampering) {
    await unseen(house, change, nsu);
    const verified = await verify(house);
    await unseen(house, back, nsu);
    if (!sayDifference(verified)) findings.push(`nobody finds that ${what} was tampered with`);
  }
  return findings;
};

async function unseen({ pool, accountId }: House, sql: string, nsu: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    const { rowCount } = await client.query(sql, [accountId, nsu]);
    if (rowCount !== 1) throw new Error(`tampering changed ${rowCount} rows`);
  } finally {
    await client.query('SET session_replication_role = DEFAULT');
    client.release();
  }
}

export const steps: Record<string, Step> = { closeDays, verify: verifyChain, tamper };
