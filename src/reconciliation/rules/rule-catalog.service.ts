// Declares rules, and activates and retires their versions. The terms of a version never
// change; each step is recorded with its actor and reason.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tx } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { JobQueue } from '../../platform/job-queue.js';
import { recordRangeTask } from '../../reconciliation-tasks/reconciliation-tasks.queries.js';
import type { DeclaredRule } from '../decide/outcome.js';
import { toAction, toCondition } from './rule-views.js';
import type { RuleDefinition } from './rules.schema.js';
import * as queries from './rules.queries.js';
import { writeStored } from './stored-rule.js';

/** Who changes a rule, and why. */
export interface ChangedBy {
  accountId: number;
  actor: string;
  reason: string;
}

@Injectable()
export class RuleCatalog {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  async ensureDefaults(accountId: number): Promise<void> {
    await this.database.transaction((tx) => queries.insertDefaultRule(tx, accountId));
  }

  async create(by: ChangedBy, name: string, definition: RuleDefinition): Promise<string> {
    const id = uuidv7();
    await this.ensureDefaults(by.accountId);
    await this.database
      .transaction(async (tx) => {
        await tx.rule.create({ data: { accountId: by.accountId, id, name } });
        await this.declare(tx, by, { ruleId: id, version: 1 }, definition);
      })
      .catch((error: unknown) => {
        if (!isTaken(error)) throw error;
        throw new AppError('conflict', {
          public: 'A rule with this name already exists.',
          reason: 'name_taken',
        });
      });
    return id;
  }

  async addVersion(by: ChangedBy, ruleId: string, definition: RuleDefinition): Promise<void> {
    await this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, by.accountId, ruleId);
      const version = Math.max(0, ...versions.map((one) => one.version)) + 1;
      await this.declare(tx, by, { ruleId, version }, definition);
    });
  }

  /** Throws `trial_needed` unless the version was tried since the account's last activation. */
  async activate(by: ChangedBy, ruleId: string, version: number): Promise<void> {
    const { accountId } = by;
    await this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, accountId, ruleId);
      const target = versions.find((one) => one.version === version);
      if (!target) throw new AppError('not_found');
      if (target.state === 'active')
        throw new AppError('conflict', {
          public: 'The version is already active.',
          reason: 'already_active',
        });
      if (!(await queries.isRuleVersionTried(tx, accountId, { ruleId, version })))
        throw new AppError('conflict', {
          public: 'The version needs a trial since the last activation of any rule of the account.',
          reason: 'trial_needed',
        });
      const active = versions.find(({ state }) => state === 'active');
      if (active) await this.end(tx, by, ruleId, active.version);
      await queries.activateRule(tx, accountId, { ruleId, version });
      await this.note(tx, by, { ruleId, version }, 'activated');
      await recordRangeTask(tx, accountId, 'rules');
    });
    await this.jobQueue.enqueue('reconcile', { accountId });
  }

  async retire(by: ChangedBy, ruleId: string, version: number): Promise<void> {
    const { accountId } = by;
    await this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, accountId, ruleId);
      const target = versions.find((one) => one.version === version);
      if (!target) throw new AppError('not_found');
      if (target.state === 'retired')
        throw new AppError('conflict', {
          public: 'The version is already retired.',
          reason: 'already_retired',
        });
      await this.end(tx, by, ruleId, version);
      if (target.state === 'active') await recordRangeTask(tx, accountId, 'rules');
    });
    await this.jobQueue.enqueue('reconcile', { accountId });
  }

  private async declare(
    tx: Tx,
    { accountId, actor, reason }: ChangedBy,
    { ruleId, version }: DeclaredRule,
    definition: RuleDefinition,
  ): Promise<void> {
    const then = toAction(definition.then);
    const stored = writeStored({ when: toCondition(definition.when), then });
    await tx.ruleVersion.create({
      data: {
        accountId,
        ruleId,
        version,
        state: 'draft',
        priority: definition.priority,
        action: then.do,
        definition: stored as unknown as Prisma.InputJsonObject,
        madeBy: actor,
        reason,
      },
    });
    await this.note(tx, { accountId, actor, reason }, { ruleId, version }, 'declared');
  }

  private async end(tx: Tx, by: ChangedBy, ruleId: string, version: number): Promise<void> {
    await queries.retireRule(tx, by.accountId, { ruleId, version });
    await this.note(tx, by, { ruleId, version }, 'retired');
  }

  private async note(
    tx: Tx,
    by: ChangedBy,
    key: DeclaredRule,
    action: 'declared' | 'activated' | 'retired',
  ): Promise<void> {
    await tx.ruleHistoryEntry.create({ data: { ...by, ...key, action } });
  }

  private async lockRuleVersions(tx: Tx, accountId: number, ruleId: string) {
    const versions = await queries.lockRuleVersions(tx, accountId, ruleId);
    if (versions.length === 0) throw new AppError('not_found');
    return versions;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
