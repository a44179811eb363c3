// Tries a version of a rule over history: decides all lines of a period that rules may decide,
// with this version in place of the active one. A trial changes nothing but stores its result.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { fieldError } from '../../bank-contract/field-errors.js';
import { addDays, daysBetween } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError, conflict, invalidField, ruleBroken } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { newId } from '../../platform/ids.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { BankService } from '../../bank/bank.service.js';
import { loadOptionsOf } from '../load/component.queries.js';
import { decideByRules, payableByRules, toRuleLine, type RuleDecision } from '../decide/by-rule.js';
import { decide } from '../decide/decide.js';
import type { Facts, DeclaredRule } from '../decide/model.js';
import { loadComponents, loadAccount } from '../load/load.queries.js';
import { listActiveRules, lockRuleVersions } from '../load/rules.queries.js';
import * as queries from './rule-trials.queries.js';
import { covers, type AppliedRule } from '../decide/rule.js';
import { describeTrial } from './rule-views.js';
import type { trialView, tryRuleVersion } from './rules.schema.js';
import { readStored } from '../load/stored-rule.js';
import {
  outcomeByRule,
  storedChanges,
  trialFigures,
  type TrialChange,
  type TrialFigure,
} from './trial-changes.js';
import { TrialResult } from './trial-result.js';

const defaultDays = 90;
const maxDays = 400;
/** A trial over more undecided lines than this is refused. */
const maxLines = 50_000;

export interface TriedChanges {
  trial: z.output<typeof trialView>;
  figure: TrialFigure;
  changes: readonly TrialChange[];
  lines: readonly queries.TriedLine[];
  ruleNames: ReadonlyMap<string, string>;
}

interface TriedBy {
  accountId: number;
  actor: string;
}

interface Tried {
  tried: AppliedRule;
  /** With the version in trial in place of the active one. */
  rules: AppliedRule[];
  onPage: (lines: number) => Promise<void>;
}

type TrialDays = RouteInput<typeof tryRuleVersion>['body'];

