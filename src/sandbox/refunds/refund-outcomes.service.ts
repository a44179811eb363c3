// Ends refunds: shortly after its response a refund becomes effective, or fails and is reversed.
// Either outcome is sent by webhook.
import { Injectable } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import type { SandboxAccount } from '../accounts/party.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Faults, type FiredFault } from '../faults/faults.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement, type PostedLine } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import { pixFailure, type PixFailure, type PixFailureCode } from '../faults/pix-failures.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { refundEffectiveBody, refundErrorBody } from './refund-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { findSentRefund, type SentRefund } from './refunds.queries.js';

type FailedRefund = SentRefund & { error: PixFailure };

@Injectable()
export class RefundOutcomes {
  constructor(
    private readonly dueWork: DueWork,
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly modes: Modes,
    private readonly faults: Faults,
    private readonly clock: BankClock,
  ) {
    dueWork.handle('refund-effective', (tx, subject) => this.finish(tx, subject, false));
    dueWork.handle('refund-error', (tx, subject) => this.finish(tx, subject, true));
    dueWork.handle('refund-undone', (tx, subject) => this.undo(tx, subject));
  }

  /** Fires the fault by which a refund fails. Called last: a refused refund uses up no fault. */
  drawFailure(): FiredFault | null {
    return this.faults.fire(['refunds'], 'async-error', 'refund-held');
  }

  /** Schedules the end of the refund that `line` debited. */
  async schedule(
    tx: SandboxTx,
    account: SandboxAccount,
    line: PostedLine,
    failure: FiredFault | null,
  ): Promise<void> {
    const subject = `${account.id}:${line.nsu}:${failure?.code ?? 'DEL20'}`;
    const { pixStepMs } = this.modes.current;
    const after = (waitMs: number) => new Date(line.createdAt.getTime() + waitMs);
    const isHeld = failure?.kind === 'refund-held';
    await this.dueWork.schedule(tx, {
      kind: failure ? 'refund-error' : 'refund-effective',
      subject: isHeld ? `${subject}:held` : subject,
      dueAt: after(failure && !isHeld ? failure.delayMs : pixStepMs),
    });
    if (isHeld)
      await this.dueWork.schedule(tx, {
        ...{ kind: 'refund-undone', subject, dueAt: after(failure.delayMs) },
      });
  }

  private async finish(tx: SandboxTx, subject: string, isFailed: boolean): Promise<void> {
    const { account, refund, error } = await this.find(tx, subject);
    const { proof, idempotencyKey } = refund;
    if (isFailed && !subject.endsWith(':held'))
      await this.reverse(tx, account, { ...refund, error });
    const finishedAt = this.clock.now();
    const body = isFailed
      ? refundErrorBody(proof, { error, finishedAt })
      : refundEffectiveBody(proof, { idempotencyKey, finishedAt });
    const event = { body, at: finishedAt };
    this.webhooks.notify(tx, account, 'PIX_REFUND_PAYMENT_UPDATED', event);
  }

  /** The money of a refund that failed earlier comes back. */
  private async undo(tx: SandboxTx, subject: string): Promise<void> {
    const { account, refund, error } = await this.find(tx, subject);
    await this.reverse(tx, account, { ...refund, error });
  }

  private async find(tx: SandboxTx, subject: string) {
    const [accountId, nsu, code] = subject.split(':') as [string, string, PixFailureCode];
    const account = await findAccountById(tx, Number(accountId));
    const refund = await findSentRefund(tx, Number(accountId), BigInt(nsu));
    invariant(account && refund, 'the line of a refund is never deleted');
    return { account, refund, error: pixFailure(code) };
  }

  /** Reverses the debit under the same original, so that its amount becomes refundable again. */
  private async reverse(
    tx: SandboxTx,
    account: SandboxAccount,
    { changeCents, endToEndId, originalEndToEndId, proof, error }: FailedRefund,
  ): Promise<void> {
    await this.ledger.post(
      tx,
      outsideMovement(account, 'spi', -changeCents, {
        typeName: 'CREDIT_PIX_REFUND_REVERSAL',
        notes: 'Estorno de devolução de Pix',
        endToEndId,
        originalEndToEndId,
        proof: { ...proof, status: 'PIX_ERROR', error },
      }),
    );
  }
}
