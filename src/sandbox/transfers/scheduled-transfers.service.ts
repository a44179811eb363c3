// Transfers that are requested for later: stored at once, and sent when they are due, as if they
// were requested then. One that cannot be sent then has failed, and nothing is debited.
import { Injectable } from '@nestjs/common';
import { scheduledTime } from '../../brazil/business-hours.js';
import { AppError, invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { pixFailure } from '../faults/pix-failures.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import type { Transfer } from './transfer.js';
import { deleteTransfer } from './transfers.queries.js';

export type ScheduledKind = 'scheduled-pix' | 'scheduled-ted' | 'scheduled-internal-transfer';

const statuses = {
  'scheduled-pix': { begun: 'PIX_PROCESSING', failed: 'PIX_ERROR' },
  'scheduled-ted': { begun: 'PROCESSING', failed: 'ERROR' },
  'scheduled-internal-transfer': { begun: 'EFFECTIVE', failed: 'ERROR' },
} as const;

@Injectable()
export class ScheduledTransfers {
  constructor(
    private readonly dueWork: DueWork,
    private readonly clock: BankClock,
  ) {}

  /** `send` moves the money of a transfer that is due, and stores the transfer. */
  handle(
    kind: ScheduledKind,
    send: (tx: SandboxTx, payer: SandboxAccount, transfer: Transfer) => Promise<unknown>,
  ): void {
    this.dueWork.handle(kind, async (tx, id) => {
      const scheduled = await tx.lockRow<Transfer>('transfer', { id });
      if (scheduled?.status !== 'SCHEDULED') return;
      const payer = await findAccountById(tx, scheduled.accountId);
      invariant(payer, 'a transfer has its payer');
      await deleteTransfer(tx, id);
      const now = this.clock.now();
      const due = { ...scheduled, createdAt: now, updatedAt: now };
      const { begun, failed } = statuses[kind];
      try {
        await send(tx, payer, { ...due, status: begun });
      } catch (error) {
        // It is thrown before anything is written, so the transaction can go on.
        if (!(error instanceof AppError) || error.code !== 'rule_broken') throw error;
        await tx.insert('transfer', { ...due, status: failed, error: pixFailure('AM04') });
      }
    });
  }

  /** Null unless the transfer is requested for later; it is then stored. */
  async schedule(
    tx: SandboxTx,
    kind: ScheduledKind,
    transfer: Transfer,
    transferAt: string | null | undefined,
  ): Promise<Transfer | null> {
    const dueAt = scheduledTime(transferAt, this.clock.now());
    if (dueAt === null) return null;
    const scheduled: Transfer = { ...transfer, status: 'SCHEDULED' };
    await tx.insert('transfer', scheduled);
    await this.dueWork.schedule(tx, { kind, subject: transfer.id, dueAt });
    return scheduled;
  }
}
