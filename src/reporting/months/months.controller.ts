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
import { MonthClosing } from './month-closing.service.js';
import { MonthReader } from './month-reader.service.js';
import {
  acceptMonthItem,
  changeMonthPolicy,
  getMonth,
  getMonthPolicy,
  listMonths,
  reopenMonth,
  signMonth,
} from './months.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class MonthsController {
  constructor(
    private readonly reader: MonthReader,
    private readonly closing: MonthClosing,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listMonths)
  list(@FromCaller() { accountId, query }: CallerInput<typeof listMonths>) {
    return this.reader.list(accountId, query);
  }

  @Handles(getMonth)
  get(@FromCaller() { accountId, params }: CallerInput<typeof getMonth>) {
    return this.reader.get(accountId, params.month);
  }

  @Handles(getMonthPolicy)
  policy(@CalledBy() { accountId }: Caller) {
    return this.closing.listPolicies(accountId);
  }

  @RequiresScope('approve')
  @Handles(changeMonthPolicy)
  changePolicy(@FromCaller() request: CallerInput<typeof changeMonthPolicy>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeMonthPolicy, request }, () =>
      this.closing.changePolicy(request, body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(acceptMonthItem)
  accept(@FromCaller() request: CallerInput<typeof acceptMonthItem>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: acceptMonthItem, request }, () =>
      this.closing.accept(request, params.month, body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(signMonth)
  sign(@FromCaller() request: CallerInput<typeof signMonth>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: signMonth, request }, () =>
      this.closing.sign(request, params.month, body),
    );
  }

  @RequiresScope('approve')
  @Handles(reopenMonth)
  reopen(@FromCaller() request: CallerInput<typeof reopenMonth>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: reopenMonth, request }, () =>
      this.closing.reopen(request, params.month, body.reason),
    );
  }
}
