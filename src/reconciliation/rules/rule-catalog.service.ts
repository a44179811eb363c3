// Declares and reads rules, and activates and retires their versions. The terms of a version never
// change; each step is recorded with its actor and reason.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { Settings } from '../../platform/settings/config.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { AppError, conflict } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { toList, type Page } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { recordRangeTask } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { assertBelowQuota } from '../../platform/limits/quotas.queries.js';
import type { DeclaredRule } from '../decide/model.js';
import { describeRule, describeRuleWithHistory, toAction, toCondition } from './rule-views.js';
import type { RuleDefinition } from './rules.schema.js';
import * as queries from '../load/rules.queries.js';
import type { AppliedRule, CoveredLine } from '../decide/rule.js';
import { readStored, writeStored, type StoredRule } from '../load/stored-rule.js';
import { storedResult } from './trial-result.js';

/** How many of a rule's newest trials and steps are shown. */
const trialsShown = 100;
const stepsShown = 200;

export type RuleTerms = Pick<AppliedRule, 'priority' | 'when' | 'then'>;

/** A version that is active or a draft, with its newest trial. */
export type OrderedRule = Omit<
  queries.OrderedVersionRow,
  'definition' | 'trialId' | 'triedAt' | 'trialResult'
> &
  RuleTerms & {
    lastTrial: { id: string; createdAt: Date; figures: z.output<typeof storedResult> } | null;
  };

/** Who changes a rule, and why. */
interface ChangedBy {
  accountId: number;
  actor: string;
  reason: string;
}

