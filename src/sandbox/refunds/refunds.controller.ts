import { Controller } from '@nestjs/common';
import { refundTransaction } from '../../contract/refunds.js';
import type { RouteInput } from '../../contract/route.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { takePixBack } from './med.schema.js';
import { Refunds } from './refunds.service.js';

@Controller()
export class SandboxRefundsController {
  constructor(private readonly refunds: Refunds) {}

  @Handles(refundTransaction)
  refund(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params, query, body, idempotencyKey }: RouteInput<typeof refundTransaction>,
  ) {
    const reference = { filterBy: query.filterBy, id: params.transactionId };
    return this.refunds.refund(account, reference, body, idempotencyKey);
  }

  @Handles(takePixBack)
  takeBack(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof takePixBack>,
  ) {
    return this.refunds.takeBack(account, body);
  }
}
