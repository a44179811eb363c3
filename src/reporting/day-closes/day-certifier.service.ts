// Certifies one day, or amends its certificate. Everything is read before the transaction: the
// figures, the bank's own balances and the Merkle tree over the lines, as they were at one point.
// The transaction only checks that nothing changed since, and appends the certificate to the
// account's chain. If the figures differ from the balances, it opens a break instead.
import { Injectable } from '@nestjs/common';
import { addDays } from '../../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import { SigningKeys, type Signer } from '../../access/secrets/signing-keys.service.js';
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { eventAmount } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import type { DayClose } from '../../generated/service/client.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { listAcceptedJumps } from '../../statement/lines/balance-chain.queries.js';
import { subjectOfLate } from '../../reconciliation/decide/break-kinds.js';
import { BreakWriter } from '../../reconciliation/apply/break-writer.service.js';
import * as certificates from './certificate.js';
import type { Certificate, DayContent, Figures } from './certificate.js';
import { balanceOfDays, type Cut } from './cut.js';
import { readDayBalance, subjectOfDay, type UnexplainedDifference } from './day-balance.queries.js';
import * as queries from './day-closes.queries.js';
import { readSpanFigures, type LineSpan } from './day-lines.queries.js';
import { DayTree } from './day-tree.queries.js';
import { readOutcomeChanges } from './outcome-changes.queries.js';
import { readLogExtent } from './decision-log.queries.js';
import * as outcomes from './outcomes.queries.js';
import { readStatementRoot } from './statement-tree.queries.js';

/**
 * `unchanged`: another revision would have the same content. `waiting`: a line is not decided.
 * `differs`: the figures differ from the bank's balances. `outdated`: an outcome changed after it
 * was read. `accepted_since`: so did what persons accepted about the balances.
 */
export type CertificationOutcome =
  ('certified' | 'amended' | 'unchanged') | ('waiting' | 'differs' | 'outdated' | 'accepted_since');

interface DayFacts {
  accountId: number;
  date: string;
  lastArrival: bigint;
  content: DayContent;
  figures: Figures;
  cut: Cut;
  /** The current certificate of the day, which this one amends. */
  current: DayClose | null;
  /** What persons accepted about the account's balances when they were read, as a text. */
  accepted: string;
  /** Lines that the current certificate does not contain. */
  added: queries.LateLine[];
}

interface Trees {
  day: DayTree;
  /** The lines before the first certified day. */
  earlier: DayTree | null;
  changes: Certificate['outcomeChanges'];
  /** Of what the bank showed: these never change. */
  roots: { day: string; earlier: string };
}

type DifferingDay = DayFacts & {
  outcome: 'differs';
  difference: UnexplainedDifference;
  isAccepted: boolean;
};
type CompleteDay = DayFacts & { outcome: 'complete'; trees: Trees };

/** What was read of a day whose lines are decided, and what it means. */
export type PreparedDay = (DayFacts & { outcome: 'unchanged' }) | DifferingDay | CompleteDay;

