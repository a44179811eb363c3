// Makes one day's certificate, or its amendment: reads the day as it stands, holds its figures against the bank's own
// balances, seals its lines and adds the link to the account's chain. All of it, or a break that says why not.
import { Injectable } from '@nestjs/common';
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { eventAmount } from '../events/event.js';
import { EventsService } from '../events/events.service.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { subjectOfLate } from '../reconciliation/line-outcome.js';
import { Breaks } from '../reconciliation/breaks.service.js';
import * as certificates from './certificate.js';
import type { Certificate, Explained, Figures } from './certificate.js';
import { heldAt } from './cut.js';
import { DayBalances, subjectOfDay, type Unexplained } from './day-balance.service.js';
import * as queries from './day-closes.queries.js';
import { linesHashOf } from './line-hash.js';
import { hashLine } from './line-hasher.service.js';
import * as seals from './certified-lines.queries.js';

/** Earlier lines are sealed beforehand, but for those that came at the last moment. */
const mostCertifiedAtOnce = 100_000;

export type Certified =
  /** `unchanged`: another revision would say the same. */
  | { outcome: 'certified' | 'amended' | 'unchanged' }
  /** Lines are not judged, or the figures are not the bank's. */
  | { outcome: 'waiting' | 'differs' };

type ExplainedLine = queries.DayLine & Explained;

@Injectable()
export class DayCertifier {
  constructor(
    private readonly events: EventsService,
    private readonly breaks: Breaks,
    private readonly balances: DayBalances,
  ) {}

  async certify(
    tx: Tx,
    accountId: number,
    date: string,
    { madeAt, closedUntil }: { madeAt: Date; closedUntil: Date | null },
  ): Promise<Certified> {
    const lines = await queries.listDay(tx, accountId, {
      from: statementDayStart(date),
      until: statementDayStart(addDays(date, 1)),
    });
    if (!lines.every(isExplained)) return { outcome: 'waiting' };
    // Asked first: who accepts the break while the day is being read has accepted what it tells.
    const isSettled = await queries.isDaySettled(tx, accountId, subjectOfDay(date));
    const { before, cut, broken } = await this.balances.read(
      tx,
      accountId,
      date,
      lines.map(signed),
    );
    const openingCents = heldAt(before);
    const figures = certificates.figuresOf(openingCents, lines);
    if (broken || heldAt(cut) !== figures.closingCents) {
      const cents = (broken?.cents ?? 0n) + heldAt(cut) - figures.closingCents;
      const { jumps } = broken ?? { jumps: [] };
      await this.reportDifference(tx, accountId, date, { figures, cents, jumps, isSettled });
      return { outcome: 'differs' };
    }
    const standing = await queries.findStanding(tx, accountId, date);
    const last = await queries.findLast(tx, accountId);
    const earlier = await this.certifyEarlier(tx, accountId, date);
    const unsealed = lines.filter(({ lineHash }) => lineHash === null);
    const made = new Map(unsealed.map((line) => [line.nsu, hashLine(accountId, line)]));
    const lineHashes = lines.map((line) => line.lineHash ?? made.get(line.nsu)?.lineHash ?? '');
    const certificate = certificates.certify({
      ...{ accountId, date, openingCents, lines, cut, closedUntil, madeAt },
      revision: (standing?.revision ?? 0) + 1,
      sequence: (last?.sequence ?? 0) + 1,
      reason: standing ? 'late_line' : null,
      linesHash: linesHashOf(lineHashes),
      earlier: earlier && { lines: earlier.lines, linesHash: earlier.linesHash },
      added: standing ? [...(earlier?.added ?? []), ...made.keys()] : [],
      previousHash: last?.hash ?? certificates.noHash,
    });
    await this.breaks.resolve(tx, accountId, 'broken_balance_chain', [subjectOfDay(date)]);
    if (
      standing &&
      certificates.saysTheSame(certificate, certificates.readCertificate(standing.certificate))
    )
      return { outcome: 'unchanged' };
    await seals.insertCertifiedLines(tx, accountId, [...made.values()]);
    if (standing) await this.settleLate(tx, accountId, [...made.values()]);
    await this.add(tx, certificate, figures);
    return { outcome: standing ? 'amended' : 'certified' };
  }

