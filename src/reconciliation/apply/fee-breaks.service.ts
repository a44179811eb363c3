// Opens and resolves the breaks of fees that the bank charged otherwise than agreed. They follow
// from what is decided about the lines of a month, so they are decided after it, month by month.
import { Injectable } from '@nestjs/common';
import { addDays, monthAfter, monthBefore, monthOf } from '../../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../../brazil/statement-day.js';
import type { SqlTx } from '../../platform/postgres/database.service.js';
import { recordFeeTask } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { subjectOfFee } from '../decide/break-kinds.js';
import { checkFees, overchargeOf, type CheckedFee } from '../decide/fee-check.js';
import {
  feeWindow,
  findFirstLineFrom,
  listOpenFeeBreaks,
  listPriceLists,
  loadFeeFacts,
  readFirstTime,
} from '../load/fees.queries.js';
import { BreakWriter, type NewBreak } from './break-writer.service.js';

/** Lines come in bursts: the month is read once for all of them. */
export const feeDelayMs = 20_000;

@Injectable()
export class FeeBreaks {
  constructor(private readonly breaks: BreakWriter) {}

  /**
   * Checks the fees about the month of the earliest of these lines and the month before it, which
   * the next month charges. Later months follow by a task. Returns whether a break changed.
   */
  async refresh(
    tx: SqlTx,
    accountId: number,
    nsus: readonly bigint[],
    asOf: Date | null,
  ): Promise<boolean> {
    const first = await readFirstTime(tx, accountId, nsus);
    if (first === null || asOf === null) return false;
    const lists = await listPriceLists(tx, accountId);
    const to = monthOf(saoPauloDay(first));
    const months = { from: monthBefore(to), to };
    const facts = await loadFeeFacts(tx, accountId, months, { lists, asOf });
    const checked = checkFees(facts).filter(
      ({ period }) => monthOf(period) >= months.from && monthOf(period) <= to,
    );
    const wrong = checked.filter(({ state }) => state === 'mismatch').map(toBreak);
    const openNow = await listOpenFeeBreaks(tx, accountId, feeWindow(months));
    const right = new Set(checked.flatMap(({ nsu, state }) => (state === 'mismatch' ? [] : [nsu])));
    const ended = openNow.filter(({ nsu, isFee }) => !isFee || right.has(nsu));
    const known = new Set(openNow.map(({ nsu }) => nsu));
    await this.breaks.open(tx, accountId, wrong);
    await this.breaks.revise(tx, accountId, wrong);
    const subjects = ended.map(({ nsu }) => subjectOfFee(nsu));
    await this.breaks.resolve(tx, accountId, 'fee_mismatch', subjects);
    await this.recordLater(tx, accountId, { month: to, checked, asOf });
    return ended.length > 0 || wrong.some(({ nsu }) => nsu !== null && !known.has(nsu));
  }

  /** The next month, and the end of the first period that is not over. */
  private async recordLater(
    tx: SqlTx,
    accountId: number,
    { month, checked, asOf }: { month: string; checked: readonly CheckedFee[]; asOf: Date },
  ): Promise<void> {
    const next = await findFirstLineFrom(tx, accountId, `${monthAfter(month)}-01`);
    if (next !== null) await recordFeeTask(tx, accountId, next);
    const waiting = checked.find(({ state }) => state === 'waiting');
    if (!waiting) return;
    const { period } = waiting;
    const end = period.length === 7 ? `${monthAfter(period)}-01` : addDays(period, 1);
    await recordFeeTask(tx, accountId, waiting.nsu, statementDayStart(end).getTime() - +asOf);
  }
}

/** What is charged too much or too little, of a line without another amount. */
function toBreak(fee: CheckedFee): NewBreak {
  const { nsu, kind, period, chargedCents, expectedCents, version } = fee;
  const difference = overchargeOf(fee);
  return {
    kind: 'fee_mismatch',
    subject: subjectOfFee(nsu),
    nsu,
    amountCents: difference < 0n ? -difference : difference,
    expectedPaymentId: null,
    evidence: {
      ...{ tariff: kind, period, priceList: version },
      ...{ chargedCents: String(chargedCents), expectedCents: String(expectedCents) },
    },
  };
}
