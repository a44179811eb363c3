// Certifies one day, or amends its certificate. It compares the day's figures with the bank's own
// balances, hashes the day's lines, and appends the certificate to the account's chain: everything
// in one transaction. If the figures differ, it opens a break instead.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { addDays } from '../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { eventAmount } from '../events/event.js';
import { EventsService } from '../events/events.service.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { subjectOfLate } from '../reconciliation/decide/break-kinds.js';
import { Breaks } from '../reconciliation/breaks.service.js';
import * as certificates from './certificate.js';
import type { Certificate, CertifiedOutcome, Figures } from './certificate.js';
import * as certifiedLines from './certified-lines.queries.js';
import { balanceOfDays } from './cut.js';
import { readDayBalance, subjectOfDay, type UnexplainedDifference } from './day-balance.queries.js';
import * as queries from './day-closes.queries.js';
import { commitmentOf, lineHashOf, linesHashOf, type HashedFields } from './line-hash.js';

/** Earlier lines are certified beforehand. Only lines that arrived since then are left here. */
const maxEarlierLines = 100_000;

/**
 * `unchanged`: another revision would have the same content. `waiting`: a line is not decided.
 * `differs`: the figures differ from the bank's balances.
 */
export type CertificationOutcome = 'certified' | 'amended' | 'unchanged' | 'waiting' | 'differs';