  /**
   * Seals what lies before the first certified day, so that it cannot be rewritten either; what has no seal yet is told
   * as added. Null on every other day.
   */
  private async certifyEarlier(tx: Tx, accountId: number, date: string) {
    const first = await queries.findFirst(tx, accountId);
    if (first && first.date !== date) return null;
    const before = statementDayStart(date);
    const unsealed = await seals.listUncertified(tx, accountId, before, mostCertifiedAtOnce);
    const made = unsealed.map((line) => hashLine(accountId, line));
    await seals.insertCertifiedLines(tx, accountId, made);
    if (first) await this.settleLate(tx, accountId, made);
    const all = await seals.listEarlierCertifiedLines(tx, accountId, date);
    const linesHash = linesHashOf(all.map(({ lineHash }) => lineHash));
    return { lines: all.length, linesHash, added: unsealed.map(({ nsu }) => nsu) };
  }

  /** Certificates have these lines now: that they came late is told by those. */
  private async settleLate(tx: Tx, accountId: number, made: seals.NewCertifiedLine[]): Promise<void> {
    const subjects = made.map(({ date, nsu }) => subjectOfLate(date, nsu));
    await this.breaks.resolve(tx, accountId, 'late_line', subjects);
  }

  private async add(tx: Tx, certificate: Certificate, figures: Figures): Promise<void> {
    const { accountId, date, revision, sequence, lines, linesHash, previousHash } = certificate;
    const text = certificates.writeCertificate(certificate);
    const hash = certificates.hashOfCertificate(text);
    await tx.dayClose.create({
      data: {
        ...{ accountId, sequence, date, revision, ...figures },
        ...{ lineCount: lines, certificate: text, linesHash, previousHash, hash },
      },
    });
    await this.events.record(tx, accountId, [
      {
        type: revision === 1 ? 'day_close.certified' : 'day_close.amended',
        data: {
          ...{ date, revision, sequence },
          opening: eventAmount(figures.openingCents),
          credits: eventAmount(figures.creditCents),
          debits: eventAmount(figures.debitCents),
          closing: eventAmount(figures.closingCents),
          lines,
          hash,
        },
      },
    ]);
  }

  /** Its break is open whenever a day differs: what a person has accepted of it was something else, or was not all. */
  private async reportDifference(
    tx: Tx,
    accountId: number,
    date: string,
    { figures, cents, jumps, isSettled }: Unexplained & { figures: Figures; isSettled: boolean },
  ): Promise<void> {
    const subject = subjectOfDay(date);
    const evidence = {
      date,
      opening: formatReaisWithTwoDecimals(figures.openingCents),
      credits: formatReaisWithTwoDecimals(figures.creditCents),
      debits: formatReaisWithTwoDecimals(figures.debitCents),
      closing: formatReaisWithTwoDecimals(figures.closingCents),
      balanceAtTheBank: formatReaisWithTwoDecimals(figures.closingCents + cents),
      jumps: jumps.map((jump) => ({ nsu: `${jump.nsu}`, cents: `${jump.cents}` })),
    };
    const amountCents = cents < 0n ? -cents : cents;
    const told = { kind: 'broken_balance_chain', subject, amountCents, nsu: null, evidence };
    await this.breaks.open(tx, accountId, [{ ...told, isBeyondSettlement: isSettled }]);
    await this.breaks.revise(tx, accountId, [told]);
  }
}

function isExplained(line: queries.DayLine): line is ExplainedLine {
  return line.state !== 'pending';
}

function signed<Line extends { isCredit: boolean; amountCents: bigint }>(line: Line) {
  return { ...line, signedCents: line.isCredit ? line.amountCents : -line.amountCents };
}
