// Automatic refunds by an account's policies: off by default, for lines in closed periods only.
// A policy uses the same idempotency key as a person's refund of the break, so both together
// refund once.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { readSendingRules } from '../../access/accounts/account-modes.queries.js';
import { BankService } from '../../bank/bank.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { policyKinds } from '../decide/break-kinds.js';
import { BreakRefunds } from './break-refunds.service.js';
import * as queries from './refund-policies.queries.js';
import type { getRefundPolicies, RefundPolicyChange } from './refund-policies.schema.js';

/** Bounds how long one account's refunds delay other accounts. */
const maxRefundsPerJob = 50;
const maxChangesShown = 100;
const neverOn = { isOn: false, maxCents: null, changedBy: null, reason: null, changedAt: null };

@Injectable()
export class RefundPolicies {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly refunds: BreakRefunds,
    @InjectQueue(jobs.closeStatement.name)
    private readonly closeStatementQueue: JobQueue<'closeStatement'>,
    @InjectQueue(jobs.refundByPolicy.name)
    private readonly refundByPolicyQueue: JobQueue<'refundByPolicy'>,
  ) {}

  async change(accountId: number, change: RefundPolicyChange, actor: string) {
    await this.database.transaction((tx) =>
      queries.writeRefundPolicies(tx, accountId, change, actor),
    );
    return this.get(accountId);
  }

  async get(accountId: number): Promise<RouteOutput<typeof getRefundPolicies>> {
    const { prisma } = this.database;
    const rows = await prisma.refundPolicy.findMany({ where: { accountId } });
    const changes = await prisma.refundPolicyHistoryEntry.findMany({
      where: { accountId },
      orderBy: { sequence: 'desc' },
      take: maxChangesShown,
    });
    return {
      data: policyKinds.map((kind) => {
        const policy = rows.find(({ breakKind }) => breakKind === kind) ?? neverOn;
        return { ...policy, kind, maxAmount: policy.maxCents };
      }),
      changes: changes.map(
        ({ breakKind: kind, maxCents: maxAmount, createdAt: at, ...change }) => ({
          ...change,
          ...{ kind, maxAmount, at },
        }),
      ),
    };
  }

  /**
   * Requests refunds by the account's policies. Requests the closing of a period if a refund waits
   * for it.
   */
  async apply({ accountId }: JobPayload<'refundByPolicy'>): Promise<void> {
    const { prisma } = this.database;
    // A line is refunded later: while nothing may be sent, its break stays open.
    if ((await readSendingRules(prisma, accountId)).mode !== 'live') return;
    const due = await queries.listPolicyRefunds(prisma, accountId, maxRefundsPerJob);
    for (const { breakId, reason, changedBy } of due)
      await this.refund(accountId, breakId, reason ?? 'policy', changedBy);
    const { visibilityBoundMs } = this.bank.profile;
    if (visibilityBoundMs === null) return;
    if (await queries.hasRefundAwaitingClosing(prisma, accountId, visibilityBoundMs))
      await this.closeStatementQueue.enqueue({ accountId });
  }

  /** Enqueues accounts whose job was lost, or where a period was closed since. */
  @Every('refund-policies', 5)
  async enqueueDue(): Promise<void> {
    const { prisma } = this.database;
    // PostgreSQL plans the search for their breaks longer than all other sweeps together.
    if (!(await queries.hasRefundPolicies(prisma))) return;
    for (const { accountId } of await queries.listAccountsToRefund(prisma))
      await this.refundByPolicyQueue.enqueue({ accountId });
  }

  private async refund(
    accountId: number,
    breakId: string,
    reason: string,
    changedBy: string | null,
  ): Promise<void> {
    try {
      const requestedBy = { source: 'policy', actor: changedBy } as const;
      const request = { actor: 'policy', reason, amountCents: null, requestedBy };
      await this.refunds.refund(accountId, breakId, request);
    } catch (error) {
      // The history contains the refusal, and a person must handle the break. Without a response
      // from the bank, the next job repeats the request.
      if (!(error instanceof AppError)) throw error;
    }
  }
}
