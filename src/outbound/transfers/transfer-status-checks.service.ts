// Checks the status of accepted transfers at the bank until they are final, at growing intervals. A
// webhook only makes a check happen sooner. At a bank without status by id, only the statement
// decides.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { getTed } from '../../bank-contract/ted-transfers.js';
import { getTransfer } from '../../bank-contract/transfers.js';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { TransferRecords, type TransferUpdate } from './transfer-records.service.js';
import { readTransferResponse, statusCheckPausesMs } from './transfer-status.js';
import * as queries from './transfers.queries.js';

/** Concurrent status requests of one account. */
const concurrentChecks = 8;

@Injectable()
export class TransferStatusChecks {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly records: TransferRecords,
    @InjectQueue(jobs.checkTransferStatuses.name)
    private readonly checkTransferStatusesQueue: JobQueue<'checkTransferStatuses'>,
  ) {}

  /** Checks the due transfers of an account, batch by batch. */
  async check({ accountId }: JobPayload<'checkTransferStatuses'>): Promise<void> {
    if (!this.bank.profile.hasStatusById) return;
    const account = await this.accounts.get(accountId);
    const db = this.database.prisma;
    const claim = () =>
      queries.claimDueTransfers(db, accountId, statusCheckPausesMs, concurrentChecks);
    for (let due = await claim(); due.length > 0; due = await claim()) {
      const checked = await Promise.all(due.map((transfer) => this.readStatus(account, transfer)));
      const updates = checked.filter((update) => update !== null);
      await this.database.transaction((tx) => this.records.recordReports(tx, accountId, updates));
      await this.records.enqueueDeliveries(accountId);
    }
  }

  /** Enqueues a check for each account with a due transfer. */
  @Every('transfers', 2)
  async enqueueDue(): Promise<void> {
    if (!this.bank.profile.hasStatusById) return;
    for (const { accountId } of await queries.listAccountsWithDueTransfers(this.database.prisma))
      await this.checkTransferStatusesQueue.enqueue({ accountId });
  }

  /**
   * Null unless the bank's response is about this transfer. If it is null, the next check is
   * already scheduled.
   */
  private async readStatus(
    account: BankAccount,
    transfer: queries.DueTransfer,
  ): Promise<TransferUpdate | null> {
    const identifier = transfer.bankId ?? transfer.endToEndId ?? transfer.externalId;
    if (identifier === null) return null;
    const response = await this.bank.call(
      transfer.shape === 'ted' ? getTed : getTransfer,
      account,
      { params: { identifier } },
      {
        echoes: ({ id, endToEndId, amount }) =>
          amount === transfer.amountCents &&
          // A Pix may go out under another endToEndId: the bank's own id identifies it.
          (transfer.bankId === null
            ? (transfer.endToEndId ?? endToEndId ?? null) === (endToEndId ?? transfer.endToEndId)
            : transfer.bankId === id),
      },
    );
    if (response.outcome !== 'success') return null;
    const report = readTransferResponse(response.value);
    const isOfAnother =
      report.endToEndId !== null &&
      report.endToEndId !== transfer.endToEndId &&
      (await queries.isEndToEndIdOfAnother(this.database.prisma, account.id, {
        expectedPaymentId: transfer.expectedPaymentId,
        endToEndId: report.endToEndId,
      }));
    return isOfAnother ? null : { transfer, report };
  }
}
