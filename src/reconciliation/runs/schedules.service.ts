// Automatic runs. Times are bank time; one run makes up for all times missed while the service
// was down.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import type { ReconciliationSchedule } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { Every } from '../../platform/queue/timers.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { defaultCron, nextCronTime, findCronProblem } from './cron.js';
import * as queries from './runs.queries.js';

@Injectable()
export class Schedules {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    @InjectQueue(jobs.runReconciliation.name)
    private readonly runReconciliationQueue: JobQueue<'runReconciliation'>,
  ) {}

  /** Returns the default for an account without a schedule. */
  async get(accountId: number): Promise<ReconciliationSchedule> {
    const where = { accountId };
    const found = await this.database.prisma.reconciliationSchedule.findUnique({ where });
    if (found) return found;
    const nextRunAt = nextCronTime(defaultCron, await this.bankTime.now(accountId));
    return { accountId, ...defaultCron, nextRunAt };
  }

  /** `cron` null: no automatic runs. Throws `validation_failed`. */
  async change(
    accountId: number,
    { cron, timezone }: Pick<ReconciliationSchedule, 'cron' | 'timezone'>,
  ): Promise<ReconciliationSchedule> {
    const now = await this.bankTime.now(accountId);
    // The time zone is validated even without a cron expression.
    const errors = findCronProblem({ cron: cron ?? defaultCron.cron, timezone }, now);
    if (errors) throw new AppError('validation_failed', { errors });
    const nextRunAt = cron === null ? null : nextCronTime({ cron, timezone }, now);
    const schedule = { accountId, cron, timezone, nextRunAt };
    await this.database.prisma.reconciliationSchedule.upsert({
      where: { accountId },
      create: schedule,
      update: schedule,
    });
    return schedule;
  }

  /**
   * Begins due runs: one for each account, however many times it missed. A new account gets the
   * default schedule.
   */
  @Every('schedules', 5)
  async beginDue(): Promise<void> {
    const { prisma } = this.database;
    for (const { accountId, hasSchedule } of await queries.listDueSchedules(prisma)) {
      if (!hasSchedule) {
        const data = await this.get(accountId);
        await prisma.reconciliationSchedule.createMany({ data, skipDuplicates: true });
        continue;
      }
      const runId = await this.begin(accountId);
      if (runId) await this.runReconciliationQueue.enqueue({ accountId, runId });
    }
  }

  private async begin(accountId: number): Promise<string | null> {
    const now = await this.bankTime.now(accountId);
    return this.database.transaction(async (tx) => {
      const schedule = await queries.lockSchedule(tx, accountId);
      if (!schedule?.cron || !schedule.nextRunAt || schedule.nextRunAt > now) return null;
      const { cron, timezone } = schedule;
      const nextRunAt = nextCronTime({ cron, timezone }, now);
      await tx.reconciliationSchedule.update({
        where: { accountId },
        data: { nextRunAt },
      });
      return queries.beginRun(tx, accountId, 'schedule', null);
    });
  }
}
