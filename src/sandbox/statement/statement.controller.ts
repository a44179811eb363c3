import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { listTransactions, listTransactionsV1, readBalances } from '../../contract/statement.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Statement } from './statement.service.js';

@Controller()
export class SandboxStatementController {
  constructor(private readonly statement: Statement) {}

  @Handles(listTransactions)
  list(
    @CurrentAccount() account: SandboxAccount,
    @Input() { query }: RouteInput<typeof listTransactions>,
  ) {
    return this.statement.list(account, query);
  }

  @Handles(listTransactionsV1)
  listV1(
    @CurrentAccount() account: SandboxAccount,
    @Input() { query }: RouteInput<typeof listTransactionsV1>,
  ) {
    return this.statement.list(account, query);
  }

  @Handles(readBalances)
  balances(@CurrentAccount() account: SandboxAccount) {
    return this.statement.readBalances(account);
  }
}
