// One action on all breaks that a filter selects: they are stored with the version of each, a
// person confirms their totals, and then they are decided a few at a time. What is decided is
// stored with the decision, so that a batch goes on where it ended.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { DecisionBatch } from '../../generated/service/client.js';
import { AppError, conflict } from '../../platform/errors.js';
import { readUuid } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { Database } from '../../platform/postgres/database.service.js';
import { BreakActions } from './break-actions.service.js';
import type { BreakFilters } from './break-list.queries.js';
import type { FileDecision, RefusedRow } from './decision-file.js';
import { BreakPlans } from './break-plans.service.js';
import { BreakReading } from './break-reading.service.js';
import type { BreakSum } from './open-break-counts.js';

const decisionActions = ['accept', 'note', 'reopen'] as const;
/** What a batch changes of the plans of its breaks. */
export const planActions = ['assign', 'snooze'] as const;
export type PlanAction = (typeof planActions)[number];
/** Money is sent by none of them. */
export const batchActions = [...decisionActions, ...planActions] as const;
type BreakBatchAction = (typeof batchActions)[number];
/** `file`: each row of a spreadsheet has its own. */
export type BatchAction = BreakBatchAction | 'file';

/** What a person confirms. `planned`: of the plans, as `DecisionBatch` has it. */
interface Confirmation {
  reason: string;
  reasonCode?: string | null;
  planned?: string | null;
}

export const maxBatch = 10_000;
const breaksPerRead = 500;
const breaksPerStep = 50;
const draftHours = 24;

export interface BatchProgress extends BreakSum {
  batch: DecisionBatch;
  byKind: (BreakSum & { kind: string; action: string | null })[];
  done: number;
  refused: number;
  /** Those that are not decided yet. */
  left: number;
}

@Injectable()
export class DecisionBatches {
  constructor(
    private readonly database: Database,
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly plans: BreakPlans,
  ) {}

  /** Stores what the filter selects, up to `maxBatch` breaks. Returns the id of the batch. */
  async select(caller: Caller, action: BreakBatchAction, filters: BreakFilters): Promise<string> {
    const { accountId } = caller;
    const { prisma } = this.database;
    const batchId = await this.begin(caller, action);
    let cursor: string | undefined;
    for (let number = 0; number < maxBatch;) {
      const page = { ...filters, cursor, limit: breaksPerRead };
      const { data, next } = await this.reading.list(caller, page);
      await prisma.batchedDecision.createMany({
        data: data.map(({ id: breakId, version, kind, amount: amountCents }) => ({
          ...{ accountId, batchId, number: (number += 1) },
          ...{ breakId, version, kind, amountCents },
        })),
      });
      if (next === null) break;
      cursor = next;
    }
    return batchId;
  }

  /**
   * Stores what a spreadsheet decides. A break that is not as the sheet has it is refused. The
   * amounts are those of the breaks. Without a row to decide there is no batch.
   */
  async selectRows(
    caller: Caller,
    decisions: readonly FileDecision[],
  ): Promise<{ batchId: string | null; refused: RefusedRow[] }> {
    const { accountId } = caller;
    const found = await this.reading.listByIds(
      caller,
      decisions.map(({ id }) => id),
    );
    const byId = new Map(found.map((row) => [row.id, row]));
    const isSeen = ({ id, version }: FileDecision) => byId.get(id)?.version === version;
    const refused = decisions
      .filter((one) => !isSeen(one))
      .map(({ line, id }) => ({ line, code: byId.has(id) ? 'break_changed' : 'not_found' }));
    const rows = decisions.filter(isSeen);
    if (rows.length === 0) return { batchId: null, refused };
    const batchId = await this.begin(caller, 'file');
    await this.database.prisma.batchedDecision.createMany({
      data: rows.map(({ id: breakId, version, action, reason, line: number }) => {
        const { kind, amount: amountCents } = byId.get(breakId)!;
        return { accountId, batchId, number, breakId, version, kind, amountCents, action, reason };
      }),
    });
    return { batchId, refused };
  }

  private async begin({ accountId, actor: author }: Caller, action: BatchAction): Promise<string> {
    await this.dropDrafts(accountId);
    const id = newId();
    await this.database.prisma.decisionBatch.create({ data: { accountId, id, action, author } });
    return id;
  }

