// Serves the contract's statement routes by relaying them to the bank. Drop-in clients read the
// bank's own statement, not the statement copy.
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { BankService } from '../../bank/bank.service.js';
import {
  listTransactions,
  listTransactionsV1,
  readBalances,
} from '../../bank-contract/statement.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { CallsBank } from '../../platform/http/responses.decorator.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class StatementController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  @CallsBank()
  @Handles(listTransactions)
  async list(@FromCaller() request: CallerInput<typeof listTransactions>): Promise<Reply> {
    return this.bank.relay(listTransactions, await this.accounts.get(request.accountId), request);
  }

  @CallsBank()
  @Handles(listTransactionsV1)
  async listV1(@FromCaller() request: CallerInput<typeof listTransactionsV1>): Promise<Reply> {
    return this.bank.relay(listTransactionsV1, await this.accounts.get(request.accountId), request);
  }

  /** Beyond the contract, where the bank has it. */
  @CallsBank()
  @Handles(readBalances)
  async balances(@FromCaller() request: CallerInput<typeof readBalances>): Promise<Reply> {
    return this.bank.relay(readBalances, await this.accounts.get(request.accountId), request);
  }
}
