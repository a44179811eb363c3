// Serves the contract's statement routes by relaying them to the bank. Drop-in clients read the
// bank's own statement, not the statement copy.
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { BankService } from '../bank/bank.service.js';
import type { RouteInput } from '../contract/route.js';
import {
  listTransactions,
  listTransactionsV1,
  readStatementPage,
  readStatementPageV1,
} from '../contract/statement.js';
import { Handles, Input, type Reply } from '../platform/contract-route.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class StatementController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  @Handles(listTransactions)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof readStatementPage>,
  ): Promise<Reply> {
    return this.bank.relay(readStatementPage, await this.accounts.get(accountId), input);
  }

  @Handles(listTransactionsV1)
  async listV1(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof readStatementPageV1>,
  ): Promise<Reply> {
    return this.bank.relay(readStatementPageV1, await this.accounts.get(accountId), input);
  }
}
