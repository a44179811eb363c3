import { Controller } from '@nestjs/common';
import { readBalances } from '../../contract/balances.js';
import { Handles } from '../../platform/contract-route.js';
import { invariant } from '../../platform/errors.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { BankAccount } from '../accounts/party.js';
import { availableCents } from '../ledger/funds.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { findAccountBalance } from '../accounts/accounts.queries.js';

@Controller()
export class BalancesController {
  constructor(private readonly database: SandboxDatabase) {}

  /** What waits to be effective is held: it is part of the total and cannot be used. */
  @Handles(readBalances)
  async read(@CurrentAccount() account: BankAccount) {
    const held = await findAccountBalance(this.database, account.id);
    invariant(held, 'a key is of a customer');
    return {
      amountAvailable: availableCents(held),
      amountBlocked: held.blockedCents,
      amountTotal: held.balanceCents,
    };
  }
}
