// What the bank does by itself, each at its time by the bank's clock: a Pix goes on, a scheduled bill is paid. A task
// is a row, taken in the transaction of its effect, so that a restart neither loses nor repeats it.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { WorkerLoop } from '../../platform/worker-loop.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxDatabase, SandboxSettings, type Tx } from '../sandbox-database.service.js';
import {
  findNextDueTask,
  insertTask,
  takeDueTask,
  type DueTask,
  type TakenTask,
} from './due-work.queries.js';

/** Does what is due for the subject; nothing when there is no longer anything to do. */
export type DueHandler = (tx: Tx, subject: string) => Promise<void>;

const lanes = 4;
/** Also bounds how late the tasks of another process, or one that failed, are looked at again. */
const maxIdleMs = 1_000;
const othersWaitMs = 100;

@Injectable()
export class DueWork implements BeforeApplicationShutdown {
  private readonly handlers = new Map<string, DueHandler>();
  /** By the machine's clock. */
  private readonly restingUntilMs = new Map<bigint, number>();
  private readonly loop = new WorkerLoop(() => this.work(), maxIdleMs);

  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly settings: SandboxSettings,
  ) {
    clock.onChange(() => this.loop.trigger());
  }

  handle(kind: string, handler: DueHandler): void {
    invariant(!this.handlers.has(kind), `tasks ${kind} have one handler`);
    this.handlers.set(kind, handler);
  }

  /** Owes a task from the moment that `tx` is final. */
  async schedule(tx: Tx, task: DueTask): Promise<void> {
    await insertTask(tx, task);
    tx.afterCommit(() => {
      const waitMs = this.waitFor(task.dueAt);
      if (waitMs > 0) this.loop.triggerIn(waitMs);
      else this.loop.trigger();
    });
  }

  /** Begins to work; every handler is there by then. */
  start(): void {
    this.loop.trigger();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Ends when nothing is due that was due at its call, or that follows at the same time. */
  runDue(): Promise<void> {
    this.loop.trigger();
    return this.loop.idle();
  }

  /** Does what is due and tells in how many milliseconds there is more to look at. */
  private async work(): Promise<number> {
    try {
      for (;;) {
        const next = await findNextDueTask(this.database, this.listResting());
        const waitMs = next ? this.waitFor(next) : maxIdleMs;
        if (waitMs > 0 || this.loop.isStopped) return waitMs;
        const done = await Promise.all(Array.from({ length: lanes }, () => this.drain()));
        // What is due and was not taken is being done by another process.
        if (done.every((count) => count === 0)) return othersWaitMs;
      }
    } catch (error) {
      this.settings.log.warn({ err: error }, 'due work could not be read');
      return maxIdleMs;
    }
  }

  /**
   * One task after another until none is due, and how many it had; those that fail rest a while. Never rejects.
   */
  private async drain(): Promise<number> {
    for (let count = 0; ; count += 1) {
      let taken: TakenTask | null = null;
      try {
        taken = await this.database.transaction((tx) => this.doNext(tx, (task) => (taken = task)));
        if (!taken || this.loop.isStopped) return count;
      } catch (error) {
        const { id, kind } = (taken ?? {}) as Partial<TakenTask>;
        this.settings.log.warn({ err: error, kind }, 'due work failed, will be tried again');
        if (id === undefined) return count;
        this.restingUntilMs.set(id, performance.now() + maxIdleMs);
      }
    }
  }

  private async doNext(tx: Tx, take: (task: TakenTask) => void): Promise<TakenTask | null> {
    const passedOver = this.listResting();
    const task = await takeDueTask(tx, { now: this.clock.now(), passedOver });
    if (!task) return null;
    take(task);
    const handler = this.handlers.get(task.kind);
    invariant(handler, `tasks ${task.kind} have a handler`);
    await handler(tx, task.subject);
    return task;
  }

  /** Tasks that failed and are left alone for now: they hold nobody else up. */
  private listResting(): bigint[] {
    const nowMs = performance.now();
    for (const [id, untilMs] of this.restingUntilMs)
      if (untilMs <= nowMs) this.restingUntilMs.delete(id);
    return [...this.restingUntilMs.keys()];
  }

  private waitFor(dueAt: Date): number {
    return dueAt.getTime() - this.clock.now().getTime();
  }
}
