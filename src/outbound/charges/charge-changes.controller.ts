// Serves what clients of the bank use beyond the contract: the charge or static QR code as the bank
// has it, the void of a charge and its due date.
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { BankService } from '../../bank/bank.service.js';
import { changeDueDate, getCharge, listCharges, voidCharge } from '../../bank-contract/charges.js';
import { getStaticQr, listStaticQrPayments } from '../../bank-contract/static-qr.js';
import { refusingMetadata } from '../../statement/expected-payments/metadata.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { CallsBank } from '../../platform/http/responses.decorator.js';
import { ChargeChanges } from './charge-changes.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class ChargeChangesController {
  constructor(
    private readonly changes: ChargeChanges,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  @RequiresScope('charge')
  @BeginsOperation()
  @Handles(voidCharge)
  async void(
    @FromCaller() request: CallerInput<typeof voidCharge>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.changes.void(request.accountId, request, preferences);
  }

  @RequiresScope('charge')
  @BeginsOperation()
  @Handles(changeDueDate, refusingMetadata(changeDueDate))
  async changeDueDate(
    @FromCaller() request: CallerInput<typeof changeDueDate>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.changes.changeDueDate(request.accountId, request, preferences);
  }

  @CallsBank()
  @Handles(getCharge)
  async get(@FromCaller() request: CallerInput<typeof getCharge>): Promise<Reply> {
    return this.bank.relay(getCharge, await this.accounts.get(request.accountId), request);
  }

  @CallsBank()
  @Handles(listCharges)
  async list(@FromCaller() request: CallerInput<typeof listCharges>): Promise<Reply> {
    return this.bank.relay(listCharges, await this.accounts.get(request.accountId), request);
  }

  @CallsBank()
  @Handles(getStaticQr)
  async getStaticQr(@FromCaller() request: CallerInput<typeof getStaticQr>): Promise<Reply> {
    return this.bank.relay(getStaticQr, await this.accounts.get(request.accountId), request);
  }

  @CallsBank()
  @Handles(listStaticQrPayments)
  async listStaticQrPayments(
    @FromCaller() request: CallerInput<typeof listStaticQrPayments>,
  ): Promise<Reply> {
    const account = await this.accounts.get(request.accountId);
    return this.bank.relay(listStaticQrPayments, account, request);
  }
}
