// The API of the account's own rules: declare, try over history, activate, retire.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { RequiresScope } from '../../accounts/scope.decorator.js';
import type { RouteInput } from '../../contract/route.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage } from '../../platform/listing.js';
import { RuleCatalog } from './rule-catalog.service.js';
import { RuleTrials } from './rule-trials.service.js';
import * as routes from './rules.schema.js';

/** Of a version, with the reason; activating and retiring have the same. */
type ChangeRequest = RouteInput<typeof routes.activateRuleVersion>;

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
  create(
    @CalledBy() { accountId, keyId: actor }: Caller,
    @Input() request: RouteInput<typeof routes.createRule>,
  ) {
    const { name, reason } = request.body;
    return this.idempotency.runOnce({ accountId, route: routes.createRule, request }, async () => {
      const by = { accountId, actor, reason };
      return this.catalog.get(accountId, await this.catalog.create(by, name, request.body));
    });
  }

  @RequiresScope('reconcile')
  @Handles(routes.createRuleVersion)
  addVersion(
    @CalledBy() { accountId, keyId: actor }: Caller,
    @Input() request: RouteInput<typeof routes.createRuleVersion>,
  ) {
    const { params, body } = request;
    const idempotent = { accountId, route: routes.createRuleVersion, request };
    return this.idempotency.runOnce(idempotent, async () => {
      const id = ruleId(params.id);
      await this.catalog.addVersion({ accountId, actor, reason: body.reason }, id, body);
      return this.catalog.get(accountId, id);
    });
  }

  @Handles(routes.listRules)
  list(@CalledBy() { accountId }: Caller, @Input() { query }: RouteInput<typeof routes.listRules>) {
    return this.catalog.list(accountId, readPage(query, isUuid));
  }

  @Handles(routes.getRule)
  get(@CalledBy() { accountId }: Caller, @Input() { params }: RouteInput<typeof routes.getRule>) {
    return this.catalog.get(accountId, ruleId(params.id));
  }

  @RequiresScope('reconcile')
  @Handles(routes.tryRuleVersion)
  runTrial(
    @CalledBy() { accountId, keyId: actor }: Caller,
    @Input() request: RouteInput<typeof routes.tryRuleVersion>,
  ) {
    const idempotent = { accountId, route: routes.tryRuleVersion, request };
    return this.idempotency.runOnce(idempotent, () =>
      this.trials.run({ accountId, actor }, versionKey(request.params), request.body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(routes.activateRuleVersion)
  activate(@CalledBy() caller: Caller, @Input() request: ChangeRequest) {
    return this.change(caller, routes.activateRuleVersion, request, 'activate');
  }

  @RequiresScope('reconcile')
  @Handles(routes.retireRuleVersion)
  retire(@CalledBy() caller: Caller, @Input() request: ChangeRequest) {
    return this.change(caller, routes.retireRuleVersion, request, 'retire');
  }

  private change(
    { accountId, keyId: actor }: Caller,
    route: typeof routes.activateRuleVersion,
    request: ChangeRequest,
    change: 'activate' | 'retire',
  ) {
    return this.idempotency.runOnce({ accountId, route, request }, async () => {
      const { ruleId: id, version } = versionKey(request.params);
      const { reason } = request.body;
      await this.catalog[change]({ accountId, actor, reason }, id, version);
      return this.catalog.get(accountId, id);
    });
  }
}

/** Throws `not_found` for an id that is not a UUID. */
function ruleId(text: string): string {
  if (!isUuid(text)) throw new AppError('not_found');
  return text;
}

function versionKey({ id, version }: { id: string; version: string }) {
  if (!/^[1-9]\d{0,8}$/.test(version)) throw new AppError('not_found');
  return { ruleId: ruleId(id), version: Number(version) };
}
