import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { BankService } from '../bank/bank.service.js';
import { getBill, payBill } from '../contract/bill-payments.js';
import type { RouteInput } from '../contract/route.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, Input, type Reply } from '../platform/contract-route.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { BillPaymentViews } from './bill-payment-views.service.js';
import { getBillPaymentRoute, listBillPaymentsRoute } from './bill-payments.schema.js';
import { BillPaymentsService } from './bill-payments.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BillPaymentsController {
  constructor(
    private readonly payments: BillPaymentsService,
    private readonly views: BillPaymentViews,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  @Handles(getBill)
  async getBill(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof getBill>,
  ): Promise<Reply> {
    return this.bank.relay(getBill, await this.accounts.get(accountId), input);
  }

  @RequiresScope('pay')
  @Handles(payBill)
  async pay(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof payBill>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.payments.pay(accountId, input, preferences);
  }

  @Handles(getBillPaymentRoute)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getBillPaymentRoute>,
  ) {
    return this.views.get(accountId, params.id);
  }

  @Handles(listBillPaymentsRoute)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listBillPaymentsRoute>,
  ) {
    const page = readPage(query, isUuid);
    return toList(await this.views.list(accountId, page, query), page, ({ id }) => id);
  }
}
