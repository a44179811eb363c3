// Who would have been notified of the debits of the year, if the account had been guarded: as if
// each line was read as it occurred, with a price list, and without a threshold. It goes by what is
// known at the end of the year.
import { isFeeType } from '../../src/bank-contract/line-types.js';
import type { SqlTx } from '../../src/platform/postgres/database.service.js';
import { noticesOf } from '../../src/reporting/alerts/debit-notices.js';
import { listDebitsEverNoted } from '../../src/reporting/alerts/debit-notices.queries.js';
import type { YearDeployment } from './deployment.js';
import type { Year } from './generate.js';

/** More false alarms of an account in a month are a finding. */
const maxFalseAlarmsPerMonth = 0.1;
const daysOfMonth = 365 / 12;

export interface GuardedYear {
  findings: string[];
  summary: string;
}

export async function guardYear(deployment: YearDeployment, year: Year): Promise<GuardedYear> {
  const { accountId } = deployment;
  const noted = await asIfReadAtOnce(deployment, (tx) => listDebitsEverNoted(tx, accountId));
  const debits = noted.map((one) => ({
    ...one,
    ...{ isPricedFee: one.isFee && isFeeType(one.typeName), hasWaited: true },
  }));
  const notices = noticesOf(debits, { alarmAbove: null, declaredDebits: [] });
  const isWrong = new Set(
    year.lines
      .filter(({ isCredit, correct }) => !isCredit && correct.breakKind !== null)
      .map(({ nsu }) => BigInt(nsu)),
  );
  const ofKind = (kind: string) => notices.filter(({ notice }) => notice === kind);
  const alarms = ofKind('alarm');
  const falseAlarms = alarms.filter(({ nsu }) => !isWrong.has(nsu));
  const perMonth = falseAlarms.length / (year.plan.days / daysOfMonth);
  const found = alarms.length - falseAlarms.length;
  const critical = ofKind('critical_alert').length;
  const summary =
    `Guard: ${found} of ${isWrong.size} wrong debits are alarms; false alarms: ` +
    `${falseAlarms.length}, ${perMonth.toFixed(2)} an account and month; ` +
    `critical alerts: ${critical}; alerts: ${ofKind('alert').length}`;
  const findings = [
    ...(perMonth > maxFalseAlarmsPerMonth
      ? falseAlarms.map(({ nsu, row }) => `false alarm of line ${nsu} by the row ${row}`)
      : []),
    ...(found < isWrong.size ? [`${isWrong.size - found} wrong debits are no alarm`] : []),
    ...(critical > 0 ? [`${critical} critical alerts without a threshold`] : []),
  ];
  return { summary, findings };
}

class Undone extends Error {}

/** What `read` finds while each line of the statement was stored when it occurred. */
async function asIfReadAtOnce<Result>(
  { database, accountId }: YearDeployment,
  read: (tx: SqlTx) => Promise<Result>,
): Promise<Result> {
  let result: Result | undefined;
  try {
    await database.sqlTransaction(async (tx) => {
      await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
      await tx.$executeRaw`
        UPDATE statement_line l
        SET recorded_at = l.occurred_at
          - COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'
        FROM statement_state s
        WHERE l.account_id = ${accountId} AND s.account_id = l.account_id AND NOT l.is_credit`;
      result = await read(tx);
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  return result as Result;
}
