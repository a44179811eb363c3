// Steps on the reconciled year: closes every day, verifies the certificates, and checks that
// tampering is detected.
import { addDays, daysBetween } from '../../src/brazil/calendar.js';
import { statementDayOf } from '../../src/brazil/statement-day.js';
import { BankService } from '../../src/bank/bank.service.js';
import { DayClosing } from '../../src/reporting/day-closes/day-closing.service.js';
import { Verifier } from '../../src/reporting/day-closes/verifier.service.js';
import {
  describeDifference,
  Recomputation,
} from '../../src/reconciliation/runs/recomputation.service.js';
import { StatementClosing } from '../../src/statement/lines/statement-closing.service.js';
import type { YearDeployment } from './deployment.js';
import type { Year } from './generate.js';

/** Returns its findings. */
export type YearStep = (deployment: YearDeployment, year: Year) => Promise<string[]>;

type Verification = Awaited<ReturnType<Verifier['verify']>>[number];

async function verifyAccount({ database }: YearDeployment): Promise<Verification> {
  const [main] = await new Verifier(database, () => undefined).verify('main');
  if (!main) throw new Error('the account main was not verified');
  return main;
}

const describeFirst = ({ difference }: Verification) =>
  difference && `day ${difference.date}, nsu ${String(difference.nsu)}, ${difference.field}`;

/** Closes every day of the year in the parts in which the timers close them. */
const closeDays: YearStep = async (deployment, year) => {
  const { application, accountId, pool } = deployment;
  const dayClosing = application.get(DayClosing, { strict: false });
  const statementClosing = application.get(StatementClosing, { strict: false });
  const account = { id: accountId, goLiveAt: year.goLiveAt };
  const firstDay = statementDayOf(year.goLiveAt);
  const lastDay = addDays(year.plan.until, -1);
  const days = daysBetween(firstDay, lastDay) + 1;
  let certified = await countCertifiedDays(deployment, lastDay);
  for (let attemptsWithoutProgress = 0; certified < days && attemptsWithoutProgress < 3;) {
    await dayClosing.close(account);
    await statementClosing.close({ accountId });
    await deployment.reconcile();
    await dayClosing.close(account);
    const certifiedNow = await countCertifiedDays(deployment, lastDay);
    attemptsWithoutProgress = certifiedNow > certified ? 0 : attemptsWithoutProgress + 1;
    certified = certifiedNow;
  }
  if (certified < days) return [`${certified} of ${days} days have a certificate`];
  const { rows } = await pool.query<{ cents: number }>(
    `SELECT closing_cents::float8 AS cents FROM day_close
     WHERE account_id = $1 AND date = $2 ORDER BY sequence DESC LIMIT 1`,
    [accountId, lastDay],
  );
  const closingCents = rows[0]?.cents;
  if (closingCents === year.closingCents) return [];
  return [`the last day closes with ${closingCents} cents, expected ${year.closingCents}`];
};

async function countCertifiedDays(
  { pool, accountId }: YearDeployment,
  lastDay: string,
): Promise<number> {
  const { rows } = await pool.query<{ days: number }>(
    `SELECT count(DISTINCT date)::int AS days FROM day_close
     WHERE account_id = $1 AND date <= $2`,
    [accountId, lastDay],
  );
  return rows[0]?.days ?? 0;
}

const verifyCertificates: YearStep = async (deployment) => {
  const difference = describeFirst(await verifyAccount(deployment));
  return difference ? [`the certificates are not valid: ${difference}`] : [];
};

const lineWhere = `WHERE account_id = $1 AND nsu = $2`;
const certificateWhere = `WHERE account_id = $1 AND sequence = $2 % 20 + 1`;

/** Each changes one row and then restores it. */
const tampering = [
  {
    subject: 'the amount of a stored line',
    change: `UPDATE statement_line SET amount_cents = amount_cents + 1 ${lineWhere}`,
    restore: `UPDATE statement_line SET amount_cents = amount_cents - 1 ${lineWhere}`,
  },
  {
    subject: 'the time of a stored line',
    change: `UPDATE statement_line SET occurred_at = occurred_at + interval '1 second'
             ${lineWhere}`,
    restore: `UPDATE statement_line SET occurred_at = occurred_at - interval '1 second'
              ${lineWhere}`,
  },
  {
    subject: 'the text of a certificate',
    change: `UPDATE day_close SET certificate = replace(certificate, '"', ' "')
             ${certificateWhere}`,
    restore: `UPDATE day_close SET certificate = replace(certificate, ' "', '"')
              ${certificateWhere}`,
  },
  {
    subject: 'the hash of a certificate',
    change: `UPDATE day_close SET hash = reverse(hash) ${certificateWhere}`,
    restore: `UPDATE day_close SET hash = reverse(hash) ${certificateWhere}`,
  },
];

const detectTampering: YearStep = async (deployment, year) => {
  const nsu = year.lines[Math.floor(year.lines.length / 2)]?.nsu ?? 0;
  const findings: string[] = [];
  for (const { subject, change, restore } of tampering) {
    await updateWithoutTriggers(deployment, change, nsu);
    const verification = await verifyAccount(deployment);
    await updateWithoutTriggers(deployment, restore, nsu);
    if (!describeFirst(verification)) findings.push(`tampering with ${subject} is undetected`);
  }
  return findings;
};

async function updateWithoutTriggers(
  { pool, accountId }: YearDeployment,
  sql: string,
  nsu: number,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    const { rowCount } = await client.query(sql, [accountId, nsu]);
    if (rowCount !== 1) throw new Error(`tampering changed ${rowCount} rows, expected 1`);
  } finally {
    await client.query('SET session_replication_role = DEFAULT');
    client.release();
  }
}

/** What is stored of every line is what the facts mean. */
const recomputeOutcomes: YearStep = async ({ database, accountId, application }) => {
  const { profile } = application.get(BankService, { strict: false });
  const recomputed = await new Recomputation(database, profile).compareAccount(accountId);
  return recomputed.differences.slice(0, 20).map(describeDifference);
};

/** By the name that the report prints, in the order in which they run. */
export const yearSteps: Record<string, YearStep> = {
  'recompute outcomes': recomputeOutcomes,
  'close days': closeDays,
  'verify certificates': verifyCertificates,
  'detect tampering': detectTampering,
};
