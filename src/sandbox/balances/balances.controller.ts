import { Controller } from '@nestjs/common';
import { readBalances } from '../../contract/statement.js';
import { Handles } from '../../platform/contract-route.js';
import { invariant } from '../../platform/errors.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { availableCents } from '../ledger/movement.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { findAccountBalance } from '../accounts/accounts.queries.js';

@Controller()
export class BalancesController {
  constructor(private readonly database: SandboxDatabase) {}

  /** Money of a Pix that is not yet effective is blocked: part of the total, but not available. */
  @Handles(readBalances)
  async read(@CurrentAccount() account: SandboxAccount) {
    const balance = await findAccountBalance(this.database, account.id);
    invariant(balance, 'an API key belongs to a customer');
    return {
      amountAvailable: availableCents(balance),
      amountBlocked: balance.blockedCents,
      amountTotal: balance.balanceCents,
    };
  }
}
