import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { BankService } from '../../bank/bank.service.js';
import { getBill, payBill } from '../../bank-contract/bill-payments.js';
import { shownList, shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { CallsBank } from '../../platform/http/responses.decorator.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { BillPaymentViews } from './bill-payment-views.service.js';
import {
  getBillPaymentRoute,
  listBillPaymentsRoute,
  payBillWithMetadata,
} from './bill-payments.schema.js';
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

  @CallsBank()
  @Handles(getBill)
  async getBill(@FromCaller() request: CallerInput<typeof getBill>): Promise<Reply> {
    return this.bank.relay(getBill, await this.accounts.get(request.accountId), request);
  }

  @RequiresScope('pay')
  @BeginsOperation()
  @Handles(payBill, payBillWithMetadata)
  async pay(
    @FromCaller() request: CallerInput<typeof payBill>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.payments.pay(request.accountId, request, preferences);
  }

  @Handles(getBillPaymentRoute)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getBillPaymentRoute>) {
    return shownResponse(await this.views.get(accountId, params.id), scopes);
  }

  @Handles(listBillPaymentsRoute)
  async list(
    @FromCaller() { accountId, query, scopes }: CallerInput<typeof listBillPaymentsRoute>,
  ) {
    const page = readPage(query, isUuid);
    return shownList(await this.views.list(accountId, page, query), scopes);
  }
}
