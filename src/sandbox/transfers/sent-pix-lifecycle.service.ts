// Moves an accepted Pix through its states: it waits for the SPI, then becomes effective, or fails
// and is reversed. Each step is a due task of its own. A step only moves the Pix forward, so that
// the order of the tasks does not matter.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { bank, type SandboxAccount } from '../accounts/party.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import type { FiredFault } from '../faults/faults.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement, type LineDetails, type PostedLine } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import type { DictLookup } from '../pix/lookup-response.js';
import { EndToEndIds, PixCredits } from '../pix/pix-credits.service.js';
import { pixFailure, type PixFailure } from '../faults/pix-failures.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { pixPaymentBody } from './transfer-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { debitLine, reversalLine } from './sent-pix.js';
import { isFinalTransfer, type Transfer } from './transfer.js';

const waitTask = 'pix-waits-for-spi';
const againTask = 'pix-is-sent-again';
const endTask = 'pix-ends';
const undoTask = 'pix-is-undone';

/** Habits of the bank after it has accepted a Pix. */
export const habitsOfPix = [
  'status-stuck',
  'undone-silently',
  'debited-twice',
  'new-end-to-end-id',
] as const;

/** The task that ends the Pix, where a habit has one of its own. */
const taskOfHabit: Partial<Record<PixFault['kind'], string>> = {
  'undone-silently': undoTask,
  'new-end-to-end-id': againTask,
};

export type PixFault = FiredFault<'async-error' | (typeof habitsOfPix)[number]>;

