import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import {
  amendPayment,
  cancelPayment,
  declarePayment,
  getDeclaredPayment,
  toTerms,
} from './declared-payments.schema.js';
import { DeclaredPayments } from './declared-payments.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class DeclaredPaymentsController {
  constructor(
    private readonly payments: DeclaredPayments,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('expect')
  @Handles(declarePayment)
  declare(@FromCaller() request: CallerInput<typeof declarePayment>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: declarePayment, request }, async () => {
      const author = { accountId, actor, reason: null };
      const { id } = await this.payments.declare(author, body.externalId, toTerms(body));
      return this.show(request, id);
    });
  }

  @Handles(getDeclaredPayment)
  get(@FromCaller() request: CallerInput<typeof getDeclaredPayment>) {
    return this.show(request, request.params.id);
  }

  @RequiresScope('expect')
  @Handles(amendPayment)
  amend(@FromCaller() request: CallerInput<typeof amendPayment>) {
    const { accountId, actor, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: amendPayment, request }, async () => {
      const author = { accountId, actor, reason: body.reason };
      const id = await this.payments.amend(author, params.id, body);
      return this.show(request, id);
    });
  }

  @RequiresScope('expect')
  @Handles(cancelPayment)
  cancel(@FromCaller() request: CallerInput<typeof cancelPayment>) {
    const { accountId, actor, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: cancelPayment, request }, async () => {
      const author = { accountId, actor, reason: body.reason };
      const id = await this.payments.cancel(author, params.id);
      return this.show(request, id);
    });
  }

  private show({ accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>, name: string) {
    return this.payments.get(accountId, name, { isVisible: seesPersonalData(scopes) });
  }
}
