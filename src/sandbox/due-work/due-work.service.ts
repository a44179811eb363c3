// Tasks that the bank runs at a time of its own clock: a Pix changes its state, a scheduled bill is
// paid. A task is a row, deleted in the transaction of its effect, so that a restart neither loses
// nor repeats it.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { WorkerLoop } from '../../platform/queue/worker-loop.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxDatabase, SandboxSettings, type SandboxTx } from '../sandbox-database.service.js';
import {
  findNextDueTime,
  claimDueTask,
  type DueTask,
  type ClaimedTask,
} from './due-work.queries.js';

/** Runs a due task of the subject. It must do nothing when the subject no longer needs it. */
export type DueHandler = (tx: SandboxTx, subject: string) => Promise<void>;

const concurrency = 4;
/** The longest delay before tasks that another process left are found. */
const maxIdleMs = 5_000;
const retryMs = 1_000;
const otherProcessWaitMs = 100;

@Injectable()
export class DueWork implements BeforeApplicationShutdown {
  private readonly handlers = new Map<string, DueHandler>();
  /** Failed tasks by id, until a time of the machine's clock. */
  private readonly pausedUntilMs = new Map<bigint, number>();
  private readonly loop = new WorkerLoop(() => this.work(), maxIdleMs);

  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly settings: SandboxSettings,
  ) {
    clock.onChange(() => this.loop.trigger());
  }

  handle(kind: string, handler: DueHandler): void {
    invariant(!this.handlers.has(kind), `a task kind has one handler: ${kind}`);
    this.handlers.set(kind, handler);
  }

  /** Stores a task in `tx` and triggers the worker after the commit. */
  async schedule(tx: SandboxTx, task: DueTask): Promise<void> {
    await tx.insert('due_task', task);
    tx.afterCommit(() => {
      const waitMs = this.waitFor(task.dueAt);
      if (waitMs > 0) this.loop.triggerIn(waitMs);
      else this.loop.trigger();
    });
  }

  /** Starts the worker. Every handler must be registered before. */
  start(): void {
    this.loop.trigger();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Resolves when all tasks that are due now have run, with those that they schedule for now. */
  runDue(): Promise<void> {
    this.loop.trigger();
    return this.loop.idle();
  }

  /** Runs the due tasks. Returns after how many milliseconds to check again. */
  private async work(): Promise<number> {
    try {
      for (;;) {
        const pausedIds = this.listPausedIds();
        const next = await findNextDueTime(this.database, pausedIds);
        const idleMs = pausedIds.length > 0 ? retryMs : maxIdleMs;
        const waitMs = next ? Math.min(this.waitFor(next), idleMs) : idleMs;
        if (waitMs > 0 || this.loop.isStopped) return waitMs;
        const counts = await Promise.all(Array.from({ length: concurrency }, () => this.drain()));
        // A due task that could not be claimed is being run by another process.
        if (counts.every((count) => count === 0)) return otherProcessWaitMs;
      }
    } catch (error) {
      this.settings.log.warn({ err: error }, 'due tasks could not be read');
      return retryMs;
    }
  }

  /**
   * Runs tasks one after another until none is due, and counts them. A failed task is paused. Never
   * rejects.
   */
  private async drain(): Promise<number> {
    for (let count = 0; ; count += 1) {
      let claimed: ClaimedTask | null = null;
      try {
        claimed = await this.database.transaction((tx) =>
          this.runNext(tx, (task) => (claimed = task)),
        );
        if (!claimed || this.loop.isStopped) return count;
      } catch (error) {
        const { id, kind } = (claimed ?? {}) as Partial<ClaimedTask>;
        this.settings.log.warn({ err: error, kind }, 'due task failed, will be retried');
        if (id === undefined) return count;
        this.pausedUntilMs.set(id, performance.now() + retryMs);
      }
    }
  }

  private async runNext(
    tx: SandboxTx,
    reportClaimed: (task: ClaimedTask) => void,
  ): Promise<ClaimedTask | null> {
    const skippedIds = this.listPausedIds();
    const task = await claimDueTask(tx, { now: this.clock.now(), skippedIds });
    if (!task) return null;
    reportClaimed(task);
    const handler = this.handlers.get(task.kind);
    invariant(handler, `a task kind has a handler: ${task.kind}`);
    await handler(tx, task.subject);
    return task;
  }

  /** Failed tasks whose pause has not ended. They are skipped, so as not to delay other tasks. */
  private listPausedIds(): bigint[] {
    const nowMs = performance.now();
    for (const [id, untilMs] of this.pausedUntilMs)
      if (untilMs <= nowMs) this.pausedUntilMs.delete(id);
    return [...this.pausedUntilMs.keys()];
  }

  private waitFor(dueAt: Date): number {
    return dueAt.getTime() - this.clock.now().getTime();
  }
}
