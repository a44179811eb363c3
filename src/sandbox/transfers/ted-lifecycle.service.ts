// Moves TEDs: debited when accepted, then effective or returned after the time of both steps of a
// Pix. A returned TED is a credit with the id of the TED. A beneficiary at this bank is credited.
import { Injectable } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Faults } from '../faults/faults.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement, type PostedLine } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import { transferBody, type TransferEvent } from './transfer-bodies.js';
import { pixFailure } from '../faults/pix-failures.js';
import { isFinalTransfer, type Transfer } from './transfer.js';

const endTask = 'ted-ends';

@Injectable()
export class TedLifecycle {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly dueWork: DueWork,
    private readonly modes: Modes,
    private readonly faults: Faults,
    private readonly clock: BankClock,
  ) {
    dueWork.handle(endTask, (tx, id) => this.end(tx, id));
  }

  /** Debits and stores a TED. Throws `rule_broken` with the reason `insufficient_funds`. */
  async begin(tx: SandboxTx, payer: SandboxAccount, accepted: Transfer): Promise<Transfer> {
    const { nsu, createdAt } = await this.post(tx, payer, accepted, -accepted.amountCents);
    // Fires last, so that a refused request does not use up the fault.
    const fault = this.faults.fire(['transfers'], 'async-error');
    const error = fault ? pixFailure(fault.code ?? 'AC06') : accepted.error;
    const times = { createdAt, updatedAt: createdAt };
    const ted: Transfer = { ...accepted, ...times, transactionNsu: nsu, error };
    await tx.insert('transfer', ted);
    const delayMs = Math.max(2 * this.modes.current.pixStepMs, fault?.delayMs ?? 0);
    const dueAt = new Date(createdAt.getTime() + delayMs);
    await this.dueWork.schedule(tx, { kind: endTask, subject: ted.id, dueAt });
    return ted;
  }

  private async end(tx: SandboxTx, id: string): Promise<void> {
    const ted = await tx.lockRow<Transfer>('transfer', { id });
    if (!ted || isFinalTransfer(ted)) return;
    const payer = await findAccountById(tx, ted.accountId);
    invariant(payer, 'a transfer has its payer');
    const beneficiary = ted.error ? null : await findAccountById(tx, ted.beneficiaryAccountId);
    await this.ledger.lock(tx, beneficiary ? [payer, beneficiary] : [payer]);
    const status = ted.error ? 'ERROR' : 'EFFECTIVE';
    const ended: Transfer = { ...ted, status, updatedAt: this.clock.now() };
    const credited = ted.error ? payer : beneficiary;
    if (credited) await this.post(tx, credited, ended, ted.amountCents);
    await tx.update<Transfer>('transfer', { id }, { status, updatedAt: ended.updatedAt });
    this.notify(tx, payer, ended, 'TRANSFER_EXTERNAL_DEBITED');
    if (beneficiary) this.notify(tx, beneficiary, ended, 'TRANSFER_EXTERNAL_CREDITED');
  }

  private async post(
    tx: SandboxTx,
    account: SandboxAccount,
    { id, status, amountCents, description, payer, beneficiary, idempotencyKey }: Transfer,
    changeCents: bigint,
  ): Promise<PostedLine> {
    const isCredit = changeCents > 0n;
    const isReturned = status === 'ERROR';
    const text = description ?? `TED para ${beneficiary.holder.name}`;
    const movement = outsideMovement(account, 'str', changeCents, {
      typeName: isCredit ? 'CREDIT_TRANSFER_EXTERNAL' : 'DEBIT_TRANSFER_EXTERNAL',
      notes: isReturned ? 'TED devolvida' : text,
      proof: {
        ...{ id, status: isReturned ? 'ERROR' : 'EFFECTIVE', type: 'EXTERNAL' },
        ...{ amount: wireReais(amountCents), description, payer, beneficiary },
      },
    });
    const key = isCredit ? null : idempotencyKey;
    const [line] = await this.ledger.post(tx, { ...movement, idempotencyKey: key });
    return line;
  }

  private notify(
    tx: SandboxTx,
    account: SandboxAccount,
    ted: Transfer,
    eventType: TransferEvent,
  ): void {
    const body = transferBody(ted, eventType);
    this.webhooks.notify(tx, account, eventType, { body, at: ted.updatedAt });
  }
}
