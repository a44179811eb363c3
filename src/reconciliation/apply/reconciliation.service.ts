// Decides what each line of the statement means: loads the facts of what is due, decides, and
// applies the difference, in one transaction a batch.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { BankService } from '../../bank/bank.service.js';
import {
  Database,
  isTransactionTimeout,
  type SqlTx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import * as tasks from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import * as queries from './decision-writer.queries.js';
import {
  DecisionWriter,
  linesByRule,
  nothingChanged,
  type AppliedChanges,
  type Circumstances,
  type LineByRule,
  type UnlinkedBy,
} from './decision-writer.service.js';
import { DecidedSubjects, hasMatchRules, partsOf } from '../load/batch-parts.js';
import { BreakWriter } from './break-writer.service.js';
import { FeeBreaks, feeDelayMs } from './fee-breaks.service.js';
import { loadOptionsOf, type ComponentSeeds } from '../load/component.queries.js';
import { decide } from '../decide/decide.js';
import {
  loadAccount,
  loadComponents,
  type LoadedAccount,
  type LoadedFacts,
} from '../load/load.queries.js';
import { pageProvisionalLines, pageUndecidedLines } from '../load/rules.queries.js';

/** A transaction decides at most so many new lines, tasks and passed deadlines. */
export const batchSize = 5_000;
/** How many parts of a batch are read at once while another one is decided and written. */
const maxReaders = 2;

interface Batch extends AppliedChanges {
  /** More lines or tasks are due. */
  isMore: boolean;
  /** Other accounts with credits that these lines explain. */
  otherAccountIds: number[];
}

/** What is decided, part by part. */
interface Subjects {
  parts: readonly ComponentSeeds[];
  account: Promise<LoadedAccount>;
  /** They read the next parts; without any, each part is read when the one before it is written. */
  readers: readonly Reader[];
}

interface RangeOptions {
  kind: tasks.RangeTaskKind;
  limit: number;
  closed: ClosedPeriod;
}

@Injectable()
export class ReconciliationService {
  /** So many subjects are loaded at once. Tests use smaller parts. */
  partSize = 1_000;

  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly writer: DecisionWriter,
    private readonly breaks: BreakWriter,
    private readonly fees: FeeBreaks,
    private readonly events: EventsService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    @InjectQueue(jobs.advanceOperation.name)
    private readonly advanceOperationQueue: JobQueue<'advanceOperation'>,
    @InjectQueue(jobs.raiseAlerts.name) private readonly raiseAlertsQueue: JobQueue<'raiseAlerts'>,
  ) {}

  /** Decides everything that is due in the account. */
  async reconcile({ accountId }: JobPayload<'reconcile'>): Promise<void> {
    let limit = batchSize;
    let isMore = true;
    while (isMore) {
      const batch = await this.database
        .sqlTransaction((tx) => this.decideBatch(tx, accountId, limit))
        .catch((error: unknown) => {
          if (!isTransactionTimeout(error) || limit === 1) throw error;
          return null;
        });
      // What is connected with a batch may be more than one transaction can decide.
      if (batch === null) {
        limit = Math.floor(limit / 2);
        continue;
      }
      if (batch.isChanged) await this.announce(accountId, batch.operationIds);
      if (batch.hasNotedDebits) await this.raiseAlertsQueue.enqueue({ accountId });
      for (const other of batch.otherAccountIds)
        await this.reconcileQueue.enqueue({ accountId: other });
      ({ isMore } = batch);
    }
  }

  /**
   * Decides these subjects in the transaction of a person's decision about them. Returns the
   * operations to advance after the commit.
   */
  async decideNow(
    tx: SqlTx,
    accountId: number,
    seeds: ComponentSeeds,
    unlinkedBy: UnlinkedBy | null = null,
  ): Promise<string[]> {
    await queries.lockReconciliation(tx, accountId);
    const closed = await queries.readClosedStatement(tx, accountId);
    const circumstances = { closed, unlinkedBy };
    const parts = partsOf(seeds, this.partSize);
    const subjects = { parts, account: loadAccount(tx, accountId), readers: [] };
    const { operationIds } = await this.applyInParts(tx, accountId, subjects, circumstances);
    return operationIds;
  }

  /** Enqueues accounts with something to decide; their jobs may have been lost with the queue. */
  @Every('reconciliation', 2)
  async enqueueDue(): Promise<void> {
    for (const due of await tasks.listAccountsWithDueSubjects(this.database.prisma))
      await this.reconcileQueue.enqueue(due);
  }

  /** Enqueues the jobs that follow a person's action; call it after the commit. */
  async enqueueAfterAction(accountId: number, operationIds: string[]): Promise<void> {
    await this.reconcileQueue.enqueue({ accountId });
    await this.announce(accountId, operationIds);
  }

  /** Enqueues deliveries and operations; call it after the commit. */
  private async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
    for (const operationId of operationIds)
      await this.advanceOperationQueue.enqueue({ accountId, operationId });
  }

  private async decideBatch(tx: SqlTx, accountId: number, limit: number): Promise<Batch> {
    const [claimed, { closed, ...before }, fresh, passed] = await queries.readLocked(
      tx,
      accountId,
      () =>
        Promise.all([
          // Claimed before the facts are loaded: a task that is recorded later stays.
          tasks.claimTasks(tx, accountId, limit),
          queries.readDecidedUntil(tx, accountId),
          queries.listNewLines(tx, accountId, limit),
          queries.listPassedDeadlines(tx, accountId, limit),
        ]),
    );
    const isLastOfNew = fresh.length < limit;
    // An undecided line may be the payment: no deadline passes before every line is decided.
    const asOf = isLastOfNew ? before.syncedAsOf : before.asOf;
    const overdue = passed.filter(({ deadline }) => asOf !== null && deadline <= asOf);
    // Ranges come last: if fewer others were claimed, no subject is due any more.
    const isLastOfDue = isLastOfNew && claimed.filter(({ kind }) => !isRange(kind)).length < limit;
    // History is decided again only after new lines.
    const done = claimed.filter(({ kind }) => isLastOfNew || !isRange(kind));
    const early = before.isSetBack ? await queries.listFoundLate(tx, accountId) : [];
    if (fresh.length + done.length + overdue.length === 0 && !before.isSetBack)
      return { ...nothingChanged, isMore: false, otherAccountIds: [] };
    const arrival = fresh.at(-1)?.arrival ?? before.decidedArrival;
    const pages = await Promise.all([
      this.pageOfRange(tx, accountId, done, { kind: 'rules', limit, closed }),
      this.pageOfRange(tx, accountId, done, { kind: 'period', limit, closed }),
    ]);
    const nsusOfTasks = done.flatMap(({ kind, nsu }) => (kind === 'line' ? (nsu ?? []) : []));
    const seeds = {
      nsus: [...fresh.map(({ nsu }) => nsu), ...nsusOfTasks, ...pages.flat()],
      expectedPaymentIds: [
        ...done.flatMap(({ expectedPaymentId }) => expectedPaymentId ?? []),
        ...overdue.map(({ id }) => id),
        ...early,
      ],
      operationIds: done.flatMap(({ operationId }) => operationId ?? []),
    };
    const [, applied, otherAccountIds] = await Promise.all([
      queries.recordDecided(tx, accountId, { arrival, asOf }),
      this.decideParts(tx, accountId, seeds, { closed, isLastOfDue }),
      this.recordTasksElsewhere(tx, accountId, fresh),
      tasks.deleteTasks(
        tx,
        accountId,
        done.map(({ id }) => id),
      ),
    ]);
    const hasBreakChanged = await this.refreshBreaks(tx, accountId, done, asOf);
    const isFull = [fresh, claimed, overdue, ...pages].some(({ length }) => length === limit);
    const isChanged = applied.isChanged || hasBreakChanged;
    return { ...applied, isChanged, otherAccountIds, isMore: isFull };
  }

  /** The breaks that no component decides: those of the statement itself, and those of fees. */
  private async refreshBreaks(
    tx: SqlTx,
    accountId: number,
    done: readonly tasks.DueSubjectTask[],
    asOf: Date | null,
  ): Promise<boolean> {
    const ofStatement =
      done.some(({ kind }) => kind === 'statement') &&
      (await this.breaks.refreshStatementBreaks(tx, accountId));
    const nsus = done.flatMap(({ kind, nsu }) => (kind === 'fees' ? (nsu ?? []) : []));
    const ofFees = nsus.length > 0 && (await this.fees.refresh(tx, accountId, nsus, asOf));
    return ofStatement || ofFees;
  }

  /** The other accounts with credits that these lines sent, which are decided again there. */
  private async recordTasksElsewhere(
    tx: SqlTx,
    accountId: number,
    fresh: readonly { nsu: bigint; isCredit: boolean }[],
  ): Promise<number[]> {
    const debits = fresh.filter(({ isCredit }) => !isCredit).map(({ nsu }) => nsu);
    const sent = await queries.listCreditsElsewhere(tx, accountId, debits);
    const otherAccountIds = [...new Set(sent.map((credit) => credit.accountId))];
    for (const other of otherAccountIds)
      await tasks.recordLineTasks(
        tx,
        other,
        sent.filter((credit) => credit.accountId === other).map(({ nsu }) => nsu),
      );
    return otherAccountIds;
  }

  /** The next page of the lines of these range tasks; records a task for the page after it. */
  private async pageOfRange(
    tx: SqlTx,
    accountId: number,
    claimed: readonly tasks.DueSubjectTask[],
    { kind, limit, closed }: RangeOptions,
  ): Promise<bigint[]> {
    const ranges = claimed.flatMap((task) => (task.kind === kind ? (task.nsu ?? []) : []));
    if (ranges.length === 0) return [];
    // The lowest covers the others.
    const after = ranges.reduce((least, nsu) => (nsu < least ? nsu : least));
    const page = await (kind === 'rules'
      ? pageUndecidedLines(tx, accountId, { after, limit })
      : pageProvisionalLines(tx, accountId, closed, { after, limit }));
    const last = page.at(-1);
    if (last !== undefined && page.length === limit)
      await tasks.recordRangeTask(tx, accountId, kind, { afterNsu: last });
    return page;
  }

  /** Decides the subjects of a batch. The transaction has not written any of their facts yet. */
  private async decideParts(
    tx: SqlTx,
    accountId: number,
    seeds: ComponentSeeds,
    circumstances: Omit<Circumstances, 'freshMs'>,
  ): Promise<AppliedChanges> {
    const parts = partsOf(seeds, this.partSize);
    const account = loadAccount(tx, accountId);
    // Match rules connect parts by what is written of them.
    if (parts.length === 1 || hasMatchRules(await account))
      return this.applyInParts(tx, accountId, { parts, account, readers: [] }, circumstances);
    const count = Math.min(parts.length - 1, maxReaders);
    return this.database.withReaders(count, async (found) => {
      await Promise.all(found.map(queries.disableCaches));
      const readers = found.length > 0 ? found : [tx];
      return this.applyInParts(tx, accountId, { parts, account, readers }, circumstances);
    });
  }

  /**
   * Decides the subjects part by part, as a pipeline: while a part is written, the next one is
   * decided, and the readers load those after it. Readers see what is committed; what parts have
   * in common is loaded again by the transaction, which sees its own writes.
   */
  private async applyInParts(
    tx: SqlTx,
    accountId: number,
    { parts, account, readers }: Subjects,
    circumstances: Omit<Circumstances, 'freshMs'>,
  ): Promise<AppliedChanges> {
    const decided = new DecidedSubjects();
    const byRule: LineByRule[] = [];
    const changes: AppliedChanges[] = [];
    const options = loadOptionsOf(this.bank.profile);
    const all = { ...circumstances, freshMs: options.freshMs };
    // What fails first is the cause: after it, all statements of the transaction fail.
    let cause: unknown;
    const start = <Result>(work: Promise<Result>): Promise<Result> => {
      work.catch((error: unknown) => (cause ??= error));
      return work;
    };
    const load = (db: Reader, part: ComponentSeeds) =>
      loadComponents(db, accountId, options, part, account);
    let applying: Promise<unknown> = Promise.resolve();
    let applyingBefore = applying;
    const ahead = new Map<number, Promise<LoadedFacts>>();
    const readAhead = (index: number) => {
      const [part, reader] = [parts[index], readers[(index - 1) % readers.length]];
      if (part && reader) ahead.set(index, start(load(reader, part)));
    };
    try {
      for (let index = 1; index <= readers.length; index += 1) readAhead(index);
      for (const [index, part] of parts.entries()) {
        const loadNow = async () => {
          await applying;
          return load(tx, part);
        };
        const early = ahead.get(index);
        ahead.delete(index);
        let loaded = await (early ?? loadNow());
        // It was loaded too early: what was written of the common subjects is missing.
        if (early && decided.hasSome(loaded)) loaded = await loadNow();
        decided.add(loaded);
        // The reader of this part is free now.
        if (index > 0) readAhead(index + readers.length);
        const decision = decide(loaded);
        // The next one is computed while this one is written, and none earlier.
        await applyingBefore;
        applyingBefore = applying;
        byRule.push(...linesByRule(decision.component, circumstances.closed));
        const stored = { lines: loaded.lines, breaks: loaded.storedBreaks };
        const next = { decision, stored, previous: applying };
        const write = this.writer.apply(tx, accountId, next, all);
        applying = start(write.then((one) => changes.push(one)));
      }
      await applying;
      changes.push(await this.writer.makeFinal(tx, accountId, byRule, all));
    } catch (error) {
      throw cause ?? error;
    }
    const lines = changes.flatMap((one) => one.lines);
    if ((await account).hasPriceList) {
      const [first] = lines.toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime());
      if (first) await tasks.recordFeeTask(tx, accountId, first.nsu, feeDelayMs);
    }
    return {
      operationIds: [...new Set(changes.flatMap(({ operationIds }) => operationIds))],
      isChanged: changes.some(({ isChanged }) => isChanged),
      hasNotedDebits: changes.some(({ hasNotedDebits }) => hasNotedDebits),
      lines,
    };
  }
}

const isRange = (kind: tasks.DueSubjectTask['kind']) =>
  kind === 'rules' || kind === 'period' || kind === 'fees';