@Injectable()
export class RuleTrials {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly bank: BankService,
    private readonly log: Log,
  ) {}

  /**
   * Starts a trial and returns the id of its run, whose progress `getRun` reads. Throws
   * `trial_running` while the account has another one.
   */
  async start(by: TriedBy, key: DeclaredRule, days: TrialDays): Promise<string> {
    const { accountId } = by;
    await this.period(accountId, days);
    const id = newId();
    await this.database.transaction(async (tx) => {
      const versions = await lockRuleVersions(tx, accountId, key.ruleId);
      if (!versions.some(({ version }) => version === key.version)) throw new AppError('not_found');
      if (await queries.hasUnfinishedRun(tx, accountId))
        throw conflict('trial_running', 'Another trial of the account is running.');
      await tx.ruleTrialRun.create({ data: { accountId, id, ...key } });
    });
    void this.finish(id, by, key, days);
    return id;
  }

  async getRun(accountId: number, key: { id: string; ruleId: string }): Promise<queries.TrialRun> {
    const run = await queries.findTrialRun(this.database.prisma, accountId, key);
    if (!run) throw new AppError('not_found');
    return run;
  }

  /** Never throws: nobody waits for it. */
  private async finish(id: string, by: TriedBy, key: DeclaredRule, days: TrialDays) {
    const { prisma } = this.database;
    const update = (change: Parameters<typeof queries.updateTrialRun>[3]) =>
      queries.updateTrialRun(prisma, by.accountId, id, change);
    try {
      const trial = await this.run(by, key, days, (lines) => update({ lines }));
      await update({ trialId: trial.id });
    } catch (error) {
      const isRefusal = error instanceof AppError;
      if (!isRefusal) this.log.error({ err: error, runId: id }, 'rule trial failed');
      const problem = isRefusal ? (error.details.reason ?? error.code) : 'failed';
      // Without the database, the run stays without progress, which shows that it has ended.
      await update({ problem }).catch((err: unknown) => {
        this.log.error({ err, runId: id }, 'rule trial run could not be ended');
      });
    }
  }

  /** `onPage` is called with the lines that were read so far. */
  async run(
    { accountId, actor }: TriedBy,
    key: DeclaredRule,
    days: TrialDays,
    onPage: (lines: number) => Promise<void> = () => Promise.resolve(),
  ) {
    const { prisma } = this.database;
    const period = await this.period(accountId, days);
    const found = await prisma.ruleVersion.findUnique({
      where: { accountId_ruleId_version: { accountId, ...key } },
    });
    if (!found) throw new AppError('not_found');
    const tried = readStored(found);
    // Rules that change while the trial runs are not in it: it counts from before they are read.
    const createdAt = await this.database.now();
    const active = await listActiveRules(prisma, accountId);
    const rules = [...active.filter(({ ruleId }) => ruleId !== key.ruleId), tried];
    const result = await this.runTrial(accountId, { tried, rules, onPage }, period);
    const data = { accountId, ...key, id: newId(), createdAt, ...period, ...result.toStored() };
    return this.database.transaction(async (tx) => {
      await tx.ruleHistoryEntry.create({ data: { accountId, ...key, action: 'tried', actor } });
      return describeTrial(await tx.ruleTrial.create({ data }));
    });
  }

  /** A trial with the stored lines of one figure, and what these lines are. */
  async getChanges(
    accountId: number,
    ruleId: string,
    { id, figure }: { id: string; figure: TrialFigure | null },
  ): Promise<TriedChanges> {
    const { prisma } = this.database;
    const found = await prisma.ruleTrial.findUnique({ where: { accountId_id: { accountId, id } } });
    if (found?.ruleId !== ruleId) throw new AppError('not_found');
    const trial = describeTrial(found);
    const shown = figure ?? trialFigures.find((one) => trial[one].count > 0) ?? 'matchedMore';
    const changes = storedChanges.parse(found.changes).filter((change) => change.figure === shown);
    const ruleIds = changes.flatMap(({ before, after }) => [before.ruleId, after.ruleId]);
    const rules = await prisma.rule.findMany({
      where: { accountId, id: { in: ruleIds.filter((one) => one !== null) } },
      select: { id: true, name: true },
    });
    return {
      trial,
      figure: shown,
      lines: await queries.listTriedLines(
        prisma,
        accountId,
        changes.map(({ nsu }) => nsu),
      ),
      changes,
      ruleNames: new Map(rules.map(({ id: of, name }) => [of, name])),
    };
  }

  private async period(accountId: number, days: TrialDays): Promise<queries.TrialPeriod> {
    const to = days.to ?? (await this.bankTime.today(accountId));
    const from = days.from ?? addDays(to, 1 - defaultDays);
    if (from > to) throw invalidField('$.from', fieldError('after_field', { field: 'to' }));
    if (daysBetween(from, to) >= maxDays)
      throw invalidField('$.from', `Must be at most ${maxDays} days before to.`);
    return { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
  }

  private async runTrial(
    accountId: number,
    { tried, rules, onPage }: Tried,
    period: queries.TrialPeriod,
  ): Promise<TrialResult> {
    const result = new TrialResult(tried.ruleId);
    const undecided: queries.HistoryLine[] = [];
    for await (const page of queries.readHistory(this.database.prisma, accountId, period)) {
      result.lines += page.length;
      undecided.push(...page.filter(({ isByRule, breakKind }) => isByRule || breakKind !== null));
      if (undecided.length > maxLines)
        throw ruleBroken(
          'period_too_long',
          `More than ${maxLines} lines without an outcome; try a shorter period.`,
        );
      const matched = page.filter((line) => line.isMatched && covers(tried.when, line));
      const conflicts = await this.findConflicts(accountId, tried, matched, period);
      for (const line of matched) {
        const conflict = conflicts.get(line.nsu);
        if (conflict && conflict.outcome !== 'nothing')
          result.addConflict(line, outcomeByRule(conflict));
      }
      await onPage(result.lines);
    }
    const decision = decide(await this.load(accountId, undecided, rules, period));
    for (const line of undecided) result.add(line, decision);
    return result;
  }

  /** What the rule alone would decide for lines that are matched by reference or by a person. */
  private async findConflicts(
    accountId: number,
    tried: AppliedRule,
    matched: readonly queries.HistoryLine[],
    period: queries.TrialPeriod,
  ): Promise<ReadonlyMap<bigint, RuleDecision>> {
    if (matched.length === 0) return new Map();
    const facts = await this.load(accountId, matched, [tried], period);
    const { component } = decide({ ...facts, rules: [] });
    const lines = matched.flatMap(({ nsu }) => component.lineByNsu.get(nsu) ?? []);
    const unpaid = payableByRules(component).filter(
      ({ paidCents, isMultiUse }) => paidCents === 0n && !isMultiUse,
    );
    return decideByRules(
      [tried],
      lines.map((line) => toRuleLine(component, line)),
      unpaid,
    );
  }

  /** The facts of these lines. What rules decided in the period is decided again. */
  private async load(
    accountId: number,
    lines: readonly queries.HistoryLine[],
    rules: readonly AppliedRule[],
    { from, until }: queries.TrialPeriod,
  ): Promise<Facts> {
    const options = loadOptionsOf(this.bank.profile);
    const seeds = { nsus: lines.map(({ nsu }) => nsu), expectedPaymentIds: [] };
    const { prisma } = this.database;
    const account = loadAccount(prisma, accountId, rules);
    const facts = await loadComponents(prisma, accountId, options, seeds, account);
    const inPeriod = facts.lines.filter(
      (line) => line.occurredAt >= from && line.occurredAt < until,
    );
    const nsus = new Set(inPeriod.map(({ nsu }) => nsu));
    const isKept = ({ nsu }: { nsu: bigint }) => !nsus.has(nsu);
    return {
      ...facts,
      finalMatches: facts.finalMatches.filter(isKept),
      finalClassifications: facts.finalClassifications.filter(isKept),
    };
  }
}
