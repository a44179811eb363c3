// The credit days of an account. Each change is a row of its own, and the last one of a way counts.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { BankService } from '../../bank/bank.service.js';
import { addBusinessDays, rollToBusinessDay } from '../../brazil/calendar.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import type { changeCreditDays, getCreditDays } from './credit-days.schema.js';
import { maxCreditDays, paymentWays, type PaymentWay } from './credit-days.js';
import * as queries from './credit-days.queries.js';

const maxChangesShown = 100;
const observedDays = 90;
const minObserved = 20;

type CreditDaysView = RouteOutput<typeof getCreditDays>;

@Injectable()
export class CreditDaysSettings {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
  ) {}

  async change(
    accountId: number,
    { way, businessDays: days, reason }: z.output<typeof changeCreditDays.body>,
    actor: string,
  ): Promise<CreditDaysView> {
    await this.database.transaction(async (tx) => {
      await tx.creditDaysChange.create({ data: { accountId, way, days, actor, reason } });
      await queries.recordCreditDaysTasks(tx, accountId);
    });
    await this.reconcileQueue.enqueue({ accountId });
    return this.get(accountId);
  }

  async get(accountId: number): Promise<CreditDaysView> {
    const { prisma } = this.database;
    const ofProfile = this.bank.profile.creditDays;
    const [own, observed, changes] = await Promise.all([
      queries.readOwnCreditDays(prisma, accountId),
      this.observe(accountId),
      prisma.creditDaysChange.findMany({
        where: { accountId },
        orderBy: { sequence: 'desc' },
        take: maxChangesShown,
      }),
    ]);
    return {
      ways: paymentWays.map((way) => ({
        way,
        businessDays: own?.[way] ?? ofProfile[way],
        source: own?.[way] === undefined ? 'bank_profile' : 'account',
        observed: way === 'slip' ? observed : null,
      })),
      changes: changes.map(({ sequence, way, days, actor, reason, createdAt: at }) => {
        return { sequence, way: way as PaymentWay, businessDays: days, actor, reason, at };
      }),
    };
  }

  /** Only slips have a payment day of their own on the statement. */
  private async observe(accountId: number) {
    const { prisma } = this.database;
    const credits = await queries.listObservedCredits(prisma, accountId, observedDays);
    const byDays = new Map<number, number>();
    for (const { paidOn, creditedOn, payments } of credits) {
      const days = businessDaysUntil(paidOn, creditedOn);
      byDays.set(days, (byDays.get(days) ?? 0) + payments);
    }
    const total = credits.reduce((sum, { payments }) => sum + payments, 0);
    if (total < minObserved) return null;
    const spread = [...byDays].sort(([a], [b]) => a - b);
    return {
      payments: total,
      spread: spread.map(([businessDays, payments]) => ({ businessDays, payments })),
    };
  }
}

/** The fewest credit days that explain a credit; more than the most are the most. */
function businessDaysUntil(paidOn: string, creditedOn: string): number {
  const from = rollToBusinessDay(paidOn);
  for (let days = 0; days < maxCreditDays; days += 1)
    if (addBusinessDays(from, days) >= creditedOn) return days;
  return maxCreditDays;
}