type DecidedLine = queries.DayLine & CertifiedOutcome;

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
  ): Promise<CertificationOutcome> {
    const lines = await queries.listDayLines(tx, accountId, {
      from: statementDayStart(date),
      until: statementDayStart(addDays(date, 1)),
    });
    if (!lines.every(isDecided)) return 'waiting';
    // Read before the balances: a person who accepts the break in the meantime accepts what its
    // evidence contains now.
    const isAccepted = await queries.isDayBreakAccepted(tx, accountId, subjectOfDay(date));
    const cutLines = lines.map(withSignedCents);
    const { before, cut, unexplained } = await readDayBalance(tx, accountId, date, cutLines);
    const openingCents = balanceOfDays(before);
    const figures = certificates.computeFigures(openingCents, lines);
    if (unexplained || balanceOfDays(cut) !== figures.closingCents) {
      const cents = (unexplained?.cents ?? 0n) + balanceOfDays(cut) - figures.closingCents;
      const { jumps } = unexplained ?? { jumps: [] };
      await this.reportDifference(tx, accountId, date, { figures, cents, jumps, isAccepted });
      return 'differs';
    }
    const current = await queries.findCurrentCertificate(tx, accountId, date);
    const last = await tx.dayClose.findFirst({
      where: { accountId },
      orderBy: { sequence: 'desc' },
    });
    const earlier = await this.certifyEarlier(tx, accountId, date);
    const uncertified = lines.filter(({ lineHash }) => lineHash === null);
    const added = new Map(uncertified.map((line) => [line.nsu, hashLine(accountId, line)]));
    const lineHashes = lines.map((line) => line.lineHash ?? added.get(line.nsu)?.lineHash ?? '');
    const certificate = certificates.makeCertificate({
      ...{ accountId, date, openingCents, lines, cut, closedUntil, madeAt },
      revision: (current?.revision ?? 0) + 1,
      sequence: (last?.sequence ?? 0) + 1,
      reason: current ? 'late_line' : null,
      linesHash: linesHashOf(lineHashes),
      earlier: earlier && { lines: earlier.lines, linesHash: earlier.linesHash },
      added: current ? [...(earlier?.added ?? []), ...added.keys()] : [],
      previousHash: last?.hash ?? certificates.zeroHash,
    });
    await this.breaks.resolve(tx, accountId, 'broken_balance_chain', [subjectOfDay(date)]);
    if (
      current &&
      certificates.hasSameContent(certificate, certificates.readCertificate(current.certificate))
    )
      return 'unchanged';
    await certifiedLines.insertCertifiedLines(tx, accountId, [...added.values()]);
    if (current) await this.resolveLateLines(tx, accountId, [...added.values()]);
    await this.storeCertificate(tx, certificate, figures);
    return current ? 'amended' : 'certified';
  }

  /**
   * Certifies the lines before the first certified day, so that they cannot be rewritten either.
   * Lines that were not certified before are returned as `added`. Null on every other day.
   */
  private async certifyEarlier(tx: Tx, accountId: number, date: string) {
    const first = await queries.findFirstCertificate(tx, accountId);
    if (first && first.date !== date) return null;
    const uncertified = await certifiedLines.listUncertifiedLines(
      tx,
      accountId,
      statementDayStart(date),
      maxEarlierLines,
    );
    const added = uncertified.map((line) => hashLine(accountId, line));
    await certifiedLines.insertCertifiedLines(tx, accountId, added);
    if (first) await this.resolveLateLines(tx, accountId, added);
    const all = await certifiedLines.listEarlierCertifiedLines(tx, accountId, date);
    const linesHash = linesHashOf(all.map(({ lineHash }) => lineHash));
    return { lines: all.length, linesHash, added: uncertified.map(({ nsu }) => nsu) };
  }

  /** The `late_line` breaks end once a certificate contains the lines. */
  private async resolveLateLines(
    tx: Tx,
    accountId: number,
    lines: certifiedLines.NewCertifiedLine[],
  ): Promise<void> {
    const subjects = lines.map(({ date, nsu }) => subjectOfLate(date, nsu));
    await this.breaks.resolve(tx, accountId, 'late_line', subjects);
  }

  private async storeCertificate(
    tx: Tx,
    certificate: Certificate,
    figures: Figures,
  ): Promise<void> {
    const { accountId, date, revision, sequence, lines, linesHash, previousHash } = certificate;
    const text = certificates.writeCertificate(certificate);
    const hash = certificates.hashCertificate(text);
    await tx.dayClose.create({
      data: {
        ...{ accountId, sequence, date, revision, ...figures },
        ...{ lineCount: lines, certificate: text, linesHash, previousHash, hash },
      },
    });
    this.events.record(tx, accountId, [
      {
        type: revision === 1 ? 'day_close.certified' : 'day_close.amended',
        resource: { kind: 'day_close', id: date },
        data: {
          ...{ date, revision, sequence },
          ...certificates.nameFigures(figures, eventAmount),
          lines,
          hash,
        },
      },
    ]);
  }

  /**
   * Opens the break of the day, or opens it again: what a person accepted was another difference,
   * or only a part of this one.
   */
  private async reportDifference(
    tx: Tx,
    accountId: number,
    date: string,
    {
      figures,
      cents,
      jumps,
      isAccepted,
    }: UnexplainedDifference & { figures: Figures; isAccepted: boolean },
  ): Promise<void> {
    const subject = subjectOfDay(date);
    const evidence = {
      date,
      ...certificates.nameFigures(figures, formatReaisWithTwoDecimals),
      balanceAtTheBank: formatReaisWithTwoDecimals(figures.closingCents + cents),
      jumps: jumps.map((jump) => ({ nsu: `${jump.nsu}`, cents: `${jump.cents}` })),
    };
    const amountCents = cents < 0n ? -cents : cents;
    const difference = { kind: 'broken_balance_chain', subject, amountCents, nsu: null, evidence };
    await this.breaks.open(tx, accountId, [{ ...difference, isBeyondSettlement: isAccepted }]);
    await this.breaks.revise(tx, accountId, [difference]);
  }
}

/** The salt is random, so that the content of an erased line cannot be guessed from its hash. */
export function hashLine(
  accountId: number,
  line: HashedFields & { contentHash: string },
): certifiedLines.NewCertifiedLine {
  const salt = randomBytes(16).toString('hex');
  const commitment = commitmentOf(salt, line.contentHash);
  const lineHash = lineHashOf(accountId, line, commitment);
  return { nsu: line.nsu, date: statementDayOf(line.occurredAt), salt, commitment, lineHash };
}

function isDecided(line: queries.DayLine): line is DecidedLine {
  return line.state !== 'pending';
}

function withSignedCents<Line extends { isCredit: boolean; amountCents: bigint }>(line: Line) {
  return { ...line, signedCents: line.isCredit ? line.amountCents : -line.amountCents };
}
