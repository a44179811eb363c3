// Decides what each line of the statement means: loads the facts of what is due, decides, and
// applies the difference, in one transaction a batch.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { Database, isTransactionTimeout, type SqlTx } from '../database.service.js';
import { EventsService } from '../events/events.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import type { JobPayload } from '../queues.js';
import * as tasks from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import type { Reader } from '../shared-reads.queries.js';
import type { ClosedPeriod } from '../statement/closing.js';
import * as queries from './apply.queries.js';
import {
  DecisionWriter,
  type AppliedChanges,
  type Circumstances,
  type UnlinkedBy,
} from './apply.service.js';
import { DecidedSubjects, hasMatchRules, partsOf } from './batch-parts.js';
import { Breaks } from './breaks.service.js';
import { loadOptionsOf, type ComponentSeeds } from './component.queries.js';
import type { Component } from './decide/component.js';
import { decide } from './decide/decide.js';
import { loadComponents, type LoadedFacts } from './load.queries.js';
import { pageProvisionalLines, pageUndecidedLines } from './rules.queries.js';

/** A transaction decides at most so many new lines, tasks and passed deadlines. */
export const batchSize = 5_000;

interface Batch extends AppliedChanges {
  /** More lines or tasks are due. */
  isMore: boolean;
  /** Other accounts with credits that these lines explain. */
  otherAccountIds: number[];
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
    private readonly breaks: Breaks,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Decides everything that is due in the account. */
  @OnJob('reconcile')
  async reconcile({ accountId }: JobPayload<'reconcile'>): Promise<void> {
    for (let [isMore, limit] = [true, batchSize]; isMore;) {
      const batch = await this.database
        .sqlTransaction((tx) => this.decideBatch(tx, accountId, limit))
        .catch((error: unknown) => {
          if (!isTransactionTimeout(error) || limit === 1) throw error;
          return null;
        });
      // What is connected with a batch may be more than one transaction can decide.
      if (batch === null) {
        limit >>= 1;
        continue;
      }
      if (batch.isChanged) await this.announce(accountId, batch.operationIds);
      for (const other of batch.otherAccountIds)
        await this.jobQueue.enqueue('reconcile', { accountId: other });
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
    const { operationIds } = await this.applyInParts(tx, accountId, parts, circumstances);
    return operationIds;
  }

  /** Enqueues accounts with something to decide; their jobs may have been lost with the queue. */
  @Every('reconciliation', 1_000)
  async enqueueDue(): Promise<void> {
    for (const due of await tasks.listAccountsWithDueSubjects(this.database.sharedReads))
      await this.jobQueue.enqueue('reconcile', due);
  }

  /** Enqueues the jobs that follow a person's action; call it after the commit. */
  async enqueueAfterAction(accountId: number, operationIds: string[]): Promise<void> {
    await this.jobQueue.enqueue('reconcile', { accountId });
    await this.announce(accountId, operationIds);
  }

  /** Enqueues deliveries and operations; call it after the commit. */
  private async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
    for (const operationId of operationIds)
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId });
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
      return { isMore: false, otherAccountIds: [], operationIds: [], isChanged: false };
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
      this.decideParts(tx, accountId, seeds, {
        ...{ closed, isLastOfDue },
        // The account may have got its default rule in this transaction.
        isFirst: !before.hasDecided,
      }),
      this.recordTasksElsewhere(tx, accountId, fresh),
      tasks.deleteTasks(
        tx,
        accountId,
        done.map(({ id }) => id),
      ),
    ]);
    const hasStatementChanged =
      done.some(({ kind }) => kind === 'statement') &&
      (await this.breaks.refreshStatementBreaks(tx, accountId));
    const isFull = [fresh, claimed, overdue, ...pages].some(({ length }) => length === limit);
    const isChanged = applied.isChanged || hasStatementChanged;
    return { ...applied, isChanged, otherAccountIds, isMore: isFull };
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

  /** Decides the subjects of a batch, of whose facts this transaction has written none so far. */
  private async decideParts(
    tx: SqlTx,
    accountId: number,
    seeds: ComponentSeeds,
    { isFirst, ...circumstances }: Omit<Circumstances, 'freshMs'> & { isFirst: boolean },
  ): Promise<AppliedChanges> {
    const parts = partsOf(seeds, this.partSize);
    if (isFirst || parts.length === 1)
      return this.applyInParts(tx, accountId, parts, circumstances);
    return this.database.withReader(tx, async (reader) => {
      await queries.disableCaches(reader);
      return this.applyInParts(tx, accountId, parts, circumstances, reader);
    });
  }

  /**
   * Decides the subjects part by part. A part is read while the one before it is decided and
   * written: the reader, where it is another connection, sees what is committed. What parts have in
   * common is read by the transaction, which sees its own writes.
   */
  private async applyInParts(
    tx: SqlTx,
    accountId: number,
    parts: readonly ComponentSeeds[],
    circumstances: Omit<Circumstances, 'freshMs'>,
    reader: Reader = tx,
  ): Promise<AppliedChanges> {
    const decided = new DecidedSubjects();
    const components: Component[] = [];
    const changes: AppliedChanges[] = [];
    const all = { ...circumstances, freshMs: loadOptionsOf(this.bank.profile).freshMs };
    // What fails first is the cause: after it, all statements of the transaction fail.
    let cause: unknown;
    const start = <Result>(work: Promise<Result>): Promise<Result> => {
      work.catch((error: unknown) => (cause ??= error));
      return work;
    };
    let applying: Promise<unknown> = Promise.resolve();
    let loading: Promise<LoadedFacts> | null = null;
    try {
      for (const [index, part] of parts.entries()) {
        const load = async () => (await applying, this.load(tx, accountId, part));
        let loaded: LoadedFacts = await (loading ?? load());
        // It was loaded too early: what was written of the common subjects is missing. With match
        // rules, so may be what they compare.
        const wasEarly = loading !== null && hasMatchRules(loaded);
        if (wasEarly || decided.hasSome(loaded)) loaded = await load();
        decided.add(loaded);
        const next = parts[index + 1];
        loading = next && !hasMatchRules(loaded) ? start(this.load(reader, accountId, next)) : null;
        const decision = decide(loaded);
        await applying;
        components.push(decision.component);
        const stored = { lines: loaded.lines, breaks: loaded.storedBreaks };
        const write = this.writer.apply(tx, accountId, { decision, stored }, all);
        applying = start(write.then((one) => changes.push(one)));
      }
      await applying;
      changes.push(await this.writer.makeFinal(tx, accountId, components, all));
    } catch (error) {
      throw cause ?? error;
    }
    return {
      operationIds: [...new Set(changes.flatMap(({ operationIds }) => operationIds))],
      isChanged: changes.some(({ isChanged }) => isChanged),
    };
  }

  private load(db: Reader, accountId: number, seeds: ComponentSeeds): Promise<LoadedFacts> {
    return loadComponents(db, accountId, loadOptionsOf(this.bank.profile), seeds);
  }
}

const isRange = (kind: tasks.DueSubjectTask['kind']) => kind === 'rules' || kind === 'period';
