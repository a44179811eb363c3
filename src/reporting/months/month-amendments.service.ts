// What changed in closed months: of one closed month, since its report; of an open one, what the
// reports before it do not have.
import { Injectable } from '@nestjs/common';
import { formatReaisWithTwoDecimals as formatCents } from '../../brazil/cents.js';
import { statementMonths } from '../../brazil/statement-day.js';
import type { Db } from '../../platform/postgres/database.service.js';
import type { CanonicalValue } from '../../platform/json/canonical-json.js';
import * as queries from './amendments.queries.js';
import { amendedBefore, type AmendedMonths, type StandingClose } from './month-state.js';

/** More are counted, and not listed. */
const maxListed = 1_000;

export interface MonthChanges extends queries.AmendmentSums {
  listed: queries.MonthAmendment[];
}

@Injectable()
export class MonthAmendments {
  /** Of a month that is closed by `closed`, or that is open. */
  async find(
    db: Db,
    accountId: number,
    month: string,
    { closed, standing }: { closed: StandingClose | null; standing: readonly StandingClose[] },
  ): Promise<MonthChanges> {
    const spans = closed
      ? [{ from: month, to: month, cut: closed }]
      : amendedBefore(month, standing);
    const all: MonthChanges = { lines: 0, balanceCents: 0n, outcomeCents: 0n, listed: [] };
    for (const one of spans) {
      const span = amendedSpan(accountId, one);
      const sums = await queries.sumAmendments(db, span);
      all.lines += sums.lines;
      all.balanceCents += sums.balanceCents;
      all.outcomeCents += sums.outcomeCents;
      if (sums.lines > 0 && all.listed.length < maxListed)
        all.listed.push(...(await queries.listAmendments(db, span, maxListed - all.listed.length)));
    }
    return all;
  }

  /** As a report states the changes of the months before it. */
  async describe(
    db: Db,
    accountId: number,
    month: string,
    standing: readonly StandingClose[],
  ): Promise<CanonicalValue> {
    const found = await this.find(db, accountId, month, { closed: null, standing });
    const { lines, balanceCents, outcomeCents, listed } = found;
    return {
      ...{ lines, balance: formatCents(balanceCents), outcomes: formatCents(outcomeCents) },
      listed: listed.map(({ nsu, day, fromState, fromLabel, toState, toLabel, effectCents }) => ({
        ...{ nsu: `${nsu}`, day, fromState, fromLabel, toState, toLabel },
        effect: formatCents(effectCents),
      })),
    };
  }
}

export function amendedSpan(accountId: number, { from, to, cut }: AmendedMonths) {
  return { accountId, since: cut, ...statementMonths(from, to) };
}
