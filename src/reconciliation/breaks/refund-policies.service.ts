// Gives back by itself what an account has said shall be: off until then, only what lies in a closed window, and under the
// key that a person's refund of the same break has, so that both together refund once.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { BankService } from '../../bank/bank.service.js';
import type { RouteInput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { AppError } from '../../platform/errors.js';
import { OnJob } from '../../platform/job-methods.js';
import { JobQueue } from '../../platform/job-queue.js';
import type { JobPayload } from '../../queues.js';
import { BreakRefunds } from './break-refunds.service.js';
import * as queries from './refund-policies.queries.js';
import {
  policyKinds,
  type changeRefundPolicies,
  type getRefundPolicies,
} from './refund-policies.schema.js';

type Change = RouteInput<typeof changeRefundPolicies>['body'];
type Shown = z.output<(typeof getRefundPolicies)['response']>;

/** One account's refunds hold up no other's for long. */
const atOnce = 50;
const shownChanges = 100;

@Injectable()
export class RefundPolicies {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly refunds: BreakRefunds,
    private readonly jobQueue: JobQueue,
  ) {}

  async change(accountId: number, { policies, reason }: Change, actor: string): Promise<Shown> {
    const said = policies.map(({ kind, isOn, maxAmount = null }) => ({
      kind,
      isOn,
      maxCents: maxAmount,
    }));
    await this.database.transaction((tx) =>
      queries.changePolicies(tx, accountId, said, { actor, reason }),
    );
    return this.get(accountId);
  }

  async get(accountId: number): Promise<Shown> {
    const { prisma } = this.database;
    const rows = await prisma.refundPolicy.findMany({ where: { accountId } });
    const changes = await prisma.refundPolicyHistoryEntry.findMany({
      where: { accountId },
      orderBy: { sequence: 'desc' },
      take: shownChanges,
    });
    return {
      data: policyKinds.map((kind) => {
        const row = rows.find(({ breakKind }) => breakKind === kind);
        return {
          kind,
          isOn: row?.isOn ?? false,
          maxAmount: row?.maxCents ?? null,
          changedBy: row?.changedBy ?? null,
          reason: row?.reason ?? null,
          changedAt: row?.changedAt.toISOString() ?? null,
        };
      }),
      changes: changes.map(({ sequence, breakKind, isOn, maxCents, actor, reason, createdAt }) => ({
        sequence: Number(sequence),
        kind: breakKind,
        isOn,
        maxAmount: maxCents,
        actor,
        reason,
        at: createdAt.toISOString(),
      })),
    };
  }

  /** Refunds what the account's policies say, and has the windows closed that they wait for. */
  @OnJob('refundByPolicy')
  async apply({ accountId }: JobPayload<'refundByPolicy'>): Promise<void> {
    const { prisma } = this.database;
    for (const { breakId, reason } of await queries.listRefundable(prisma, accountId, atOnce))
      await this.refund(accountId, breakId, reason ?? 'policy');
    if (await this.refunds.settleShown(accountId))
      await this.jobQueue.enqueue('reconcile', { accountId });
    const { visibilityBoundMs } = this.bank.profile;
    if (visibilityBoundMs === null) return;
    if (await queries.waitForClosing(prisma, accountId, visibilityBoundMs))
      await this.jobQueue.enqueue('closeStatement', { accountId });
  }

  /** Wakes accounts whose wake-up was lost, or where a window has been closed since. */
  async enqueueDue(): Promise<void> {
    for (const { accountId } of await queries.listAccountsToRefund(this.database.prisma))
      await this.jobQueue.enqueue('refundByPolicy', { accountId });
  }

  private async refund(accountId: number, breakId: string, reason: string): Promise<void> {
    try {
      await this.refunds.refund(accountId, breakId, {
        actor: 'policy',
        reason,
        amountCents: null,
      });
    } catch (error) {
      // A refusal is written down, and its break left to a person; what the bank did not answer is asked again.
      if (!(error instanceof AppError)) throw error;
    }
  }
}
