// Reads rules for the API: versions, trials and history.
import { Injectable } from '@nestjs/common';
import { Database } from '../../database.service.js';
import type {
  Rule,
  RuleHistoryEntry,
  RuleTrial,
  RuleVersion,
} from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import type { Page } from '../../platform/listing.js';
import { describeAction, describeCondition } from './rule-views.js';
import { readStored } from './stored-rule.js';
import { readResult, type StoredResult } from './trial-result.js';

/** How many of a rule's newest trials are shown. */
const trialsShown = 50;

@Injectable()
export class RuleReader {
  constructor(private readonly database: Database) {}

  async get(accountId: number, id: string) {
    const [rule] = await this.list(accountId, [id]);
    if (!rule) throw new AppError('not_found');
    return rule;
  }

  /** The ids of one page and the next id, newest first. */
  async listIds(accountId: number, { limit, after }: Page): Promise<string[]> {
    const rows = await this.database.prisma.rule.findMany({
      where: { accountId, ...(after ? { id: { lt: after } } : {}) },
      orderBy: { id: 'desc' },
      take: limit + 1,
      select: { id: true },
    });
    return rows.map(({ id }) => id);
  }

  /** The rules with these ids, newest first. */
  async list(accountId: number, ids: string[]) {
    const { prisma } = this.database;
    const ofRules = { accountId, ruleId: { in: ids } };
    const [rules, versions, trials, entries] = await Promise.all([
      prisma.rule.findMany({ where: { accountId, id: { in: ids } }, orderBy: { id: 'desc' } }),
      prisma.ruleVersion.findMany({ where: ofRules, orderBy: { version: 'asc' } }),
      prisma.ruleTrial.findMany({
        where: ofRules,
        orderBy: { createdAt: 'desc' },
        take: trialsShown * ids.length,
      }),
      prisma.ruleHistoryEntry.findMany({ where: ofRules, orderBy: { createdAt: 'asc' } }),
    ]);
    return rules.map((rule) => describe(rule, { versions, trials, entries }));
  }
}

interface Parts {
  versions: RuleVersion[];
  trials: RuleTrial[];
  entries: RuleHistoryEntry[];
}

function describe({ id, name, origin, createdAt }: Rule, { versions, trials, entries }: Parts) {
  const own = versions.filter(({ ruleId }) => ruleId === id);
  return {
    id,
    name,
    origin,
    createdAt: createdAt.toISOString(),
    activeVersion: own.find(({ state }) => state === 'active')?.version ?? null,
    versions: own.map((version) => {
      const isOfIt = (one: RuleTrial | RuleHistoryEntry) =>
        one.ruleId === id && one.version === version.version;
      return {
        ...describeVersion(version),
        trials: trials.filter(isOfIt).map(describeTrial),
        steps: entries.filter(isOfIt).map(({ action, actor, reason, createdAt: at }) => ({
          action,
          actor,
          reason,
          at: at.toISOString(),
        })),
      };
    }),
  };
}

function describeVersion(version: RuleVersion) {
  const { when, then } = readStored(version);
  return {
    version: version.version,
    state: version.state as 'draft' | 'active' | 'retired',
    priority: version.priority,
    when: describeCondition(when),
    then: describeAction(then),
    reason: version.reason,
    madeBy: version.madeBy,
    createdAt: version.createdAt.toISOString(),
    activatedAt: version.activatedAt?.toISOString() ?? null,
    retiredAt: version.retiredAt?.toISOString() ?? null,
  };
}

function describeTrial({ id, version, from, until, createdAt, result }: RuleTrial) {
  return {
    id,
    version,
    from: from.toISOString(),
    until: until.toISOString(),
    createdAt: createdAt.toISOString(),
    // Written by `toStored` alone.
    ...readResult(result as unknown as StoredResult),
  };
}
