import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { shownList, shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { RefundViews } from './refund-views.service.js';
import { getRefundRoute, listRefundsRoute, refundWithMetadata } from './refunds.schema.js';
import { RefundsService } from './refunds.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RefundsController {
  constructor(
    private readonly refunds: RefundsService,
    private readonly views: RefundViews,
  ) {}

  @RequiresScope('refund')
  @BeginsOperation()
  @Handles(refundTransaction, refundWithMetadata)
  async refund(
    @FromCaller() request: CallerInput<typeof refundTransaction>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.refunds.refund(request.accountId, request, preferences);
  }

  @Handles(getRefundRoute)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getRefundRoute>) {
    return shownResponse(await this.views.get(accountId, params.id), scopes);
  }

  @Handles(listRefundsRoute)
  async list(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listRefundsRoute>) {
    const page = readPage(query, isUuid);
    return shownList(await this.views.list(accountId, page, query), scopes);
  }
}
