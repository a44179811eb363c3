// Follows transfers that the bank has accepted until it says how they ended: each is read by its id, more and more
// rarely. A webhook only makes a reading come sooner; where the bank has no such reading, the statement decides.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { getTransfer } from '../contract/transfers.js';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import { checkPausesMs, readTransfer } from './bank-transfer.js';
import { TransferRecords, type Told } from './transfer-records.service.js';
import * as queries from './transfers.queries.js';

/** Read at the same time, of one account. */
const atOnce = 8;

@Injectable()
export class TransferFollower {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly records: TransferRecords,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Reads what is due of an account. */
  @OnJob('followTransfers')
  async follow({ accountId }: JobPayload<'followTransfers'>): Promise<void> {
    if (!this.bank.profile.hasStatusById) return;
    const account = await this.accounts.get(accountId);
    const take = () => queries.takeDue(this.database.prisma, accountId, checkPausesMs, atOnce);
    for (let due = await take(); due.length > 0; due = await take()) {
      const read = await Promise.all(due.map((transfer) => this.read(account, transfer)));
      const told = read.filter((one) => one !== null);
      await this.database.transaction((tx) => this.records.note(tx, accountId, told));
      await this.records.announce(accountId);
    }
  }

  /** Wakes the accounts that have something due. */
  async enqueueDue(): Promise<void> {
    if (!this.bank.profile.hasStatusById) return;
    for (const { accountId } of await queries.listAccountsDue(this.database.prisma))
      await this.jobQueue.enqueue('followTransfers', { accountId });
  }

  /** Null where the bank does not tell of this very transfer: it is read again. */
  private async read(account: BankAccount, transfer: queries.DueTransfer): Promise<Told | null> {
    const identifier = transfer.bankId ?? transfer.endToEndId ?? transfer.externalId;
    if (identifier === null) return null;
    const answer = await this.bank.call(
      getTransfer,
      account,
      { params: { identifier } },
      {
        echoes: ({ id, endToEndId, amount }) =>
          amount === transfer.amountCents &&
          (transfer.bankId ?? id) === id &&
          (transfer.endToEndId ?? endToEndId ?? null) === (endToEndId ?? null),
      },
    );
    return answer.outcome === 'success' ? { transfer, told: readTransfer(answer.value) } : null;
  }
}
