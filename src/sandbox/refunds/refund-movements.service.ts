// Moves the money of refunds. Refunds never exceed the received Pix, also under concurrent
// requests, because the refundable amount is computed from the account's lines under the account's
// lock.
import { Injectable } from '@nestjs/common';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxLedger, insufficientFunds } from '../ledger/ledger.service.js';
import { availableCents, type Leg, type LineDetails, type PostedLine } from '../ledger/movement.js';
import { bank, partyOfAccount } from '../accounts/party.js';
import { Random } from '../random.service.js';
import { ruleBroken } from '../../platform/errors.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { EndToEndIds } from '../pix/pix-credits.service.js';
import { pixRefundedBody } from '../pix/pix-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import type { OriginalPix } from './original-pix.js';
import type { RefundReason } from './refund-bodies.js';
import { sumRefundedCents } from './refunds.queries.js';

export interface RefundInstruction {
  amountCents: bigint;
  description: string | null;
  reason: RefundReason;
  idempotencyKey: string | null;
  /** Whether the refund will fail: it then credits no payer of this bank and is reversed later. */
  isLost: boolean;
}

@Injectable()
export class RefundMovements {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly ids: EndToEndIds,
  ) {}

  /**
   * Locks the accounts and returns the amount to refund: the requested one, or all that is
   * refundable. Throws `rule_broken` with the reason `refund_exceeds_original` or
   * `insufficient_funds`.
   */
  async reserve(
    tx: SandboxTx,
    original: OriginalPix,
    requestedCents: bigint | null,
  ): Promise<bigint> {
    const { account, payerAccount } = original;
    const locked = await this.ledger.lock(tx, payerAccount ? [account, payerAccount] : [account]);
    const refundedCents = await sumRefundedCents(tx, account.id, original.endToEndId);
    const refundableCents = original.amountCents - refundedCents;
    const amountCents = requestedCents ?? refundableCents;
    if (amountCents > refundableCents || amountCents <= 0n)
      throw ruleBroken(
        'refund_exceeds_original',
        'The refund exceeds the refundable amount of the Pix.',
      );
    if (availableCents(locked.get(account.id)!) < amountCents) throw insufficientFunds();
    return amountCents;
  }

  /** Debits the amount, credits a payer of this bank, and returns the line of the debit. */
  async post(
    tx: SandboxTx,
    original: OriginalPix,
    instruction: RefundInstruction,
  ): Promise<PostedLine> {
    const { account, payerAccount } = original;
    const { amountCents, idempotencyKey } = instruction;
    const details = this.describe(original, instruction);
    const debit = { ...details, typeName: 'DEBIT_PIX_REFUND' };
    const credit = {
      ...details,
      typeName: 'CREDIT_PIX_REFUND',
      notes: `Devolução de Pix recebida de ${account.holderName}`,
    };
    const debitLeg: Leg = { account, changeCents: -amountCents, line: debit };
    if (!payerAccount || instruction.isLost) return this.postLegs(tx, idempotencyKey, debitLeg);
    const creditLeg: Leg = { account: payerAccount, changeCents: amountCents, line: credit };
    // An account has one leg in a movement, so a refund to the account itself takes two movements.
    const isOwn = payerAccount.id === account.id;
    const line = await this.postLegs(tx, idempotencyKey, debitLeg, ...(isOwn ? [] : [creditLeg]));
    if (isOwn) await this.postLegs(tx, null, creditLeg);
    this.webhooks.notify(tx, payerAccount, 'PIX_REFUNDED', {
      body: pixRefundedBody({
        ...details,
        ...{ amountCents, createdAt: line.createdAt },
        refundCode: instruction.reason.code,
        reason: instruction.reason.text,
        payer: details.proof.payer,
        beneficiary: details.proof.beneficiary,
      }),
      at: line.createdAt,
    });
    return line;
  }

  /** Posts the legs and, when they do not sum to zero, an SPI leg for the other institution. */
  private async postLegs(
    tx: SandboxTx,
    idempotencyKey: string | null,
    first: Leg,
    ...others: Leg[]
  ): Promise<PostedLine> {
    const legs: Leg[] = [first, ...others];
    const externalCents = legs.reduce((sum, { changeCents }) => sum - changeCents, 0n);
    if (externalCents !== 0n) legs.push({ internal: 'spi', changeCents: externalCents });
    const [line] = await this.ledger.post(tx, { idempotencyKey, legs });
    return line;
  }

  /** The fields that the debit line and the credit line share. */
  private describe(original: OriginalPix, instruction: RefundInstruction) {
    const { account, payer, endToEndId: originalEndToEndId } = original;
    const endToEndId = this.ids.ofRefund(bank.ispb, originalEndToEndId);
    const { code, text } = instruction.reason;
    return {
      notes: instruction.description ?? `Devolução de Pix a ${payer.holder.name}`,
      endToEndId,
      originalEndToEndId,
      proof: {
        id: this.random.uuid(),
        endToEndId,
        originalEndToEndId,
        status: 'PIX_EFFECTIVE',
        type: 'PIX_REFUND',
        amount: wireReais(instruction.amountCents),
        createdAt: this.clock.now().toISOString(),
        description: instruction.description,
        refundCode: code,
        reasonRefund: text,
        payer: partyOfAccount(account),
        beneficiary: payer,
      },
    } satisfies Omit<LineDetails, 'typeName'>;
  }
}
