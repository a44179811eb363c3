// Tries a version of a rule over history: decides all lines of a period that rules may decide,
// with this version in place of the active one. A trial changes nothing but stores its result.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { addDays, daysBetween } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { RouteInput } from '../../contract/route.js';
import { Database, type Db } from '../../database.service.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { listRuleExpectedPayments } from './rule-candidates.queries.js';
import { decideByRules } from '../decide/rule-decision.js';
import * as queries from './rule-trials.queries.js';
import { covers, isOpen, findPaymentOptions, findPossibleIds } from '../decide/rule.js';
import type { DeclaredRule } from '../decide/outcome.js';
import type { AppliedRule, RuleExpectedPayment, RuleLine } from '../decide/rule.js';
import { describeTrial } from './rule-views.js';
import { listActiveRules } from './rules.queries.js';
import type { tryRuleVersion } from './rules.schema.js';
import { readStored } from './stored-rule.js';
import { TrialResult } from './trial-result.js';

const defaultDays = 90;
const maxDays = 400;
/** A trial over more undecided lines than this is refused. */
const maxLines = 50_000;

type TrialDays = RouteInput<typeof tryRuleVersion>['body'];

@Injectable()
export class RuleTrials {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  async run(
    { accountId, actor }: { accountId: number; actor: string },
    key: DeclaredRule,
    days: TrialDays,
  ) {
    const { prisma } = this.database;
    const period = await this.period(accountId, days);
    const found = await prisma.ruleVersion.findUnique({
      where: { accountId_ruleId_version: { accountId, ...key } },
    });
    if (!found) throw new AppError('not_found');
    const tried = readStored(found);
    const active = await listActiveRules(prisma, accountId);
    const rules = [...active.filter(({ ruleId }) => ruleId !== key.ruleId), tried];
    const result = await this.runTrial(accountId, tried, rules, period);
    const data = { accountId, ...key, id: uuidv7(), ...period, result: result.toStored() };
    return this.database.transaction(async (tx) => {
      await tx.ruleHistoryEntry.create({ data: { accountId, ...key, action: 'tried', actor } });
      return describeTrial(await tx.ruleTrial.create({ data }));
    });
  }

  private async period(accountId: number, days: TrialDays): Promise<queries.TrialPeriod> {
    const to = days.to ?? (await this.bankTime.today(accountId));
    const from = days.from ?? addDays(to, 1 - defaultDays);
    if (from > to) throw invalidField('$.from', 'Must not be after to.');
    if (daysBetween(from, to) >= maxDays)
      throw invalidField('$.from', `Must be at most ${maxDays} days before to.`);
    return { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
  }

  private async runTrial(
    accountId: number,
    tried: AppliedRule,
    rules: AppliedRule[],
    period: queries.TrialPeriod,
  ): Promise<TrialResult> {
    const { prisma } = this.database;
    const result = new TrialResult(tried.ruleId);
    const decided: queries.HistoryLine[] = [];
    for await (const page of queries.readHistory(prisma, accountId, period)) {
      result.lines += page.length;
      decided.push(...page.filter(({ isByRule, breakKind }) => isByRule || breakKind !== null));
      if (decided.length > maxLines)
        throw new AppError('rule_broken', {
          public: `More than ${maxLines} lines without an outcome; try a shorter period.`,
          reason: 'period_too_long',
        });
      const matched = page.filter(({ isMatched }) => isMatched);
      for (const nsu of await this.findConflicts(accountId, tried, matched, period))
        result.conflicts.add(nsu);
    }
    const expected = await listExpectedPaymentsOf(prisma, accountId, decided, period);
    const decisions = decideByRules(rules, decided, expected.filter(isOpen));
    for (const line of decided) result.add(line, decisions.get(line.nsu) ?? { outcome: 'nothing' });
    return result;
  }

  /** Lines matched by reference or manually that the rule alone would decide otherwise. */
  private async findConflicts(
    accountId: number,
    { when, then }: AppliedRule,
    matched: RuleLine[],
    period: queries.TrialPeriod,
  ): Promise<bigint[]> {
    const covered = matched.filter((line) => covers(when, line));
    if (then.do === 'classify') return covered.map(({ nsu }) => nsu);
    if (covered.length === 0) return [];
    const expected = await listExpectedPaymentsOf(this.database.prisma, accountId, covered, period);
    const unpaid = expected.filter((each) => each.paidCents === 0n && !each.isMultiUse);
    if (unpaid.length === 0) return [];
    const unpaidByKey = new Map<string, RuleExpectedPayment[]>();
    for (const each of unpaid)
      for (const key of [each.counterpartyDocument, ...each.referenceValues])
        if (key !== null) unpaidByKey.set(key, [...(unpaidByKey.get(key) ?? []), each]);
    const candidatesOf = (line: RuleLine) =>
      [line.counterpartyDocument ?? '', ...findPossibleIds(line.notes)].flatMap(
        (key) => unpaidByKey.get(key) ?? [],
      );
    return covered
      .filter((line) => findPaymentOptions(then, line, [...new Set(candidatesOf(line))]).length > 0)
      .map(({ nsu }) => nsu);
  }
}

/** The expected payments that the lines may pay, without payments by rules in the period. */
async function listExpectedPaymentsOf(
  db: Db,
  accountId: number,
  lines: RuleLine[],
  period: queries.TrialPeriod,
): Promise<RuleExpectedPayment[]> {
  const found = new Map<string, RuleExpectedPayment>();
  for (let from = 0; from < lines.length; from += queries.pageSize) {
    const page = lines.slice(from, from + queries.pageSize);
    const nsus = page.map(({ nsu }) => nsu);
    const paid = await db.match.findMany({
      where: { accountId, nsu: { in: nsus }, rule: 'declared', unlinkedAt: null },
      select: { expectedPaymentId: true },
    });
    const documents = page.map(({ counterpartyDocument }) => counterpartyDocument);
    const keys = {
      documents: [...new Set(documents)].filter((document) => document !== null),
      referenceValues: [...new Set(page.flatMap(({ notes }) => findPossibleIds(notes)))],
      expectedPaymentIds: paid.map(({ expectedPaymentId }) => expectedPaymentId),
    };
    for (const each of await listRuleExpectedPayments(
      db,
      accountId,
      keys,
      queries.isInTrialPeriod(period),
    ))
      found.set(each.expectedPaymentId, each);
  }
  return [...found.values()];
}
