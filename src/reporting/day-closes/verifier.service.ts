// Recomputes the chain of certificates from the database alone. It checks each line against the
// bank's text, its stored outcome against its leaf, each certificate against the previous
// certificate, and each day against its lines. It reads one snapshot, also beside the service.
import { addDays } from '../../brazil/calendar.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import type { Database, Db } from '../../platform/postgres/database.service.js';
import { listAcceptedJumps } from '../../statement/lines/balance-chain.queries.js';
import {
  cutOfCertificate,
  parseCents,
  readCertificate,
  zeroHash,
  type Certificate,
} from './certificate.js';
import {
  compareValues,
  differenceOfDay,
  differenceOfLink,
  differenceOfSignature,
} from './chain-check.js';
import {
  listOutcomeLines,
  listStoredDecisions,
} from '../../reconciliation/load/line-leaves.queries.js';
import { balanceOfDays, sumSignedCents, type Cut } from './cut.js';
import * as closes from './day-closes.queries.js';
import {
  listCutLines,
  readFollowing,
  readSpanFigures,
  type LineSpan,
} from './day-lines.queries.js';
import { differenceOfDecisions } from './decision-check.queries.js';
import { DayTree } from './day-tree.queries.js';
import { readOpeningCut } from './opening-cut.queries.js';
import { readOutcomeChanges } from './outcome-changes.queries.js';
import { spanOf } from './closed-day.js';
import { StatementCheck, type Chain } from './statement-check.js';
import { readStatedRoot } from './statement-tree.queries.js';
import {
  differenceOfLine,
  type Difference,
  type StoredLine,
  type ProvenOutcome,
} from './stored-line.js';
import * as queries from './verification.queries.js';

const batchSize = 2_000;
const timeoutMs = 6 * 3_600_000;

export interface VerifiedCounts {
  lines: number;
  certified: number;
  /** Certified lines whose personal data was erased. */
  erased: number;
  /** Late lines of certified days, or of the time before them, that wait for an amendment. */
  waiting: number;
  days: number;
  certificates: number;
}

export interface VerifiedAccount {
  account: string;
  counts: VerifiedCounts;
  /** The first difference; null if everything agrees with the certificates. */
  difference: Difference | null;
}

interface AccountToVerify {
  db: Db;
  accountId: number;
  slug: string;
  chain: Chain;
  counts: VerifiedCounts;
}

/** Thrown at the first difference, and caught where the account is verified. */
class DifferenceFound extends Error {
  constructor(readonly difference: Difference) {
    super('difference found');
  }
}

function expectNone(difference: Difference | null): void {
  if (difference) throw new DifferenceFound(difference);
}

export class Verifier {
  constructor(
    private readonly database: Database,
    private readonly reportProgress: (message: string) => void,
  ) {}

  /** Verifies one account or all of them in one snapshot, each independently of the others. */
  async verify(onlySlug?: string): Promise<VerifiedAccount[]> {
    return this.database.prisma.$transaction(
      async (db) => {
        const accounts = await db.bankAccount.findMany({
          ...(onlySlug === undefined ? {} : { where: { slug: onlySlug } }),
          orderBy: { id: 'asc' },
        });
        const verified: VerifiedAccount[] = [];
        for (const { id, slug } of accounts) verified.push(await this.verifyAccount(db, id, slug));
        return verified;
      },
      { isolationLevel: 'RepeatableRead', maxWait: 10_000, timeout: timeoutMs },
    );
  }

  private async verifyAccount(db: Db, accountId: number, slug: string): Promise<VerifiedAccount> {
    const counts = { lines: 0, certified: 0, erased: 0, waiting: 0, days: 0, certificates: 0 };
    try {
      const chain = await this.verifyLinks(db, accountId, counts);
      const account = { db, accountId, slug, chain, counts };
      await this.verifyDays(account, await this.verifyLines(account));
      const inOrder = [...chain.days.values()].flat().sort((a, b) => a.sequence - b.sequence);
      expectNone(await differenceOfDecisions(db, accountId, inOrder));
      return { account: slug, counts, difference: null };
    } catch (error) {
      if (!(error instanceof DifferenceFound)) throw error;
      return { account: slug, counts, difference: error.difference };
    }
  }