@Injectable()
export class SentPixLifecycle {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly pixCredits: PixCredits,
    private readonly webhooks: Webhooks,
    private readonly dueWork: DueWork,
    private readonly modes: Modes,
    private readonly clock: BankClock,
    private readonly ids: EndToEndIds,
  ) {
    dueWork.handle(waitTask, (tx, id) => this.wait(tx, id));
    dueWork.handle(againTask, async (tx, id) => {
      await this.sendAgain(tx, id);
      await this.end(tx, id);
    });
    dueWork.handle(endTask, (tx, id) => this.end(tx, id));
    dueWork.handle(undoTask, (tx, id) => this.end(tx, id, { isSilent: true }));
  }

  /** Debits or blocks the amount. Throws `rule_broken` with the reason `insufficient_funds`. */
  async begin(tx: SandboxTx, payer: SandboxAccount, transfer: Transfer): Promise<Transfer> {
    if (this.modes.current.pixDebit === 'when-effective') {
      await this.ledger.block(tx, payer, transfer.amountCents);
      return { ...transfer, isBlocked: true };
    }
    const { nsu, createdAt } = await this.debit(tx, payer, transfer);
    return { ...transfer, transactionNsu: nsu, createdAt, updatedAt: createdAt };
  }

  /** Stores an accepted transfer and schedules its steps, as the fault that fired has them. */
  async store(
    tx: SandboxTx,
    payer: SandboxAccount,
    transfer: Transfer,
    fault: PixFault | null,
  ): Promise<void> {
    await tx.insert('transfer', transfer);
    const isDebitedTwice = fault?.kind === 'debited-twice' && !transfer.isBlocked;
    if (isDebitedTwice) await this.debit(tx, payer, transfer);
    const { id: subject, createdAt } = transfer;
    const { pixStepMs } = this.modes.current;
    // Both steps are scheduled now, so that both run when the clock is moved past them.
    const after = (waitMs: number) => new Date(createdAt.getTime() + waitMs);
    const delayMs = fault?.delayMs ?? 0;
    const isStuck = fault?.kind === 'status-stuck' && delayMs > 0;
    const dueAt = isStuck
      ? new Date(Math.ceil(after(2 * pixStepMs).getTime() / delayMs) * delayMs)
      : after(Math.max(2 * pixStepMs, delayMs));
    const kind = (fault && taskOfHabit[fault.kind]) ?? endTask;
    await this.dueWork.schedule(tx, { kind: waitTask, subject, dueAt: after(pixStepMs) });
    await this.dueWork.schedule(tx, { kind, subject, dueAt });
  }

  /** A Pix whose initiation is old goes out under a new endToEndId (real-bank.md A.13). */
  private async sendAgain(tx: SandboxTx, id: string): Promise<void> {
    const transfer = await tx.lockRow<Transfer>('transfer', { id });
    if (!transfer || isFinalTransfer(transfer)) return;
    const endToEndId = this.ids.next('E', bank.ispb);
    await tx.update<Transfer>('transfer', { id }, { endToEndId, updatedAt: this.clock.now() });
    // The look-up stays used.
    await tx.update<DictLookup>(
      'dict_lookup',
      { endToEndId: transfer.endToEndId ?? '' },
      { expiresAt: this.clock.now() },
    );
  }

  private async wait(tx: SandboxTx, id: string): Promise<void> {
    const transfer = await tx.lockRow<Transfer>('transfer', { id });
    if (transfer?.status !== 'PIX_PROCESSING') return;
    await tx.update<Transfer>(
      'transfer',
      { id },
      { status: 'PIX_WAITING_SPI_RESPONSE', updatedAt: this.clock.now() },
    );
  }

  private async end(tx: SandboxTx, id: string, { isSilent = false } = {}): Promise<void> {
    const transfer = await tx.lockRow<Transfer>('transfer', { id });
    if (!transfer || isFinalTransfer(transfer)) return;
    const payer = await findAccountById(tx, transfer.accountId);
    invariant(payer, 'a transfer has its payer');
    const beneficiary = await findAccountById(tx, transfer.beneficiaryAccountId);
    await this.ledger.lock(tx, beneficiary ? [payer, beneficiary] : [payer]);
    const error = transfer.error ?? (await this.credit(tx, beneficiary, transfer));
    const ended = error
      ? await this.fail(tx, payer, { ...transfer, error })
      : await this.succeed(tx, payer, transfer);
    const { status, transactionNsu, isBlocked, updatedAt } = ended;
    const changes = { status, transactionNsu, isBlocked, error: ended.error, updatedAt };
    await tx.update<Transfer>('transfer', { id }, changes);
    if (isSilent) return;
    const event = { body: pixPaymentBody(ended), at: ended.updatedAt };
    this.webhooks.notify(tx, payer, 'PIX_PAYMENT_UPDATED', event);
  }

  /** Credits a beneficiary at this bank. Returns a failure when it would exceed its limit. */
  private async credit(
    tx: SandboxTx,
    beneficiary: SandboxAccount | null,
    transfer: Transfer,
  ): Promise<PixFailure | null> {
    const { endToEndId, type, amountCents, payer, description } = transfer;
    if (!beneficiary) return null;
    invariant(endToEndId && type !== 'INTERNAL' && type !== 'EXTERNAL', 'a Pix has its endToEndId');
    try {
      await this.pixCredits.creditFrom(tx, payer, {
        account: beneficiary,
        amountCents,
        type,
        correlationId: null,
        endToEndId,
        description,
      });
      return null;
    } catch (error) {
      // The ledger throws before it writes, so the database transaction can go on.
      if (error instanceof AppError && error.code === 'rule_broken') return pixFailure('AM02');
      throw error;
    }
  }

  private async succeed(
    tx: SandboxTx,
    payer: SandboxAccount,
    transfer: Transfer,
  ): Promise<Transfer> {
    const effective: Transfer = { ...transfer, status: 'PIX_EFFECTIVE' };
    if (!transfer.isBlocked) return { ...effective, updatedAt: this.clock.now() };
    await this.ledger.unblock(tx, payer, transfer.amountCents);
    const { nsu, createdAt } = await this.debit(tx, payer, effective);
    return { ...effective, isBlocked: false, transactionNsu: nsu, updatedAt: createdAt };
  }

  private async fail(tx: SandboxTx, payer: SandboxAccount, transfer: Transfer): Promise<Transfer> {
    const failed: Transfer = { ...transfer, status: 'PIX_ERROR', isBlocked: false };
    if (transfer.isBlocked) {
      await this.ledger.unblock(tx, payer, transfer.amountCents);
      return { ...failed, updatedAt: this.clock.now() };
    }
    const { createdAt } = await this.post(tx, payer, transfer.amountCents, reversalLine(failed));
    return { ...failed, updatedAt: createdAt };
  }

  private debit(tx: SandboxTx, payer: SandboxAccount, transfer: Transfer): Promise<PostedLine> {
    const { amountCents, idempotencyKey } = transfer;
    return this.post(tx, payer, -amountCents, debitLine(transfer), idempotencyKey);
  }

  private async post(
    tx: SandboxTx,
    payer: SandboxAccount,
    changeCents: bigint,
    details: LineDetails,
    idempotencyKey: string | null = null,
  ): Promise<PostedLine> {
    const movement = outsideMovement(payer, 'spi', changeCents, details);
    const [line] = await this.ledger.post(tx, { ...movement, idempotencyKey });
    return line;
  }
}
