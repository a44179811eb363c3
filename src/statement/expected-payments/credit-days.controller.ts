import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { changeCreditDays, getCreditDays } from './credit-days.schema.js';
import { CreditDaysSettings } from './credit-days.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class CreditDaysController {
  constructor(
    private readonly settings: CreditDaysSettings,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(getCreditDays)
  get(@CalledBy() { accountId }: Caller) {
    return this.settings.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeCreditDays)
  change(@FromCaller() request: CallerInput<typeof changeCreditDays>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeCreditDays, request }, () =>
      this.settings.change(accountId, body, actor),
    );
  }
}
