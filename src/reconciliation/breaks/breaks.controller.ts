import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { RequiresScope } from '../../accounts/scope.decorator.js';
import type { RouteInput } from '../../contract/route.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { BreakActions } from './break-actions.service.js';
import { BreakReading } from './break-reading.service.js';
import { actOnBreak, actOnBreaks, getBreak, listBreaks } from './breaks.schema.js';
import { changeRefundPolicies, getRefundPolicies } from './refund-policies.schema.js';
import { RefundPolicies } from './refund-policies.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BreaksController {
  constructor(
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly policies: RefundPolicies,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listBreaks)
  list(@CalledBy() { accountId }: Caller, @Input() { query }: RouteInput<typeof listBreaks>) {
    return this.reading.list(accountId, query);
  }

  @Handles(getBreak)
  get(@CalledBy() { accountId }: Caller, @Input() { params }: RouteInput<typeof getBreak>) {
    return this.reading.get(accountId, params.id);
  }

  @RequiresScope('reconcile')
  @Handles(actOnBreaks)
  actOnMany(@CalledBy() caller: Caller, @Input() request: RouteInput<typeof actOnBreaks>) {
    const { accountId } = caller;
    return this.idempotency.runOnce({ accountId, route: actOnBreaks, request }, () =>
      this.actions.actOnMany(caller, request.body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(actOnBreak)
  act(@CalledBy() caller: Caller, @Input() request: RouteInput<typeof actOnBreak>) {
    const { accountId } = caller;
    const { id } = request.params;
    return this.idempotency.runOnce({ accountId, route: actOnBreak, request }, async () => {
      await this.actions.act(caller, id, request.body);
      return this.reading.get(accountId, id);
    });
  }

  @Handles(getRefundPolicies)
  refundPolicies(@CalledBy() { accountId }: Caller) {
    return this.policies.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeRefundPolicies)
  changePolicies(
    @CalledBy() { accountId, keyId, scopes }: Caller,
    @Input() request: RouteInput<typeof changeRefundPolicies>,
  ) {
    // A policy sends money, so switching it on needs the scope `refund` too.
    if (!scopes.includes('refund')) throw new AppError('forbidden');
    return this.idempotency.runOnce({ accountId, route: changeRefundPolicies, request }, () =>
      this.policies.change(accountId, request.body, keyId),
    );
  }
}
