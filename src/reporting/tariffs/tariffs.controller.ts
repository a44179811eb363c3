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
import { Handles, type StreamedReply } from '../../platform/http/contract-route.js';
import { replyWith } from '../exports/exports.controller.js';
import { FeeChecks } from './fee-checks.service.js';
import { PriceLists } from './price-lists.service.js';
import { changePriceList, exportFees, getFeeCheck, getPriceList } from './tariffs.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class TariffsController {
  constructor(
    private readonly lists: PriceLists,
    private readonly checks: FeeChecks,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(getPriceList)
  priceList(@CalledBy() { accountId }: Caller) {
    return this.lists.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changePriceList)
  change(@FromCaller() request: CallerInput<typeof changePriceList>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changePriceList, request }, () =>
      this.lists.change(accountId, body, actor),
    );
  }

  @Handles(getFeeCheck)
  check(@FromCaller() { accountId, params }: CallerInput<typeof getFeeCheck>) {
    return this.checks.get(accountId, params.month);
  }

  @Handles(exportFees)
  async file(
    @FromCaller() { accountId, params, query }: CallerInput<typeof exportFees>,
  ): Promise<StreamedReply> {
    return replyWith(await this.checks.file(accountId, params.month, query));
  }
}
