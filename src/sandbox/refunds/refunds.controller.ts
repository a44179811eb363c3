import { Controller } from '@nestjs/common';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { DisputeNotices } from './dispute-notices.service.js';
import { reportDispute, takePixBack } from './med.schema.js';
import { Refunds } from './refunds.service.js';

@Controller()
export class SandboxRefundsController {
  constructor(
    private readonly refunds: Refunds,
    private readonly disputes: DisputeNotices,
  ) {}

  @Handles(refundTransaction)
  refund(
    @AccountInput()
    { account, params, query, body, idempotencyKey }: AccountRequest<typeof refundTransaction>,
  ) {
    const reference = { filterBy: query.filterBy, id: params.transactionId };
    return this.refunds.refund(account, reference, body, idempotencyKey);
  }

  @Handles(takePixBack)
  takeBack(@AccountInput() { account, body }: AccountRequest<typeof takePixBack>) {
    return this.refunds.takeBack(account, body);
  }

  @Handles(reportDispute)
  reportDispute(@AccountInput() { account, body }: AccountRequest<typeof reportDispute>) {
    return this.disputes.send(account, body);
  }
}