  /** Throws `not_found`, also for a batch of another account. */
  async get(accountId: number, id: string): Promise<BatchProgress> {
    const { prisma } = this.database;
    const batchId = readUuid(id);
    const [batch, kinds, outcomes] = await Promise.all([
      prisma.decisionBatch.findUnique({ where: { accountId_id: { accountId, id: batchId } } }),
      prisma.batchedDecision.groupBy({
        by: ['kind', 'action'],
        where: { accountId, batchId },
        _count: true,
        _sum: { amountCents: true },
      }),
      prisma.batchedDecision.groupBy({
        by: ['outcome'],
        where: { accountId, batchId },
        _count: true,
      }),
    ]);
    if (!batch) throw new AppError('not_found');
    const byKind = kinds
      .map(({ kind, action, _count, _sum }) => ({
        ...{ kind, action, breaks: BigInt(_count), cents: _sum.amountCents ?? 0n },
      }))
      .sort((one, other) => Number(other.breaks - one.breaks));
    const count = (outcome: string | null) =>
      outcomes.find((one) => one.outcome === outcome)?._count ?? 0;
    return {
      ...{ batch, byKind, done: count('done'), refused: count('refused'), left: count(null) },
      breaks: byKind.reduce((sum, { breaks }) => sum + breaks, 0n),
      cents: byKind.reduce((sum, { cents }) => sum + cents, 0n),
    };
  }

  /** The first that were refused, with why. */
  listRefused(accountId: number, batchId: string, take: number) {
    return this.database.prisma.batchedDecision.findMany({
      where: { accountId, batchId, outcome: 'refused' },
      orderBy: { number: 'asc' },
      take,
    });
  }

  /**
   * Decides the next breaks, those with the version of their selection alone. The reason, and
   * its code, are those of the first step. Steps at the same time decide each break once.
   */
  async advance(caller: Caller, id: string, given: Confirmation | null): Promise<void> {
    const { accountId } = caller;
    const { prisma } = this.database;
    const { batch } = await this.get(accountId, id);
    const planAction = planActions.find((one) => one === batch.action);
    if (given !== null) {
      // Of no break: who or which day cannot be is refused before anything is confirmed.
      if (planAction) await this.plan(caller, planAction, [], given.planned ?? null);
      await prisma.decisionBatch.updateMany({
        where: { accountId, id: batch.id, reason: null },
        data: given,
      });
    }
    const { reason, reasonCode, planned } = await prisma.decisionBatch.findUniqueOrThrow({
      where: { accountId_id: { accountId, id: batch.id } },
    });
    if (reason === null) throw new AppError('validation_failed');
    const open = await prisma.batchedDecision.findMany({
      where: { accountId, batchId: batch.id, outcome: null },
      orderBy: { number: 'asc' },
      take: breaksPerStep,
    });
    for (const { number, breakId, version, ...own } of open) {
      const action = decisionActions.find((one) => one === (own.action ?? batch.action));
      if (!action && !planAction) throw new AppError('validation_failed');
      const coded = action !== 'reopen' && reasonCode !== null && { reasonCode };
      const where = { accountId, batchId: batch.id, number, outcome: null };
      const claim = async (tx: Pick<typeof prisma, 'batchedDecision'>) =>
        (await tx.batchedDecision.updateMany({ where, data: { outcome: 'done' } })).count === 1;
      try {
        if (planAction) {
          await this.assertUnchanged(caller, breakId, version);
          await this.plan(caller, planAction, [breakId], planned);
          await claim(prisma);
        } else if (action) {
          const request = { action, reason: own.reason ?? reason, ...coded };
          await this.actions.act(caller, breakId, request, claim, version);
        }
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        const code = error.details.reason ?? error.code;
        await prisma.batchedDecision.updateMany({ where, data: { outcome: 'refused', code } });
      }
    }
  }

  /** As a request of the API: a repeat changes nothing. */
  private plan(caller: Caller, action: PlanAction, ids: string[], planned: string | null) {
    return action === 'assign'
      ? this.plans.assign(caller, { ids, assignee: planned })
      : this.plans.snooze(caller, { ids, until: planned });
  }

  private async assertUnchanged(caller: Caller, breakId: string, version: string): Promise<void> {
    const [now] = await this.reading.listByIds(caller, [breakId]);
    if (now?.version !== version) throw conflict('break_changed', 'The break has changed.');
  }

  private async dropDrafts(accountId: number): Promise<void> {
    const now = await this.database.now();
    const createdAt = { lt: new Date(now.getTime() - draftHours * 3_600_000) };
    await this.database.prisma.decisionBatch.deleteMany({
      where: { accountId, reason: null, createdAt },
    });
  }
}