  /** Verifies the chain alone: each text has its hash, and contains the previous hash. */
  private async verifyLinks(db: Db, accountId: number, counts: VerifiedCounts): Promise<Chain> {
    const state = await db.dayCloseState.findUnique({ where: { accountId } });
    const days = new Map<string, Certificate[]>();
    let before = { sequence: 0, hash: zeroHash, outcomeSequence: 0n };
    let key: Certificate['key'];
    for (;;) {
      const links = await db.dayClose.findMany({
        where: { accountId, sequence: { gt: before.sequence } },
        orderBy: { sequence: 'asc' },
        take: batchSize,
      });
      for (const link of links) {
        expectNone(differenceOfLink(link, before));
        const revisions = days.get(link.date) ?? [];
        expectNone(compareValues(link.date, 'revision', revisions.length + 1, link.revision));
        const certificate = readCertificate(link.certificate);
        expectNone(differenceOfSignature(certificate, link, key));
        key = certificate.key ?? key;
        expectNone(await differenceOfChanges(db, certificate, before));
        // The changes may be many, and nothing else reads them.
        const outcomeChanges = { ...certificate.outcomeChanges, first: [] };
        days.set(link.date, [...revisions, { ...certificate, outcomeChanges }]);
        before = link;
        counts.certificates += 1;
      }
      if (links.length < batchSize) break;
    }
    expectNone(differenceOfDates(days, state));
    const lost = await queries.findLostCertificate(db, accountId);
    if (lost)
      expectNone(compareValues(lost.date, `certificate ${lost.sequence}`, lost.hash, 'none'));
    return { state, days };
  }

  /**
   * Verifies the synced lines: each agrees with the bank's text, its stored outcome with its leaf,
   * and the balance chain links.
   */
  private async verifyLines(account: AccountToVerify): Promise<StatementCheck> {
    const { db, accountId, slug, chain, counts } = account;
    const statement = await db.statementState.findUnique({ where: { accountId } });
    const decided = await db.reconciliationState.findUnique({ where: { accountId } });
    const decidedArrival = decided?.decidedArrival ?? 0n;
    const accepted = await listAcceptedNsus(db, accountId, chain);
    const check = new StatementCheck(chain, statement, accepted);
    for (let afterNsu: bigint | null = null, isMore = true; isMore;) {
      const lines: StoredLine[] = await queries.listStoredLines(db, accountId, afterNsu, batchSize);
      isMore = lines.length === batchSize;
      const nsus = lines.map(({ nsu }) => nsu);
      const outcomes = await listProvenOutcomes(db, accountId, nsus);
      for (const line of lines) {
        const outcome = outcomes.get(line.nsu) ?? null;
        expectNone(differenceOfLine(accountId, line, outcome));
        if (!outcome && line.arrival <= decidedArrival) expectNone(lostOutcomeOf(line));
      }
      expectNone(check.addLines(lines, isMore));
      afterNsu = lines.at(-1)?.nsu ?? afterNsu;
      counts.lines += lines.length;
      counts.certified += lines.filter((line) => check.isCertified(line)).length;
      counts.erased += lines.filter(({ erasedCommitment }) => erasedCommitment !== null).length;
      if (lines.length > 0)
        this.reportProgress(`${slug}: ${counts.lines} statement lines verified`);
    }
    counts.waiting = check.waiting.length;
    const lost = await queries.findLostLine(db, accountId);
    if (lost !== null)
      expectNone({ date: null, nsu: lost, field: 'line', expected: 'a line', found: 'none' });
    expectNone(check.differenceOfStatement());
    return check;
  }

  /**
   * Verifies each day: its stored lines and their outcomes are those of its certificates, and its
   * opening balance is the closing balance of the day before.
   */
  private async verifyDays(account: AccountToVerify, check: StatementCheck): Promise<void> {
    const { db, accountId, slug, chain, counts } = account;
    let before: Certificate | null = null;
    for (const [date, revisions] of [...chain.days].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const certificate of revisions) {
        const span = spanOf(certificate);
        const figures = await readSpanFigures(db, span);
        const tree = await DayTree.read(db, span, figures);
        const root = await readStatedRoot(db, certificate, span, figures);
        expectNone(differenceOfDay(certificate, figures, tree, root));
        if (!before) expectNone(await differenceOfEarlier(db, certificate, span));
      }
      const current = revisions.at(-1) as Certificate;
      if (check.isFinal(current)) {
        // While the amendment of a day is due, the day may open with a balance other than the
        // closing balance of the amended day before.
        const opening = before
          ? cutOfCertificate(before)
          : await readOpeningCut(
              db,
              accountId,
              statementDayStart(date),
              BigInt(current.lastArrival),
            );
        const openingCents = parseCents(current.opening);
        expectNone(compareValues(date, 'opening', balanceOfDays(opening), openingCents));
        expectNone(await differenceOfBalance(db, accountId, opening, current, check));
      }
      before = current;
      counts.days += 1;
      if (counts.days % 100 === 0) this.reportProgress(`${slug}: ${counts.days} days verified`);
    }
  }
}

/** The nsus of the lines at accepted jumps, in current certificates or accepted since. */
async function listAcceptedNsus(db: Db, accountId: number, { days }: Chain): Promise<Set<bigint>> {
  const current = [...days.values()].flatMap((revisions) => revisions.at(-1) ?? []);
  const certified = current.flatMap((certificate) =>
    cutOfCertificate(certificate).acceptedDifferences.map(({ nsu }) => nsu),
  );
  const accepted = await listAcceptedJumps(db, accountId);
  return new Set([...certified, ...accepted.map(({ nsu }) => nsu)]);
}

