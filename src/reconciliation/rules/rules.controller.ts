// The API of the account's own rules: declare, try over history, activate, retire.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, readUuid } from '../../platform/http/listing.js';
import { RuleCatalog } from './rule-catalog.service.js';
import { RuleTrials } from './rule-trials.service.js';
import * as routes from './rules.schema.js';

/** Of a version, with the reason; activating and retiring have the same. */
type ChangeRequest = CallerInput<typeof routes.activateRuleVersion>;

@Controller()
@UseGuards(ApiKeyGuard)
export class RulesController {
  constructor(
    private readonly catalog: RuleCatalog,
    private readonly trials: RuleTrials,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('reconcile')
  @Handles(routes.createRule)
  create(@FromCaller() request: CallerInput<typeof routes.createRule>) {
    const { accountId, actor, body } = request;
    const { name, reason } = body;
    return this.idempotency.runOnce({ accountId, route: routes.createRule, request }, async () => {
      const by = { accountId, actor, reason };
      return this.catalog.get(accountId, await this.catalog.create(by, name, body));
    });
  }

  @RequiresScope('reconcile')
  @Handles(routes.createRuleVersion)
  addVersion(@FromCaller() request: CallerInput<typeof routes.createRuleVersion>) {
    const { accountId, actor, params, body } = request;
    const idempotent = { accountId, route: routes.createRuleVersion, request };
    return this.idempotency.runOnce(idempotent, async () => {
      const id = readUuid(params.id);
      await this.catalog.addVersion({ accountId, actor, reason: body.reason }, id, body);
      return this.catalog.get(accountId, id);
    });
  }

  @Handles(routes.listRules)
  list(@FromCaller() { accountId, query }: CallerInput<typeof routes.listRules>) {
    return this.catalog.list(accountId, readPage(query, isUuid));
  }

  @Handles(routes.getRule)
  get(@FromCaller() { accountId, params }: CallerInput<typeof routes.getRule>) {
    return this.catalog.get(accountId, readUuid(params.id));
  }

  @RequiresScope('reconcile')
  @Handles(routes.tryRuleVersion)
  runTrial(@FromCaller() request: CallerInput<typeof routes.tryRuleVersion>) {
    const { accountId, actor, params, body } = request;
    const idempotent = { accountId, route: routes.tryRuleVersion, request };
    return this.idempotency.runOnce(idempotent, () =>
      this.trials.run({ accountId, actor }, versionKey(params), body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(routes.activateRuleVersion)
  activate(@FromCaller() request: ChangeRequest) {
    return this.change(routes.activateRuleVersion, request, 'activate');
  }

  @RequiresScope('reconcile')
  @Handles(routes.retireRuleVersion)
  retire(@FromCaller() request: ChangeRequest) {
    return this.change(routes.retireRuleVersion, request, 'retire');
  }

  private change(
    route: typeof routes.activateRuleVersion,
    request: ChangeRequest,
    change: 'activate' | 'retire',
  ) {
    const { accountId, actor, params, body } = request;
    const { reason } = body;
    return this.idempotency.runOnce({ accountId, route, request }, async () => {
      const { ruleId: id, version } = versionKey(params);
      await this.catalog[change]({ accountId, actor, reason }, id, version);
      return this.catalog.get(accountId, id);
    });
  }
}

function versionKey({ id, version }: { id: string; version: string }) {
  if (!/^[1-9]\d{0,8}$/.test(version)) throw new AppError('not_found');
  return { ruleId: readUuid(id), version: Number(version) };
}
