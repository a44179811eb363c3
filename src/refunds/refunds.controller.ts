import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { refundTransaction } from '../contract/refunds.js';
import type { RouteInput } from '../contract/route.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, Input, type Reply } from '../platform/contract-route.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { RefundReading } from './refund-reading.service.js';
import { getRefundRoute, listRefundsRoute } from './refunds.schema.js';
import { RefundsService } from './refunds.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RefundsController {
  constructor(
    private readonly refunds: RefundsService,
    private readonly reading: RefundReading,
  ) {}

  @RequiresScope('refund')
  @Handles(refundTransaction)
  async refund(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof refundTransaction>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.refunds.refund(accountId, input, preferences);
  }

  @Handles(getRefundRoute)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getRefundRoute>,
  ) {
    return this.reading.get(accountId, params.id);
  }

  @Handles(listRefundsRoute)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listRefundsRoute>,
  ) {
    const page = readPage(query, isUuid);
    return toList(await this.reading.list(accountId, page, query), page, ({ id }) => id);
  }
}