function lostOutcomeOf({ nsu, occurredAt }: StoredLine): Difference {
  const date = statementDayOf(occurredAt);
  return { date, nsu, field: 'outcome', expected: 'an outcome', found: 'none' };
}

/** Compares the lines before the first certified day with the certificate of that day. */
async function differenceOfEarlier(
  db: Db,
  { date, earlier }: Certificate,
  span: LineSpan & { from: Date },
): Promise<Difference | null> {
  const earlierSpan = { ...span, from: null, until: span.from };
  const figures = await readSpanFigures(db, earlierSpan);
  const tree = await DayTree.read(db, earlierSpan, figures);
  const root = await readStatedRoot(db, earlier ?? {}, earlierSpan, figures);
  return (
    compareValues(date, 'earlier lines', earlier?.lines ?? null, tree.lines) ??
    compareValues(date, 'earlier lines', earlier?.linesRoot ?? null, tree.root()) ??
    compareValues(date, 'earlier lines', earlier?.statementRoot ?? null, root)
  );
}

/** Compares the listed changes of outcomes with those after the certificate before. */
async function differenceOfChanges(
  db: Db,
  { accountId, date, sequence, outcomeSequence, outcomeChanges }: Certificate,
  before: { sequence: number; outcomeSequence: bigint },
): Promise<Difference | null> {
  const range = {
    ...{ accountId, certificate: sequence },
    ...{ afterSequence: before.outcomeSequence, untilSequence: BigInt(outcomeSequence) },
  };
  const found = await readOutcomeChanges(db, before.sequence === 0 ? null : range);
  const field = 'outcome changes';
  return compareValues(date, field, toCanonicalJson(outcomeChanges), toCanonicalJson(found));
}

/** What is stored of the outcomes of these lines; nothing for lines that are not decided. */
async function listProvenOutcomes(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Map<bigint, ProvenOutcome>> {
  const decisions = await listStoredDecisions(db, accountId, nsus);
  const decisionByNsu = new Map(decisions.map((decision) => [decision.nsu, decision]));
  const lines = await listOutcomeLines(db, accountId, nsus);
  return new Map(
    lines.flatMap(({ nsu, version, leafHash }) => {
      const outcome = decisionByNsu.get(nsu);
      if (!outcome || version === null || leafHash === null) return [];
      return [[nsu, { version, leafHash, label: outcome.label, outcome }] as const];
    }),
  );
}

/** Compares the certificate's balance and reconciling items with the synced lines. */
async function differenceOfBalance(
  db: Db,
  accountId: number,
  before: Cut,
  certificate: Certificate,
  check: StatementCheck,
): Promise<Difference | null> {
  const { nsu, balanceCents, straddlingLines, acceptedDifferences } = cutOfCertificate(certificate);
  if (nsu !== null) {
    const { cents } = await readFollowing(db, accountId, {
      ...{ afterNsu: before.nsu, untilNsu: nsu, lastArrival: BigInt(certificate.lastArrival) },
    });
    const jumpCents =
      sumSignedCents(acceptedDifferences) - sumSignedCents(before.acceptedDifferences);
    const found = before.balanceCents + cents + jumpCents;
    const difference = compareValues(certificate.date, 'balance', balanceCents, found);
    if (difference) return { ...difference, nsu };
  }
  const nsus = straddlingLines.map((line) => line.nsu);
  const amounts = await listCutLines(db, accountId, nsus);
  const centsByNsu = new Map(amounts.map((line) => [line.nsu, line.signedCents]));
  const found = [
    ...straddlingLines.map((item) => ({ item, cents: centsByNsu.get(item.nsu) ?? null })),
    ...acceptedDifferences
      .filter((item) => check.hasWalked(item.nsu))
      .map((item) => ({ item, cents: check.jumps.get(item.nsu) ?? null })),
  ];
  for (const { item, cents } of found) {
    const difference = compareValues(certificate.date, 'reconciling item', item.signedCents, cents);
    if (difference) return { ...difference, nsu: item.nsu };
  }
  return null;
}

/** Days must follow each other without a gap, up to the next day to close. */
function differenceOfDates(
  days: Map<string, Certificate[]>,
  state: closes.ClosingState | null,
): Difference | null {
  const dates = [...days.keys()].sort();
  const [first] = dates;
  if (first === undefined) return null;
  let next = first;
  for (const date of dates) {
    if (date !== next) return compareValues(next, 'certificate', 'one', 'none');
    next = addDays(next, 1);
  }
  return compareValues(next, 'next day to close', next, state?.nextDate ?? 'none');
}