@Injectable()
export class DayCertifier {
  /** By account: from what the day was read that was last found to differ. */
  private readonly differing = new Map<number, string>();

  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
    private readonly breaks: BreakWriter,
    private readonly keys: SigningKeys,
  ) {}

  /**
   * Whether the day was already found to differ, and nothing has changed that could make it agree:
   * no new line, no other acceptance, and its break is still open.
   */
  async isKnownToDiffer(accountId: number, date: string, lastArrival: bigint): Promise<boolean> {
    const known = this.differing.get(accountId);
    if (known === undefined) return false;
    const { prisma: db } = this.database;
    const accepted = await readAccepted(db, accountId);
    if (known !== basisOf({ date, lastArrival, accepted })) return false;
    return (await queries.findDayBreak(db, accountId, subjectOfDay(date)))?.state === 'open';
  }

  /**
   * Reads the lines up to `lastArrival` outside any transaction. Returns null while a line is not
   * decided.
   */
  async prepare(accountId: number, date: string, lastArrival: bigint): Promise<PreparedDay | null> {
    const { prisma: db } = this.database;
    const outcomeSequence = await outcomes.readOutcomeSequence(db, accountId);
    const span = {
      ...{ accountId, lastArrival, outcomeSequence },
      ...{ from: statementDayStart(date), until: statementDayStart(addDays(date, 1)) },
    };
    const first = await queries.findFirstCertificate(db, accountId);
    const isFirst = !first || first.date === date;
    if (await outcomes.isUndecided(db, isFirst ? { ...span, from: null } : span)) return null;
    const lines = await readSpanFigures(db, span);
    const accepted = await readAccepted(db, accountId);
    const found = await queries.findDayBreak(db, accountId, subjectOfDay(date));
    const isAccepted = found?.state === 'resolved' && found.resolution !== 'automatic';
    const balance = await readDayBalance(db, accountId, { date, lines: lines.lines, lastArrival });
    const { before, cut, unexplained } = balance;
    const figures = certificates.figuresOf(balanceOfDays(before), lines);
    const current = await queries.findCurrentCertificate(db, accountId, date);
    const added = current ? await listAdded(db, span, { current, isFirst }) : [];
    const content = certificates.describeDay(figures, lines, cut);
    const facts = {
      ...{ accountId, date, lastArrival, content, figures, cut, current, accepted, added },
    };
    const excess = balanceOfDays(cut) - figures.closingCents;
    if (unexplained || excess !== 0n) {
      const { cents, jumps } = unexplained ?? { cents: 0n, jumps: [] };
      const difference = { cents: cents + excess, jumps };
      return { ...facts, outcome: 'differs', difference, isAccepted };
    }
    if (current && added.length === 0 && isUnchanged(current, content))
      return { ...facts, outcome: 'unchanged' };
    const day = await DayTree.read(db, span, lines);
    const earlierLines = isFirst ? await readEarlierSpan(db, span, before) : null;
    const earlier =
      earlierLines && (await DayTree.read(db, earlierLines.span, earlierLines.bounds));
    if (day.undecided + day.pending + (earlier?.undecided ?? 0) > 0) return null;
    const changes = await this.readChanges(accountId, outcomeSequence);
    const roots = {
      day: await readStatementRoot(db, span, lines),
      earlier: earlierLines
        ? await readStatementRoot(db, earlierLines.span, earlierLines.bounds)
        : '',
    };
    return { ...facts, outcome: 'complete', trees: { day, earlier, changes, roots } };
  }

  /** Reads again what changed while the day was read. */
  async refresh(prepared: PreparedDay): Promise<void> {
    if (prepared.outcome !== 'complete') return;
    const { prisma } = this.database;
    const sequence = await outcomes.readOutcomeSequence(prisma, prepared.accountId);
    await prepared.trees.day.refresh(prisma, sequence);
    await prepared.trees.earlier?.refresh(prisma, sequence);
    prepared.trees.changes = await this.readChanges(prepared.accountId, sequence);
  }

  /** Stores the certificate, or opens the break of the day. */
  async store(
    tx: Tx,
    prepared: PreparedDay,
    when: { madeAt: Date; closedUntil: Date | null },
  ): Promise<CertificationOutcome> {
    const { accountId, date } = prepared;
    await outcomes.lockOutcomes(tx, accountId);
    if ((await readAccepted(tx, accountId)) !== prepared.accepted) return 'accepted_since';
    if (prepared.outcome === 'differs') {
      await this.reportDifference(tx, prepared);
      this.differing.set(accountId, basisOf(prepared));
      return prepared.outcome;
    }
    const isUnchanged = prepared.outcome === 'unchanged';
    const outcome = isUnchanged ? prepared.outcome : await this.certify(tx, prepared, when);
    if (outcome !== 'outdated' && outcome !== 'waiting')
      await this.breaks.resolve(tx, accountId, 'broken_balance_chain', [subjectOfDay(date)]);
    return outcome;
  }

  private async certify(
    tx: Tx,
    prepared: CompleteDay,
    when: { madeAt: Date; closedUntil: Date | null },
  ): Promise<CertificationOutcome> {
    const { accountId, date, current, added, content, figures, trees } = prepared;
    const { day, earlier, changes, roots } = trees;
    if (await day.isOutdated(tx)) return 'outdated';
    if (await earlier?.isOutdated(tx)) return 'outdated';
    if (day.pending > 0) return 'waiting';
    const signer = await this.keys.current(tx);
    const last = await queries.findLastCertificate(tx, accountId);
    const sequence = (last?.sequence ?? 0) + 1;
    const log = await readLogExtent(tx, accountId);
    const subjects = added.map((line) => subjectOfLate(statementDayOf(line.occurredAt), line.nsu));
    await this.breaks.resolve(tx, accountId, 'late_line', subjects);
    const certificate: Certificate = {
      format: 'concilia-day-close/2',
      ...{ accountId, date, sequence },
      revision: (current?.revision ?? 0) + 1,
      reason: current ? 'late_line' : null,
      ...content,
      ...certificates.describeOutcomes(day.totals()),
      added: added.map(({ nsu }) => nsu.toString()),
      decisions: { count: Number(log.count), root: log.tree.root().toString('hex') },
      linesRoot: day.root(),
      statementRoot: roots.day,
      earlier: earlier && {
        ...{ lines: earlier.lines, linesRoot: earlier.root(), statementRoot: roots.earlier },
      },
      outcomeChanges: changes,
      lastArrival: prepared.lastArrival.toString(),
      outcomeSequence: day.outcomeSequence.toString(),
      previousHash: last?.hash ?? certificates.zeroHash,
      key: signer.key,
      closedUntil: when.closedUntil?.toISOString() ?? null,
      madeAt: when.madeAt.toISOString(),
    };
    await this.insertCertificate(tx, certificate, figures, signer);
    return current ? 'amended' : 'certified';
  }

  /** The changes of certified outcomes after the last certificate, up to a sequence. */
  private async readChanges(accountId: number, untilSequence: bigint) {
    const { prisma } = this.database;
    const last = await queries.findLastCertificate(prisma, accountId);
    const range = last && {
      ...{ accountId, certificate: last.sequence + 1 },
      ...{ afterSequence: last.outcomeSequence, untilSequence },
    };
    return readOutcomeChanges(prisma, range);
  }

  private async insertCertificate(
    tx: Tx,
    certificate: Certificate,
    figures: Figures,
    signer: Signer,
  ): Promise<void> {
    const { accountId, date, revision, sequence, lines, linesRoot, previousHash } = certificate;
    const text = certificates.writeCertificate(certificate);
    const hash = certificates.hashCertificate(text);
    await tx.dayClose.create({
      data: {
        ...{ accountId, sequence, date, revision, ...figures },
        ...{ lineCount: lines, certificate: text, linesRoot, previousHash, hash },
        signature: signer.sign(text),
        lastArrival: BigInt(certificate.lastArrival),
        outcomeSequence: BigInt(certificate.outcomeSequence),
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
    { accountId, date, figures, difference, isAccepted }: DifferingDay,
  ): Promise<void> {
    const { cents, jumps } = difference;
    const subject = subjectOfDay(date);
    const evidence = {
      date,
      ...certificates.nameFigures(figures, formatReaisWithTwoDecimals),
      balanceAtTheBank: formatReaisWithTwoDecimals(figures.closingCents + cents),
      jumps: jumps.map((jump) => ({ nsu: `${jump.nsu}`, cents: `${jump.cents}` })),
    };
    const amountCents = cents < 0n ? -cents : cents;
    const found = { kind: 'broken_balance_chain', subject, amountCents, nsu: null, evidence };
    await this.breaks.open(tx, accountId, [{ ...found, isBeyondSettlement: isAccepted }]);
    await this.breaks.revise(tx, accountId, [found]);
  }
}

/** What a difference was found from, as one text to compare. */
function basisOf({
  date,
  lastArrival,
  accepted,
}: Pick<DayFacts, 'date' | 'lastArrival' | 'accepted'>): string {
  return `${date} ${lastArrival} ${accepted}`;
}

function isUnchanged({ certificate }: DayClose, content: DayContent): boolean {
  return certificates.hasContent(certificates.readCertificate(certificate), content);
}

/** What persons accepted about the account's balances, as one text to compare. */
async function readAccepted(db: Db, accountId: number): Promise<string> {
  const jumps = await listAcceptedJumps(db, accountId);
  return stringifyJson(jumps);
}

/** The lines that came after the current certificate; for the first day those before it too. */
function listAdded(
  db: Db,
  { accountId, from, until, lastArrival }: LineSpan & { from: Date },
  { current, isFirst }: { current: DayClose; isFirst: boolean },
): Promise<queries.LateLine[]> {
  return db.statementLine.findMany({
    where: {
      accountId,
      occurredAt: { lt: until, ...(isFirst ? {} : { gte: from }) },
      arrival: { gt: current.lastArrival, lte: lastArrival },
    },
    select: queries.lateLineFields,
    orderBy: { nsu: 'asc' },
  });
}

/** The lines before the first day. `before` is the cut at its beginning. */
async function readEarlierSpan(db: Db, span: LineSpan & { from: Date }, before: Cut) {
  const uncounted = before.straddlingLines.filter(({ occurredAt }) => occurredAt < span.from);
  const lastNsu = [before.nsu, ...uncounted.map(({ nsu }) => nsu)].reduce(maxNsu, null);
  const first = await db.statementLine.findFirst({
    where: { accountId: span.accountId },
    orderBy: { nsu: 'asc' },
  });
  const bounds = { firstNsu: first?.nsu ?? null, lastNsu };
  return { span: { ...span, from: null, until: span.from }, bounds };
}

function maxNsu(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
