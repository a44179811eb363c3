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
import { changeReasonCode, getReasonCodes } from './reason-codes.schema.js';
import { ReasonCodes } from './reason-codes.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class ReasonCodesController {
  constructor(
    private readonly codes: ReasonCodes,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(getReasonCodes)
  reasonCodes(@CalledBy() { accountId }: Caller) {
    return this.codes.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeReasonCode)
  change(@FromCaller() request: CallerInput<typeof changeReasonCode>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeReasonCode, request }, () =>
      this.codes.change(accountId, body, actor),
    );
  }
}
