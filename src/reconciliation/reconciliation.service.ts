// Says what each line of the statement means: gathers what it could be in batches, lets the judge decide, and has the
// verdicts written in the same transaction.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { referenceDelayBound } from '../bank/profiles.js';
import { Database, type Tx } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import * as breaks from './breaks.queries.js';
import * as candidates from './candidates.queries.js';
import { DeclaredRules, overlapMs, type Place } from './rules/declared-rules.service.js';
import { takeBackDeclared } from './rules/rule-candidates.queries.js';
import { listAccountsToReview } from './rules/rules.queries.js';
import { isUnnamedDebit, decide, type Records } from './match.js';
import { isUnexplained, paidBy, withOwnTransfers } from './own-transfers.js';
import * as ownTransfers from './own-transfers.queries.js';
import { gatherReceived } from './received.queries.js';
import { StandingBreaks } from './standing-breaks.service.js';
import { OutcomeWriter, type Written } from './outcome-writer.service.js';
import * as queries from './outcomes.queries.js';

const batchSize = 1_000;
/** How often a line that waits is judged again. */
const waitingPauseMs = 2_000;

interface DecidedBatch extends Written {
  lines: queries.ArrivedLine[];
}

@Injectable()
export class ReconciliationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly writer: OutcomeWriter,
    private readonly standing: StandingBreaks,
    private readonly rules: DeclaredRules,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Judges every line of the account that has not been judged, and those that wait. */
  @OnJob('reconcile')
  async reconcile({ accountId }: JobPayload<'reconcile'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    for (;;) {
      const { lines, operationIds, hasUnlinked, waiting } = await this.database.transaction((tx) =>
        this.decideBatch(tx, account),
      );
      if (lines.length > 0) await this.writer.announce(accountId, operationIds);
      const others = waiting.filter((one) => one !== accountId);
      await this.enqueueEach(others);
      const isFull = lines.filter(({ cameAs }) => cameAs === 'new').length === batchSize;
      const isExplained = others.length < waiting.length;
      if (!isFull && !hasUnlinked && !isExplained) break;
    }
    await this.review(accountId);
    if (await this.standing.tell(accountId)) await this.writer.announce(accountId, []);
  }

  /** Wakes the judgement of accounts whose wake-up was lost with the queue, or where something has waited. */
  async enqueueUndecided(): Promise<void> {
    const due = await breaks.listUndecidedAccounts(this.database.prisma, waitingPauseMs);
    await this.enqueueEach(due.map(({ accountId }) => accountId));
  }

  /** Wakes the judgement of accounts whose rules, or what they are held against, have changed. */
  async enqueueUnreviewed(): Promise<void> {
    const due = await listAccountsToReview(this.database.prisma, overlapMs);
    await this.enqueueEach(due.map(({ accountId }) => accountId));
  }

  private async enqueueEach(accountIds: number[]): Promise<void> {
    for (const accountId of accountIds) await this.jobQueue.enqueue('reconcile', { accountId });
  }

  private async decideBatch(tx: Tx, { id: accountId, goLiveAt }: BankAccount): Promise<DecidedBatch> {
    const afterArrival = await queries.lockReconciliation(tx, accountId);
    const released = await this.releaseOwnTransfers(tx, accountId);
    const lines = await queries.listLinesToDecide(tx, accountId, {
      afterArrival,
      limit: batchSize,
      freshMs: referenceDelayBound(this.bank.profile),
    });
    await queries.recordLooked(tx, accountId);
    if (lines.length === 0) return { lines, operationIds: [], hasUnlinked: false, waiting: [] };
    const records = await this.gather(tx, accountId, lines);
    const decided = decide(lines, records, goLiveAt);
    const unexplained = decided.filter(isUnexplained).map(({ nsu }) => nsu);
    const own = await ownTransfers.listOwnTransfers(tx, accountId, unexplained, paidBy(decided));
    const outcomes = withOwnTransfers(decided, own);
    const ruled = await this.rules.apply(tx, accountId, { lines, outcomes, released });
    const written = await this.writer.write(tx, accountId, ruled, nsusOf(lines));
    // Those that came before it are judged; what was only asked for may have come after any of them.
    const last = lines.findLast(({ cameAs }) => cameAs === 'new');
    if (last) await queries.recordDecided(tx, accountId, last.arrival);
    return { lines, ...written };
  }

  /** What a rule took for something else while its other leg was not there waits to be judged; what it was taken to pay. */
  private async releaseOwnTransfers(tx: Tx, accountId: number): Promise<string[]> {
    const explained = await ownTransfers.listExplainedWaiting(tx, accountId);
    const taken = explained.filter(({ isTaken }) => isTaken);
    const kept = explained.filter(({ isTaken }) => !isTaken);
    await ownTransfers.deleteExplained(tx, accountId, kept);
    return takeBackDeclared(tx, accountId, nsusOf(taken));
  }

  /** Holds what rules decide against them again, where they or what is expected have changed. */
  private async review(accountId: number): Promise<void> {
    let place: Place | null = { after: 0n, decided: new Set(), begun: null };
    while (place !== null) {
      const from: Place = place;
      const reviewed = await this.database.transaction(async (tx) => {
        await queries.lockReconciliation(tx, accountId);
        const page = await this.rules.review(tx, accountId, from);
        if (!page) return null;
        const { lines, released } = page.applied;
        const written = await this.writer.write(tx, accountId, page.applied, []);
        return { next: page.next, ...written, isChanged: lines.length + released.length > 0 };
      });
      if (reviewed?.isChanged) await this.writer.announce(accountId, reviewed.operationIds);
      await this.enqueueEach(reviewed?.waiting ?? []);
      place = reviewed?.next ?? null;
    }
  }

  private async gather(tx: Tx, accountId: number, lines: queries.ArrivedLine[]): Promise<Records> {
    const named = byNsu(await candidates.gatherNamed(tx, accountId, nsusOf(lines)));
    const unnamed = lines.filter((line) => isUnnamedDebit(line, named.get(line.nsu) ?? []));
    const givingBack = lines.filter((line) => !line.isCredit && line.originalEndToEndId !== null);
    const received = byNsu(await gatherReceived(tx, accountId, nsusOf(givingBack)));
    const undone = byNsu(await candidates.listUnlinkedManually(tx, accountId, nsusOf(lines)));
    const unlinked = new Map(
      [...undone].map(([nsu, rows]) => [nsu, new Set(rows.map(toExpected))]),
    );
    if (unnamed.length === 0) return { named, open: new Map(), received, unlinked };
    const bound = this.bank.profile.visibilityBoundMs;
    const open = await candidates.gatherOpenDebits(tx, accountId, nsusOf(unnamed), bound);
    return { named, open: byNsu(open), received, unlinked };
  }
}

const nsusOf = (lines: readonly { nsu: bigint }[]): bigint[] => lines.map(({ nsu }) => nsu);

const toExpected = ({ expectedPaymentId }: { expectedPaymentId: string }): string =>
  expectedPaymentId;

function byNsu<Row extends { nsu: bigint }>(rows: Row[]): Map<bigint, Row[]> {
  const grouped = new Map<bigint, Row[]>();
  for (const row of rows) {
    const known = grouped.get(row.nsu);
    if (known) known.push(row);
    else grouped.set(row.nsu, [row]);
  }
  return grouped;
}
