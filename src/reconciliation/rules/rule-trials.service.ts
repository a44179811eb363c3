// Tries a version of a rule over history: the same judgement as the book's, over all of a period's lines that rules decide
// about, with this version in the place of the active one. Reads only; what came of it is kept.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { addDays, daysBetween } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { Database, type Db } from '../../database.service.js';
import { AppError } from '../../platform/errors.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { listDeclared, listExpected, noKeys } from './rule-candidates.queries.js';
import { rule } from './rule-decision.js';
import * as queries from './rule-trials.queries.js';
import { isAbout, isOpen, waysToPay, wordsOf } from './rule.js';
import type { AppliedRule, RuledExpected, RuledLine } from './rule.js';
import { listActive, type VersionKey } from './rules.queries.js';
import { readStored } from './stored-rule.js';
import { readResult, TrialResult } from './trial-result.js';

const pageSize = 5_000;
const usualDays = 90;
const mostDays = 400;
/** More lines than this that nothing explains are no history to try a rule over at once. */
const mostLines = 50_000;

@Injectable()
export class RuleTrials {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  async run(
    { accountId, actor }: { accountId: number; actor: string },
    key: VersionKey,
    days: { from?: string | undefined; to?: string | undefined },
  ) {
    const { prisma } = this.database;
    const period = await this.period(accountId, days);
    const found = await prisma.ruleVersion.findUnique({
      where: { accountId_ruleId_version: { accountId, ...key } },
    });
    if (!found) throw new AppError('not_found');
    const tried = readStored(found);
    const active = await listActive(prisma, accountId);
    const rules = [...active.filter(({ ruleId }) => ruleId !== key.ruleId), tried];
    const result = await this.tryOut(accountId, tried, rules, period);
    const trial = { id: uuidv7(), ...period, result: result.toStored() };
    const createdAt = await this.database.transaction(async (tx) => {
      await tx.ruleHistoryEntry.create({ data: { accountId, ...key, action: 'tried', actor } });
      return queries.insertTrial(tx, accountId, key, trial);
    });
    return {
      id: trial.id,
      version: key.version,
      from: period.from.toISOString(),
      until: period.until.toISOString(),
      createdAt: createdAt.toISOString(),
      ...readResult(trial.result),
    };
  }

  private async period(
    accountId: number,
    days: { from?: string | undefined; to?: string | undefined },
  ): Promise<queries.Period> {
    const to = days.to ?? (await this.bankTime.today(accountId));
    const from = days.from ?? addDays(to, 1 - usualDays);
    const refuse = (path: string, message: string) =>
      new AppError('validation_failed', { errors: { [path]: [message] } });
    if (from > to) throw refuse('$.from', 'Must not be after to.');
    if (daysBetween(from, to) >= mostDays)
      throw refuse('$.from', `Must be at most ${mostDays} days before to.`);
    return { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
  }

  private async tryOut(
    accountId: number,
    tried: AppliedRule,
    rules: AppliedRule[],
    period: queries.Period,
  ): Promise<TrialResult> {
    const { prisma } = this.database;
    const result = new TrialResult(tried.ruleId);
    const decided: queries.PastLine[] = [];
    let after: queries.PastLine | null = null;
    do {
      const place = { after, limit: pageSize };
      const page: queries.PastLine[] = await queries.pageOfHistory(
        prisma,
        accountId,
        period,
        place,
      );
      result.lines += page.length;
      decided.push(...page.filter(({ isByRule, standing }) => isByRule || standing !== null));
      if (decided.length > mostLines)
        throw new AppError('rule_broken', {
          public: 'Too many lines without an explanation: try a shorter period.',
          reason: 'period_too_long',
        });
      const settled = page.filter(({ isMatched }) => isMatched);
      for (const nsu of await this.conflictsOf(accountId, tried, settled, period))
        result.conflicts.add(nsu);
      after = page.length === pageSize ? (page.at(-1) ?? null) : null;
    } while (after !== null);
    const expected = await expectedOf(prisma, accountId, decided, period);
    const rulings = rule(rules, decided, expected.filter(isOpen));
    for (const line of decided) result.add(line, rulings.get(line.nsu) ?? { of: 'nothing' });
    return result;
  }

  /** Lines that ids or a person matched, and that the rule alone would see otherwise. */
  private async conflictsOf(
    accountId: number,
    { when, then }: AppliedRule,
    settled: RuledLine[],
    period: queries.Period,
  ): Promise<bigint[]> {
    const about = settled.filter((line) => isAbout(when, line));
    if (then.do === 'classify') return about.map(({ nsu }) => nsu);
    if (about.length === 0) return [];
    const expected = await expectedOf(this.database.prisma, accountId, about, period);
    const unpaid = expected.filter((each) => each.paidCents === 0n && !each.isMultiUse);
    if (unpaid.length === 0) return [];
    const near = new Map<string, RuledExpected[]>();
    for (const each of unpaid)
      for (const key of [each.counterpartyDocument, ...each.names])
        if (key !== null) near.set(key, [...(near.get(key) ?? []), each]);
    const nearTo = (line: RuledLine) =>
      [line.counterpartyDocument ?? '', ...wordsOf(line.notes)].flatMap(
        (key) => near.get(key) ?? [],
      );
    return about
      .filter((line) => waysToPay(then, line, [...new Set(nearTo(line))]).length > 0)
      .map(({ nsu }) => nsu);
  }
}

/** What lines may pay, where all that rules matched in the period is decided again. */
async function expectedOf(
  db: Db,
  accountId: number,
  lines: RuledLine[],
  period: queries.Period,
): Promise<RuledExpected[]> {
  const found = new Map<string, RuledExpected>();
  for (let from = 0; from < lines.length; from += pageSize) {
    const page = lines.slice(from, from + pageSize);
    const nsus = page.map(({ nsu }) => nsu);
    const paid = await listDeclared(db, accountId, nsus);
    const documents = page.map(({ counterpartyDocument }) => counterpartyDocument);
    const keys = {
      ...noKeys,
      documents: [...new Set(documents)].filter((document) => document !== null),
      names: [...new Set(page.flatMap(({ notes }) => wordsOf(notes)))],
      expectedPaymentIds: paid.flatMap(({ expectedPaymentId: id }) => id ?? []),
    };
    for (const each of await listExpected(db, accountId, keys, queries.isWithin(period)))
      found.set(each.expectedPaymentId, each);
  }
  return [...found.values()];
}
