import { Controller } from '@nestjs/common';
import {
  listTransactions,
  listTransactionsV1,
  readBalances,
  readSandboxAccount,
} from '../../bank-contract/statement.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { bank, holderOf } from '../accounts/party.js';
import { Statement } from './statement.service.js';

@Controller()
export class SandboxStatementController {
  constructor(private readonly statement: Statement) {}

  @Handles(listTransactions)
  list(@AccountInput() { account, query }: AccountRequest<typeof listTransactions>) {
    return this.statement.list(account, query);
  }

  @Handles(listTransactionsV1)
  listV1(@AccountInput() { account, query }: AccountRequest<typeof listTransactionsV1>) {
    return this.statement.list(account, query);
  }

  @Handles(readBalances)
  balances(@AccountInput() { account }: AccountRequest<typeof readBalances>) {
    return this.statement.readBalances(account);
  }

  @Handles(readSandboxAccount)
  account(@AccountInput() { account }: AccountRequest<typeof readSandboxAccount>) {
    const { branch, number } = account;
    return { bank, branch, number, holder: holderOf(account) };
  }
}
