// Decides what each line of the statement means: in batches, it loads candidates, runs the matcher,
// and writes the outcomes in the same transaction.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { visibilityBoundOrDefaultMs } from '../bank/profiles.js';
import { Database, type Tx } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import * as breaks from './breaks.queries.js';
import * as candidates from './candidates.queries.js';
import {
  DeclaredRules,
  reviewOverlapMs,
  type ReviewCursor,
} from './rules/declared-rules.service.js';
import { deleteDeclaredOutcomes } from './rules/rule-candidates.queries.js';
import { listAccountsToReview } from './rules/rules.queries.js';
import { isUnreferencedDebit, decide, type LineCandidates } from './match.js';
import { isUnexplained, decidedPaymentsOf, classifyOwnTransfers } from './own-transfers.js';
import * as ownTransfers from './own-transfers.queries.js';
import { loadOriginalCredits } from './original-credits.queries.js';
import { AccountBreaks } from './account-breaks.service.js';
import { OutcomeWriter, type WriteResult } from './outcome-writer.service.js';
import * as queries from './outcomes.queries.js';

const batchSize = 1_000;
/** How often a pending line is decided again. */
const pendingPauseMs = 2_000;

interface DecidedBatch extends WriteResult {
  lines: queries.ArrivedLine[];
}

@Injectable()
export class ReconciliationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly writer: OutcomeWriter,
    private readonly accountBreaks: AccountBreaks,
    private readonly rules: DeclaredRules,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Decides every undecided and every pending line of the account. */
  @OnJob('reconcile')
  async reconcile({ accountId }: JobPayload<'reconcile'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    for (;;) {
      const { lines, operationIds, hasUnlinked, pendingAccountIds } =
        await this.database.transaction((tx) => this.decideBatch(tx, account));
      if (lines.length > 0) await this.writer.announce(accountId, operationIds);
      const others = pendingAccountIds.filter((one) => one !== accountId);
      await this.enqueueEach(others);
      const isFull = lines.filter(({ source }) => source === 'new').length === batchSize;
      const isOwnPending = others.length < pendingAccountIds.length;
      if (!isFull && !hasUnlinked && !isOwnPending) break;
    }
    await this.review(accountId);
    if (await this.accountBreaks.refresh(accountId)) await this.writer.announce(accountId, []);
  }

  /**
   * Enqueues accounts with undecided or pending lines; their jobs may have been lost with the
   * queue.
   */
  async enqueueUndecided(): Promise<void> {
    const due = await breaks.listUndecidedAccounts(this.database.prisma, pendingPauseMs);
    await this.enqueueEach(due.map(({ accountId }) => accountId));
  }

  /** Enqueues accounts whose rules, or the expected payments that rules match, have changed. */
  async enqueueUnreviewed(): Promise<void> {
    const due = await listAccountsToReview(this.database.prisma, reviewOverlapMs);
    await this.enqueueEach(due.map(({ accountId }) => accountId));
  }

  private async enqueueEach(accountIds: number[]): Promise<void> {
    for (const accountId of accountIds) await this.jobQueue.enqueue('reconcile', { accountId });
  }

  private async decideBatch(
    tx: Tx,
    { id: accountId, goLiveAt }: BankAccount,
  ): Promise<DecidedBatch> {
    const afterArrival = await queries.lockReconciliation(tx, accountId);
    const released = await this.releaseOwnTransfers(tx, accountId);
    const lines = await queries.listLinesToDecide(tx, accountId, {
      afterArrival,
      limit: batchSize,
      freshMs: visibilityBoundOrDefaultMs(this.bank.profile),
    });
    await queries.recordRecheckedBreaks(tx, accountId);
    if (lines.length === 0)
      return { lines, operationIds: [], hasUnlinked: false, pendingAccountIds: [] };
    const loaded = await this.loadCandidates(tx, accountId, lines);
    const decided = decide(lines, loaded, goLiveAt);
    const unexplained = decided.filter(isUnexplained).map(({ nsu }) => nsu);
    const own = await ownTransfers.listOwnTransfers(
      tx,
      accountId,
      unexplained,
      decidedPaymentsOf(decided),
    );
    const outcomes = classifyOwnTransfers(decided, own);
    const applied = await this.rules.apply(tx, accountId, { lines, outcomes, released });
    const written = await this.writer.write(tx, accountId, applied, nsusOf(lines));
    // Only new lines are decided in the order of arrival; the others may have arrived after them.
    const last = lines.findLast(({ source }) => source === 'new');
    if (last) await queries.recordDecidedArrival(tx, accountId, last.arrival);
    return { lines, ...written };
  }

  /**
   * Unlinks rule matches of credits that turn out to be own-account transfers: their debits have
   * arrived since. Returns the expected payments that those rules had matched.
   */
  private async releaseOwnTransfers(tx: Tx, accountId: number): Promise<string[]> {
    const explained = await ownTransfers.listExplainedPendingLines(tx, accountId);
    const released = explained.filter(({ isProvisionalOwnTransfer }) => isProvisionalOwnTransfer);
    const others = explained.filter(({ isProvisionalOwnTransfer }) => !isProvisionalOwnTransfer);
    await ownTransfers.deleteExplainedPendingLines(tx, accountId, others);
    return deleteDeclaredOutcomes(tx, accountId, nsusOf(released));
  }

  /** Applies the rules again to the lines that changed rules or expected payments concern. */
  private async review(accountId: number): Promise<void> {
    let cursor: ReviewCursor | null = { after: 0n, decided: new Set(), state: null };
    while (cursor !== null) {
      const from: ReviewCursor = cursor;
      const reviewed = await this.database.transaction(async (tx) => {
        await queries.lockReconciliation(tx, accountId);
        const page = await this.rules.review(tx, accountId, from);
        if (!page) return null;
        const { lines, released } = page.applied;
        const written = await this.writer.write(tx, accountId, page.applied, []);
        return { next: page.next, ...written, isChanged: lines.length + released.length > 0 };
      });
      if (reviewed?.isChanged) await this.writer.announce(accountId, reviewed.operationIds);
      await this.enqueueEach(reviewed?.pendingAccountIds ?? []);
      cursor = reviewed?.next ?? null;
    }
  }

  private async loadCandidates(
    tx: Tx,
    accountId: number,
    lines: queries.ArrivedLine[],
  ): Promise<LineCandidates> {
    const referenced = byNsu(
      await candidates.loadReferencedCandidates(tx, accountId, nsusOf(lines)),
    );
    const unreferenced = lines.filter((line) =>
      isUnreferencedDebit(line, referenced.get(line.nsu) ?? []),
    );
    const refunding = lines.filter((line) => !line.isCredit && line.originalEndToEndId !== null);
    const originalCredits = byNsu(await loadOriginalCredits(tx, accountId, nsusOf(refunding)));
    const unlinkedRows = byNsu(await candidates.listUnlinkedManually(tx, accountId, nsusOf(lines)));
    const unlinked = new Map(
      [...unlinkedRows].map(([nsu, rows]) => [nsu, new Set(rows.map(toExpected))]),
    );
    if (unreferenced.length === 0)
      return { referenced, openDebits: new Map(), originalCredits, unlinked };
    const bound = this.bank.profile.visibilityBoundMs;
    const open = await candidates.loadOpenDebits(tx, accountId, nsusOf(unreferenced), bound);
    return { referenced, openDebits: byNsu(open), originalCredits, unlinked };
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
