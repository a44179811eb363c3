import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { RequiresScope } from '../../accounts/scope.decorator.js';
import type { RouteInput } from '../../contract/route.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { changeRefundPolicies, getRefundPolicies } from './refund-policies.schema.js';
import { RefundPolicies } from './refund-policies.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RefundPoliciesController {
  constructor(
    private readonly policies: RefundPolicies,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(getRefundPolicies)
  get(@CalledBy() { accountId }: Caller) {
    return this.policies.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeRefundPolicies)
  change(
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
