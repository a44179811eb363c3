// Makes one day's certificate, or its amendment: reads the day as it stands, holds its figures against the bank's own
// balances, seals its lines and adds the link to the account's chain. All of it, or a break that says why not.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { eventAmount } from '../events/event-amount.js';
import { EventsService } from '../events/events.service.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { Breaks } from '../reconciliation/breaks.service.js';
import * as certificates from './certificate.js';
import type { Certificate, Explained, Figures } from './certificate.js';
import { cutAfter, heldAt, type Cut } from './cut.js';
import * as queries from './day-closes.queries.js';
import { commitmentOf, lineHashOf, linesHashOf } from './line-seal.js';

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
  ) {}

  async certify(
    tx: Tx,
    accountId: number,
    date: string,
    { madeAt, closedUntil }: { madeAt: Date; closedUntil: Date | null },
  ): Promise<Certified> {
    const [from, until] = [statementDayStart(date), statementDayStart(addDays(date, 1))];
    const lines = await queries.listDay(tx, accountId, { from, until });
    if (!lines.every(isExplained)) return { outcome: 'waiting' };
    const before = await this.cutBefore(tx, accountId, date);
    const following = await queries.listFollowing(tx, accountId, before.nsu, lines.length);
    const cut = cutAfter(before, until, lines.map(signed), following);
    const openingCents = heldAt(before);
    const figures = certificates.figuresOf(openingCents, lines);
    if (heldAt(cut) !== figures.closingCents) {
      await this.tellDifference(tx, accountId, date, { figures, heldCents: heldAt(cut) });
      return { outcome: 'differs' };
    }
    const standing = await queries.findStanding(tx, accountId, date);
    const last = await queries.findLast(tx, accountId);
    const seals = sealsOf(accountId, lines);
    const lineHashes = lines.map((line) => line.lineHash ?? seals.get(line.nsu)?.lineHash ?? '');
    const certificate = certificates.certify({
      accountId,
      date,
      revision: (standing?.revision ?? 0) + 1,
      sequence: (last?.sequence ?? 0) + 1,
      reason: standing ? 'late_line' : null,
      openingCents,
      lines,
      cut,
      linesHash: linesHashOf(lineHashes),
      added: standing ? [...seals.keys()] : [],
      previousHash: last?.hash ?? certificates.noHash,
      closedUntil,
      madeAt,
    });
    await this.breaks.resolve(tx, accountId, 'broken_chain', [subjectOf(date)]);
    if (
      standing &&
      certificates.saysTheSame(certificate, certificates.readCertificate(standing.certificate))
    )
      return { outcome: 'unchanged' };
    await queries.insertSeals(tx, accountId, date, [...seals.values()]);
    await this.add(tx, certificate, figures);
    return { outcome: standing ? 'amended' : 'certified' };
  }

  /** Where the day before ends: as its certificate tells, or, before the first, as the mirror does. */
  private async cutBefore(tx: Tx, accountId: number, date: string): Promise<Cut> {
    const dayBefore = await queries.findStanding(tx, accountId, addDays(date, -1));
    if (dayBefore) return certificates.cutOf(certificates.readCertificate(dayBefore.certificate));
    return queries.readAnchor(tx, accountId, statementDayStart(date));
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

  private async tellDifference(
    tx: Tx,
    accountId: number,
    date: string,
    { figures, heldCents }: { figures: Figures; heldCents: bigint },
  ): Promise<void> {
    const evidence = {
      date,
      opening: formatReaisWithTwoDecimals(figures.openingCents),
      credits: formatReaisWithTwoDecimals(figures.creditCents),
      debits: formatReaisWithTwoDecimals(figures.debitCents),
      closing: formatReaisWithTwoDecimals(figures.closingCents),
      balanceAtTheBank: formatReaisWithTwoDecimals(heldCents),
    };
    const difference = heldCents - figures.closingCents;
    await this.breaks.open(tx, accountId, [
      {
        kind: 'broken_chain',
        subject: subjectOf(date),
        amountCents: difference < 0n ? -difference : difference,
        nsu: null,
        evidence,
      },
    ]);
  }
}

function subjectOf(date: string): string {
  return `day:${date}`;
}

function isExplained(line: queries.DayLine): line is ExplainedLine {
  return line.state !== 'pending';
}

function signed<Line extends { isCredit: boolean; amountCents: bigint }>(line: Line) {
  return { ...line, signedCents: line.isCredit ? line.amountCents : -line.amountCents };
}

/** Seals for the lines that have none. The salt is random: what is left of an erased line must not be guessed. */
function sealsOf(accountId: number, lines: queries.DayLine[]): Map<bigint, queries.NewSeal> {
  const seals = new Map<bigint, queries.NewSeal>();
  for (const line of lines.filter(({ lineHash }) => lineHash === null)) {
    const salt = randomBytes(16).toString('hex');
    const commitment = commitmentOf(salt, line.contentHash);
    const { nsu } = line;
    seals.set(nsu, { nsu, salt, commitment, lineHash: lineHashOf(accountId, line, commitment) });
  }
  return seals;
}
