import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { assignBreaks, snoozeBreaks } from './break-plans.schema.js';
import { BreakPlans } from './break-plans.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BreakPlansController {
  constructor(
    private readonly plans: BreakPlans,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('reconcile')
  @Handles(assignBreaks)
  assign(@FromCaller() request: CallerInput<typeof assignBreaks>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: assignBreaks, request }, () =>
      this.plans.assign(request, body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(snoozeBreaks)
  snooze(@FromCaller() request: CallerInput<typeof snoozeBreaks>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: snoozeBreaks, request }, () =>
      this.plans.snooze(request, body),
    );
  }
}
