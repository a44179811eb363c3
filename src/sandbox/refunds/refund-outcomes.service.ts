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
import type { SandboxTx } from '../sandbox-database.service.js';
import { refundEffectiveBody, refundErrorBody } from './refund-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { findSentRefund, type SentRefund } from './refunds.queries.js';

const error = { code: 'DEL20', description: 'Pix original ainda não foi processado.' };

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
  }

  /** Fires the fault by which a refund fails. Called last: a refused refund uses up no fault. */
  drawFailure(): FiredFault | null {
    return this.faults.fire(['refunds'], 'async-error');
  }

  /** Schedules the end of the refund that `line` debited. */
  async schedule(
    tx: SandboxTx,
    account: SandboxAccount,
    line: PostedLine,
    failure: FiredFault | null,
  ): Promise<void> {
    const delayMs = failure ? failure.delayMs : this.modes.current.pixStepMs;
    await this.dueWork.schedule(tx, {
      kind: failure ? 'refund-error' : 'refund-effective',
      subject: `${account.id}:${line.nsu}`,
      dueAt: new Date(line.createdAt.getTime() + delayMs),
    });
  }

  private async finish(tx: SandboxTx, subject: string, isFailed: boolean): Promise<void> {
    const [accountId, nsu] = subject.split(':') as [string, string];
    const id = Number(accountId);
    const account = await findAccountById(tx, id);
    const refund = await findSentRefund(tx, id, BigInt(nsu));
    invariant(account && refund, 'the line of a refund is never deleted');
    const { proof, idempotencyKey } = refund;
    if (isFailed) await this.reverse(tx, account, refund);
    const finishedAt = this.clock.now();
    const body = isFailed
      ? refundErrorBody(proof, { error, finishedAt })
      : refundEffectiveBody(proof, { idempotencyKey, finishedAt });
    const event = { body, at: finishedAt };
    this.webhooks.notify(tx, account, 'PIX_REFUND_PAYMENT_UPDATED', event);
  }

  /** Reverses the debit under the same original, so that its amount becomes refundable again. */
  private async reverse(
    tx: SandboxTx,
    account: SandboxAccount,
    { changeCents, endToEndId, originalEndToEndId, proof }: SentRefund,
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