@Injectable()
export class RuleCatalog {
  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    private readonly settings: Settings,
  ) {}

  async get(accountId: number, id: string) {
    return (await this.getWithTerms(accountId, id)).rule;
  }

  /** The rule, and by version its terms as lines are compared with them. */
  async getWithTerms(accountId: number, id: string) {
    const { prisma } = this.database;
    const rule = await prisma.rule.findUnique({ where: { accountId_id: { accountId, id } } });
    if (!rule) throw new AppError('not_found');
    const versions = await queries.listVersionsShown(prisma, accountId, [id], 'with retired');
    const shown = {
      where: { accountId, ruleId: id, version: { in: versions.map(({ version }) => version) } },
      orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }],
    };
    const trials = await prisma.ruleTrial.findMany({
      ...shown,
      omit: { changes: true },
      take: trialsShown,
    });
    const steps = await prisma.ruleHistoryEntry.findMany({ ...shown, take: stepsShown });
    return {
      rule: describeRuleWithHistory(describeRule(rule, versions), trials, steps.reverse()),
      terms: new Map<number, RuleTerms>(
        versions.map((one) => [one.version, { priority: one.priority, ...termsOf(one) }]),
      ),
    };
  }

  /** One page of rules, newest first. */
  async list(accountId: number, page: Page) {
    await this.ensureDefaults(accountId);
    const { prisma } = this.database;
    const rules = await prisma.rule.findMany({
      where: { accountId, id: { lt: page.after ?? undefined } },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    const ids = rules.map(({ id }) => id);
    const versions = await queries.listVersionsShown(prisma, accountId, ids, 'without retired');
    const versionsOf = groupBy(versions, ({ ruleId }) => ruleId);
    return toList(
      rules,
      page,
      ({ id }) => id,
      (rule) => describeRule(rule, versionsOf.get(rule.id) ?? []),
    );
  }

  async create(by: ChangedBy, name: string, definition: RuleDefinition): Promise<string> {
    const id = newId();
    await this.ensureDefaults(by.accountId);
    await this.database
      .transaction(async (tx) => {
        await tx.rule.create({ data: { accountId: by.accountId, id, name } });
        await this.declare(tx, by, { ruleId: id, version: 1 }, toTerms(definition));
      })
      .catch((error: unknown) => {
        if (!isTaken(error)) throw error;
        throw conflict('name_taken', 'A rule with this name already exists.');
      });
    return id;
  }

  /** Returns the number of the version. */
  async addVersion(by: ChangedBy, ruleId: string, definition: RuleDefinition): Promise<number> {
    return this.addTerms(by, ruleId, toTerms(definition));
  }

  private async addTerms(by: ChangedBy, ruleId: string, terms: RuleTerms): Promise<number> {
    return this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, by.accountId, ruleId);
      const version = Math.max(0, ...versions.map((one) => one.version)) + 1;
      await this.declare(tx, by, { ruleId, version }, terms);
      return version;
    });
  }

  /** The versions that are not retired, in the order in which rules are applied. */
  async listInOrder(accountId: number): Promise<OrderedRule[]> {
    await this.ensureDefaults(accountId);
    const rows = await queries.listVersionsInOrder(this.database.prisma, accountId);
    return rows.map(({ definition, trialId, triedAt, trialResult, ...row }) => ({
      ...row,
      ...termsOf({ ...row, definition }),
      lastTrial:
        trialId === null || triedAt === null
          ? null
          : { id: trialId, createdAt: triedAt, figures: storedResult.parse(trialResult) },
    }));
  }

  /** What a rule may be about, of one line. Throws `not_found`. */
  async getLine(accountId: number, nsu: bigint): Promise<CoveredLine> {
    const line = await this.database.prisma.statementLine.findUnique({
      where: { accountId_nsu: { accountId, nsu } },
      select: {
        ...{ isCredit: true, amountCents: true, typeName: true, notes: true },
        ...{ counterparty: true, counterpartyDocument: true },
      },
    });
    if (!line) throw new AppError('not_found');
    return line;
  }

  private async getTerms(accountId: number, { ruleId, version }: DeclaredRule): Promise<RuleTerms> {
    const found = await this.database.prisma.ruleVersion.findUnique({
      where: { accountId_ruleId_version: { accountId, ruleId, version } },
    });
    if (!found) throw new AppError('not_found');
    return { ...termsOf(found), priority: found.priority };
  }

  /** Declares a draft with the terms of this version and another priority. Returns its number. */
  async reorder(
    by: ChangedBy,
    { ruleId, version }: DeclaredRule,
    priority: number,
  ): Promise<number> {
    const terms = await this.getTerms(by.accountId, { ruleId, version });
    return this.addTerms(by, ruleId, { ...terms, priority });
  }

  /**
   * Throws `trial_needed` unless the version was tried since the account's last activation. With
   * `shownTrialId`, throws `trial_outdated` unless that is its newest trial and no rule has changed
   * since: what the person has seen is then not what would happen.
   */
  async activate(
    by: ChangedBy,
    ruleId: string,
    version: number,
    shownTrialId?: string,
  ): Promise<void> {
    const { accountId } = by;
    await this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, accountId, ruleId);
      assertNotIn('active', versions, version);
      if (
        shownTrialId !== undefined &&
        !(await queries.isTrialCurrent(tx, accountId, { ruleId, version }, shownTrialId))
      )
        throw conflict(
          'trial_outdated',
          'The rules or the trial have changed since it was shown; try the version again.',
        );
      if (!(await queries.isRuleVersionTried(tx, accountId, { ruleId, version })))
        throw conflict(
          'trial_needed',
          'The version needs a trial since the last activation of any rule of the account.',
        );
      const active = versions.find(({ state }) => state === 'active');
      if (active) await this.enter('retired', tx, by, { ruleId, version: active.version });
      await this.enter('active', tx, by, { ruleId, version });
      await recordRangeTask(tx, accountId, 'rules');
    });
    await this.reconcileQueue.enqueue({ accountId });
  }

  async retire(by: ChangedBy, ruleId: string, version: number): Promise<void> {
    const { accountId } = by;
    await this.database.transaction(async (tx) => {
      const versions = await this.lockRuleVersions(tx, accountId, ruleId);
      const { state } = assertNotIn('retired', versions, version);
      await this.enter('retired', tx, by, { ruleId, version });
      if (state === 'active') await recordRangeTask(tx, accountId, 'rules');
    });
    await this.reconcileQueue.enqueue({ accountId });
  }

  private async ensureDefaults(accountId: number): Promise<void> {
    await this.database.transaction((tx) => queries.insertDefaultRule(tx, accountId));
  }

  private async declare(
    tx: Tx,
    by: ChangedBy,
    key: DeclaredRule,
    { priority, when, then }: RuleTerms,
  ): Promise<void> {
    const { accountId, actor: madeBy, reason } = by;
    const { rules: limit } = this.settings.quotas;
    const name = 'rule versions that are not retired';
    await assertBelowQuota(tx, { accountId, limit, code: 'rule_limit', name }, () =>
      tx.ruleVersion.count({ where: { accountId, state: { not: 'retired' } } }),
    );
    const definition = writeStored({ when, then });
    await tx.ruleVersion.create({
      data: {
        ...{ accountId, ...key, priority, action: then.do, state: 'draft', madeBy, reason },
        definition: definition as Prisma.InputJsonObject,
      },
    });
    await tx.ruleHistoryEntry.create({ data: { ...by, ...key, action: 'declared' } });
  }

  private async enter(
    state: 'active' | 'retired',
    tx: Tx,
    by: ChangedBy,
    key: DeclaredRule,
  ): Promise<void> {
    await queries.setRuleState(tx, by.accountId, key, state);
    const action = state === 'active' ? 'activated' : 'retired';
    await tx.ruleHistoryEntry.create({ data: { ...by, ...key, action } });
  }

  private async lockRuleVersions(tx: Tx, accountId: number, ruleId: string) {
    const versions = await queries.lockRuleVersions(tx, accountId, ruleId);
    if (versions.length === 0) throw new AppError('not_found');
    return versions;
  }
}

/** The version. Throws `not_found`, and `conflict` if it is in the state already. */
function assertNotIn(
  state: 'active' | 'retired',
  versions: queries.VersionState[],
  version: number,
): queries.VersionState {
  const found = versions.find((one) => one.version === version);
  if (!found) throw new AppError('not_found');
  if (found.state === state) throw conflict(`already_${state}`, `The version is already ${state}.`);
  return found;
}

function toTerms({ priority, when, then }: RuleDefinition): RuleTerms {
  return { priority, when: toCondition(when), then: toAction(then) };
}

function termsOf(stored: StoredRule): Pick<RuleTerms, 'when' | 'then'> {
  const { when, then } = readStored(stored);
  return { when, then };
}

function isTaken(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
