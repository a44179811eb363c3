// Withdraws the expected payments of failed transfers that were never debited. The bank's status
// says that a transfer failed. Only the statement shows whether it was debited before.
import { Injectable } from '@nestjs/common';
import { BankService } from '../../bank/bank.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Every } from '../../platform/queue/timers.js';
import { insertFacts } from '../../statement/expected-payments/expected-payments.queries.js';
import { isAbsentFromPeriod } from '../operations/evidence.queries.js';
import { listUndebitedTransfers } from './failed-transfers.queries.js';

@Injectable()
export class FailedTransfers {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
  ) {}

  /**
   * Until a debit can no longer appear, the payment stays expected, and while a line of its amount
   * is not explained. It sends no money: a debit that still comes is `failed_but_debited`.
   */
  @Every('failed-transfers', 60)
  async withdrawUndebited(): Promise<void> {
    const { visibilityBoundMs } = this.bank.profile;
    // Without a bound, the statement proves no absence.
    if (visibilityBoundMs === null) return;
    const { prisma } = this.database;
    for (const transfer of await listUndebitedTransfers(prisma, visibilityBoundMs)) {
      const ids = [transfer.expectedPaymentId];
      await this.database.transaction(async (tx) => {
        if (await isAbsentFromPeriod(tx, transfer, transfer, ids))
          await insertFacts(tx, transfer.accountId, { ids }, 'failed');
      });
    }
  }
}
