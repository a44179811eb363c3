import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { AlertRules, channelIdsOf, type RuleWithChannels } from './alert-rules.service.js';
import { readCondition } from './conditions.schema.js';
import {
  createAlertRule,
  deleteAlertRule,
  getAlertRule,
  listAlertRules,
  updateAlertRule,
} from './rules.schema.js';

/** The API of alert rules. */
@Controller()
@UseGuards(ApiKeyGuard)
export class AlertRulesController {
  constructor(
    private readonly rules: AlertRules,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('alerts')
  @Handles(createAlertRule)
  create(@FromCaller() request: CallerInput<typeof createAlertRule>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: createAlertRule, request }, async () =>
      describeRule(await this.rules.create(accountId, body)),
    );
  }

  @Handles(listAlertRules)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listAlertRules>) {
    const page = readPage(query, isUuid);
    return toList(await this.rules.listPage(accountId, page), page, ({ id }) => id, describeRule);
  }

  @Handles(getAlertRule)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getAlertRule>) {
    return describeRule(await this.rules.get(accountId, readUuid(params.id)));
  }

  @RequiresScope('alerts')
  @Handles(updateAlertRule)
  update(@FromCaller() request: CallerInput<typeof updateAlertRule>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: updateAlertRule, request }, async () =>
      describeRule(await this.rules.update(accountId, readUuid(params.id), body)),
    );
  }

  @RequiresScope('alerts')
  @Handles(deleteAlertRule)
  remove(@FromCaller() request: CallerInput<typeof deleteAlertRule>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: deleteAlertRule, request }, async () => {
      const clearedAlerts = await this.rules.remove(accountId, readUuid(params.id));
      return { ...params, clearedAlerts };
    });
  }
}

function describeRule(stored: RuleWithChannels) {
  const { channels: _, condition, ...rule } = stored;
  return {
    ...{ ...rule, condition: readCondition(condition) },
    channelIds: channelIdsOf(stored, false),
    escalationChannelIds: channelIdsOf(stored, true),
  };
}
