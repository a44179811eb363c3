// The alert rules of an account, and the channels that each of them names.
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { AlertRule } from '../../generated/service/client.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { Page } from '../../platform/http/listing.js';
import { assertBelowQuota, type Quota } from '../../platform/limits/quotas.queries.js';
import { clearAlertsOf } from './alerts.queries.js';
import { conditionText, isOfAlarms } from './conditions.schema.js';
import type { AlertRuleChanges, NewAlertRule } from './rules.schema.js';

const maxRules = 50;
const include = { channels: { orderBy: { channelId: 'asc' } } } as const;

export type RuleWithChannels = AlertRule & {
  channels: { channelId: string; isEscalation: boolean }[];
};

/** The ids of the channels that get its messages at once, or only what escalates. */
export const channelIdsOf = (
  { channels }: Pick<RuleWithChannels, 'channels'>,
  isEscalation: boolean,
): string[] =>
  channels.filter((one) => one.isEscalation === isEscalation).map(({ channelId }) => channelId);

@Injectable()
export class AlertRules {
  constructor(private readonly database: Database) {}

  /** Throws `conflict` at the quota, and `validation_failed` for a channel that does not exist. */
  async create(
    accountId: number,
    { condition, channelIds, escalationChannelIds, groupSeconds, ...fields }: NewAlertRule,
  ): Promise<RuleWithChannels> {
    const id = newId();
    const { kind: conditionKind } = condition;
    return this.database.transaction(async (tx) => {
      const quota: Quota = {
        ...{ accountId, limit: maxRules, code: 'alert_rule_limit', name: 'alert rules' },
      };
      await assertBelowQuota(tx, quota, () =>
        tx.alertRule.count({ where: { accountId, deletedAt: null } }),
      );
      await tx.alertRule.create({
        data: {
          ...{ ...fields, accountId, id, conditionKind, condition: conditionText(condition) },
          groupSeconds: groupSeconds ?? (isOfAlarms(condition) ? 0 : 60),
        },
      });
      await nameChannels(tx, accountId, id, { channelIds, escalationChannelIds });
      return getRule(tx, accountId, id);
    });
  }

  async listPage(accountId: number, { after, limit }: Page): Promise<RuleWithChannels[]> {
    return this.database.prisma.alertRule.findMany({
      where: { accountId, deletedAt: null, id: { lt: after ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit + 1,
      include,
    });
  }

  /** Throws `not_found`, also for a rule of another account and for a removed rule. */
  async get(accountId: number, id: string): Promise<RuleWithChannels> {
    return getRule(this.database.prisma, accountId, id);
  }

  async update(
    accountId: number,
    id: string,
    { condition, channelIds, escalationChannelIds, ...fields }: AlertRuleChanges,
  ): Promise<RuleWithChannels> {
    const updatedAt = await this.database.now();
    const changes = Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined),
    );
    const stored = condition && {
      conditionKind: condition.kind,
      condition: conditionText(condition),
    };
    return this.database.transaction(async (tx) => {
      const before = await getRule(tx, accountId, id);
      await tx.alertRule.update({
        where: { accountId_id: { accountId, id } },
        data: { ...changes, ...stored, updatedAt },
      });
      if (channelIds ?? escalationChannelIds) {
        await tx.alertRuleChannel.deleteMany({ where: { accountId, ruleId: id } });
        await nameChannels(tx, accountId, id, {
          channelIds: channelIds ?? channelIdsOf(before, false),
          escalationChannelIds: escalationChannelIds ?? channelIdsOf(before, true),
        });
      }
      if (fields.isEnabled === false)
        await clearAlertsOf(tx, { accountId, ruleId: id }, 'rule_disabled');
      return getRule(tx, accountId, id);
    });
  }

  /** Returns how many alerts were open, and are cleared now. */
  async remove(accountId: number, id: string): Promise<number> {
    const deletedAt = await this.database.now();
    return this.database.transaction(async (tx) => {
      await getRule(tx, accountId, id);
      await tx.alertRule.update({
        where: { accountId_id: { accountId, id } },
        data: { deletedAt },
      });
      return clearAlertsOf(tx, { accountId, ruleId: id }, 'rule_removed');
    });
  }
}

async function getRule(
  db: Pick<Tx, 'alertRule'>,
  accountId: number,
  id: string,
): Promise<RuleWithChannels> {
  const rule = await db.alertRule.findFirst({ where: { accountId, id, deletedAt: null }, include });
  if (!rule) throw new AppError('not_found');
  return rule;
}

async function nameChannels(
  tx: Tx,
  accountId: number,
  ruleId: string,
  named: Record<'channelIds' | 'escalationChannelIds', readonly string[]>,
): Promise<void> {
  for (const [field, ids] of Object.entries(named)) {
    const known = await tx.alertChannel.count({
      where: { accountId, id: { in: [...ids] }, deletedAt: null },
    });
    if (known < ids.length)
      throw invalidField(`$.${field}`, 'Must be ids of alert channels of the account.');
  }
  const { channelIds, escalationChannelIds: later } = named;
  if (later.some((id) => channelIds.includes(id)))
    throw invalidField('$.escalationChannelIds', 'Must be other channels than channelIds.');
  await tx.alertRuleChannel.createMany({
    data: [...channelIds, ...later].map((channelId) => {
      return { accountId, ruleId, channelId, isEscalation: later.includes(channelId) };
    }),
  });
}
