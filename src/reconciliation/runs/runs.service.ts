// A reconciliation run: a statement sync that begins after the run, the decision of every line,
// and the check of deadlines. A run is committed before it is enqueued and continues when its
// worker is killed. Its steps may repeat; it ends once.
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Database } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import type { ReconciliationRun } from '../../generated/service/client.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../../platform/postgres/leases/leases.service.js';
import { AppError } from '../../platform/errors.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { StatementSync } from '../../statement/lines/statement-sync.service.js';
import { ReconciliationService } from '../apply/reconciliation.service.js';
import * as queries from './runs.queries.js';
import { runView, type RunCounts } from './runs.schema.js';

const syncPauseMs = 250;
/** A long import is made in slices, so that an orderly shutdown does not wait for all of it. */
const syncSliceMs = 10_000;
/** A failed sync is repeated after these pauses; then the run fails. */
const retryPausesMs = [250, 1_000];
/** Longer than the first sync of any statement history. */
const syncDeadlineMs = 3_600_000;

@Injectable()
export class RunsService {
  constructor(
    private readonly database: Database,
    private readonly statementSync: StatementSync,
    private readonly reconciliation: ReconciliationService,
    private readonly events: EventsService,
    @InjectQueue(jobs.runReconciliation.name)
    private readonly runReconciliationQueue: JobQueue<'runReconciliation'>,
    @InjectQueue(jobs.closeDays.name) private readonly closeDaysQueue: JobQueue<'closeDays'>,
  ) {}

  /** Starts a run, or returns the one in progress. */
  async request(accountId: number, requestedBy: string): Promise<ReconciliationRun> {
    const runId = await this.database.transaction((tx) =>
      queries.beginRun(tx, accountId, 'request', requestedBy),
    );
    await this.runReconciliationQueue.enqueue({ accountId, runId });
    return this.get(accountId, runId);
  }

  async get(accountId: number, id: string): Promise<ReconciliationRun> {
    const where = { accountId_id: { accountId, id } };
    const run = await this.database.prisma.reconciliationRun.findUnique({ where });
    if (!run) throw new AppError('not_found');
    return run;
  }

  /**
   * Performs the run unless another process does or it has ended. Failures of the bank end the
   * run as failed; other errors are thrown.
   */
  async perform({ accountId, runId }: JobPayload<'runReconciliation'>): Promise<void> {
    await withLease(this.database, accountId, 'run_reconciliation', async (lease) => {
      const run = await this.get(accountId, runId);
      if (run.state === 'running') await this.end(lease, run, await this.reconcileAccount(run));
    });
  }

  /** Enqueues runs that have not ended: their worker or their job may be lost. */
  @Every('runs', 5)
  async enqueueRunning(): Promise<void> {
    for (const { accountId, id } of await queries.listRunning(this.database.prisma))
      await this.runReconciliationQueue.enqueue({ accountId, runId: id });
  }

  /** Returns null, or the error with which the run fails. */
  private async reconcileAccount({
    accountId,
    startedAt,
  }: ReconciliationRun): Promise<string | null> {
    try {
      await this.syncStatement(accountId, startedAt);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.code === 'bank_timeout'
        ? 'The statement sync did not complete within an hour.'
        : 'The bank did not respond to the statement sync.';
    }
    await this.reconciliation.reconcile({ accountId });
    return null;
  }

  /**
   * Returns when a sync that began at or after `since` has completed, whichever process ran it.
   */
  private async syncStatement(accountId: number, since: Date): Promise<void> {
    const deadline = performance.now() + syncDeadlineMs;
    let failures = 0;
    while (performance.now() < deadline) {
      if (await this.statementSync.isSyncedSince(accountId, since)) return;
      try {
        await this.statementSync.sync(accountId, { sliceMs: syncSliceMs });
      } catch (error) {
        const pauseMs = retryPausesMs[failures];
        if (!(error instanceof AppError) || pauseMs === undefined) throw error;
        failures += 1;
        await sleep(pauseMs);
        continue;
      }
      if (await this.statementSync.isSyncedSince(accountId, since)) return;
      await sleep(syncPauseMs);
    }
    throw new AppError('bank_timeout');
  }

  private async end(
    lease: Lease,
    { accountId, id: runId }: ReconciliationRun,
    error: string | null,
  ): Promise<void> {
    const key = { accountId, runId };
    await transactionUnderLease(this.database, lease, async (tx) => {
      const counts = await queries.countChanges(tx, key);
      if (!(await queries.endRun(tx, key, counts, error))) return;
      const run = await tx.reconciliationRun.findUniqueOrThrow({
        where: { accountId_id: { accountId, id: runId } },
      });
      const { id: _, state, ...description } = z.encode(runView, describeRun(run));
      const type = state === 'finished' ? 'reconciliation.finished' : 'reconciliation.failed';
      const resource = { kind: 'reconciliation', id: runId } as const;
      this.events.record(tx, accountId, [{ type, resource, data: { runId, ...description } }]);
    });
    await this.closeDaysQueue.enqueue({ accountId });
    await this.events.enqueueDeliveries(accountId);
  }
}

const zeroCounts: RunCounts = {
  newLines: 0,
  matched: 0,
  classified: 0,
  breaksOpened: 0,
  breaksResolved: 0,
  missing: 0,
  unlinked: 0,
  pending: 0,
};

export function describeRun(run: ReconciliationRun): z.output<typeof runView> {
  const { startedAt, finishedAt, windowFrom, windowUntil } = run;
  return {
    ...run,
    window: { from: windowFrom, until: windowUntil },
    counts: { ...zeroCounts, ...(run.counts as Partial<RunCounts>) },
    durationMs: finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime()),
  };
}
