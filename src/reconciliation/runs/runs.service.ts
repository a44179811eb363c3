// One going-over of an account: a poll that begins after it, the judgement of every line, what did not come. A run is
// committed before it is woken and goes on when its worker is killed; each of its steps may be done twice, its end once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database.service.js';
import { EventsService } from '../../events/events.service.js';
import type { ReconciliationRun } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { OnJob } from '../../platform/job-methods.js';
import { JobQueue } from '../../platform/job-queue.js';
import type { JobPayload } from '../../queues.js';
import { StatementService } from '../../statement/statement.service.js';
import { MissingPayments } from '../missing-payments.service.js';
import { ReconciliationService } from '../reconciliation.service.js';
import { describeRun } from './run-view.js';
import * as queries from './runs.queries.js';

const beatMs = 5_000;
const syncPauseMs = 250;
/** A poll that fails is tried again after these, and then the bank counts as away. */
const retryPausesMs = [250, 1_000];
/** Longer than the first reading of any history. */
const patienceMs = 3_600_000;

@Injectable()
export class RunsService {
  constructor(
    private readonly database: Database,
    private readonly statement: StatementService,
    private readonly reconciliation: ReconciliationService,
    private readonly missing: MissingPayments,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  /** The run that was begun, or the one that runs. */
  async request(accountId: number, requestedBy: string): Promise<ReconciliationRun> {
    const runId = await this.database.transaction((tx) =>
      queries.beginRun(tx, accountId, 'request', requestedBy),
    );
    await this.jobQueue.enqueue('runReconciliation', { accountId, runId });
    return this.get(accountId, runId);
  }

  async get(accountId: number, id: string): Promise<ReconciliationRun> {
    const where = { accountId_id: { accountId, id } };
    const run = await this.database.prisma.reconciliationRun.findUnique({ where });
    if (!run) throw new AppError('not_found');
    return run;
  }

  /** Does the run, unless another process does or it has ended. What is not the bank's fault is thrown. */
  @OnJob('runReconciliation')
  async perform({ accountId, runId }: JobPayload<'runReconciliation'>): Promise<void> {
    await this.database.withSessionLock('runReconciliation', accountId, async (keepLock) => {
      const run = await this.get(accountId, runId);
      if (run.state !== 'running') return;
      // A lock that is lost is no harm: the run ends once, whoever ends it.
      const beat = setInterval(() => void keepLock().catch(() => undefined), beatMs);
      try {
        await this.end(run, await this.goOver(run));
      } finally {
        clearInterval(beat);
      }
    });
  }

  /** Wakes runs that have not ended: their worker, or their wake-up, may be lost. */
  async enqueueRunning(): Promise<void> {
    for (const run of await queries.listRunning(this.database.prisma))
      await this.jobQueue.enqueue('runReconciliation', run);
  }

  /** Null, or what was in its way. */
  private async goOver({ accountId, startedAt }: ReconciliationRun): Promise<string | null> {
    try {
      await this.poll(accountId, startedAt);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.code === 'bank_timeout'
        ? 'The statement could not be read to its end in an hour.'
        : 'The bank did not answer when the statement was read.';
    }
    await this.reconciliation.reconcile({ accountId });
    await this.missing.check(accountId);
    return null;
  }

  /** Until a poll that began after the run has completed, whoever made it. */
  private async poll(accountId: number, since: Date): Promise<void> {
    const giveUpAt = performance.now() + patienceMs;
    let failures = 0;
    while (performance.now() < giveUpAt) {
      if (await queries.isSyncedSince(this.database.prisma, accountId, since)) return;
      try {
        await this.statement.sync(accountId);
      } catch (error) {
        const pauseMs = retryPausesMs[failures];
        if (!(error instanceof AppError) || pauseMs === undefined) throw error;
        failures += 1;
        await sleep(pauseMs);
        continue;
      }
      if (await queries.isSyncedSince(this.database.prisma, accountId, since)) return;
      await sleep(syncPauseMs);
    }
    throw new AppError('bank_timeout');
  }

  private async end({ accountId, id: runId }: ReconciliationRun, error: string | null) {
    const key = { accountId, runId };
    await this.database.transaction(async (tx) => {
      const counts = await queries.countChanges(tx, key);
      if (!(await queries.endRun(tx, key, counts, error))) return;
      const run = await tx.reconciliationRun.findUniqueOrThrow({
        where: { accountId_id: { accountId, id: runId } },
      });
      const { id: _, state, ...told } = describeRun(run);
      const type = state === 'finished' ? 'reconciliation.finished' : 'reconciliation.failed';
      await this.events.record(tx, accountId, [{ type, data: { runId, ...told } }]);
    });
    await this.jobQueue.enqueue('closeDays', { accountId });
    await this.events.enqueueDeliveries(accountId);
  }
}
