// Moves what goes back of a received Pix: never more than it was, whoever asks at the same time, because what is left
// is worked out from the account's lines under the account's lock.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { availableCents, insufficientFunds } from '../ledger/funds.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import type { Leg, LineDetails, PostedLine } from '../ledger/movement.js';
import { bank, partyOfAccount } from '../accounts/party.js';
import { Random } from '../random.service.js';
import type { Tx } from '../sandbox-database.service.js';
import { EndToEndIds } from '../pix/end-to-end-ids.service.js';
import { pixRefundedBody } from '../pix/pix-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import type { OriginalPix } from './original-pix.js';
import type { RefundReason } from './refund-reason.js';
import { sumRefundedCents } from './refunds.queries.js';

export interface RefundInstruction {
  amountCents: bigint;
  description: string | null;
  reason: RefundReason;
  idempotencyKey: string | null;
  /** Lost on its way: it does not reach a payer of this bank, and comes back. */
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
   * Locks the accounts and gives the amount that will go back: all that is left where none was asked for. Throws
   * `rule_broken` with the reason `refund_exceeds_original` or `insufficient_funds`.
   */
  async reserve(tx: Tx, original: OriginalPix, askedCents: bigint | null): Promise<bigint> {
    const { account, payerAccount } = original;
    const locked = await this.ledger.lock(tx, payerAccount ? [account, payerAccount] : [account]);
    const returned = await sumRefundedCents(tx, account.id, original.endToEndId);
    const leftCents = original.amountCents + returned;
    const amountCents = askedCents ?? leftCents;
    if (amountCents > leftCents || amountCents <= 0n)
      throw new AppError('rule_broken', {
        public: 'More than what is left of the Pix cannot be refunded.',
        reason: 'refund_exceeds_original',
      });
    const held = locked.get(account.id)!;
    if (availableCents(held) < amountCents) throw insufficientFunds();
    return amountCents;
  }

  /** Debits what was reserved, and credits a payer of this bank; gives the line of the debit. */
  async post(tx: Tx, original: OriginalPix, order: RefundInstruction): Promise<PostedLine> {
    const { account, payerAccount } = original;
    const { amountCents, idempotencyKey } = order;
    const details = this.describe(original, order);
    const debit = { ...details, typeName: 'DEBIT_PIX_REFUND' };
    const credit = {
      ...details,
      typeName: 'CREDIT_PIX_REFUND',
      notes: `Devolução de Pix recebida de ${account.holderName}`,
    };
    const out: Leg = { account, changeCents: -amountCents, line: debit };
    if (!payerAccount || order.isLost) return this.postLegs(tx, idempotencyKey, out);
    const back: Leg = { account: payerAccount, changeCents: amountCents, line: credit };
    // An account has one leg in a movement: what it had sent to itself goes out and comes in.
    const isOwn = payerAccount.id === account.id;
    const line = await this.postLegs(tx, idempotencyKey, out, ...(isOwn ? [] : [back]));
    if (isOwn) await this.postLegs(tx, null, back);
    await this.webhooks.notify(tx, payerAccount, 'PIX_REFUNDED', {
      body: pixRefundedBody({
        ...details,
        ...{ amountCents, createdAt: line.createdAt },
        refundCode: order.reason.code,
        reason: order.reason.text,
        payer: details.proof.payer,
        beneficiary: details.proof.beneficiary,
      }),
      at: line.createdAt,
    });
    return line;
  }

  /** What the legs leave open goes to other institutions, or comes from there. */
  private async postLegs(
    tx: Tx,
    idempotencyKey: string | null,
    first: Leg,
    ...others: Leg[]
  ): Promise<PostedLine> {
    const open = [first, ...others].reduce((sum, { changeCents }) => sum - changeCents, 0n);
    const legs: Leg[] = [first, ...others];
    if (open !== 0n) legs.push({ internal: 'spi', changeCents: open });
    const [line] = await this.ledger.post(tx, { idempotencyKey, legs });
    invariant(line, 'a refund has its line');
    return line;
  }

  /** What both sides are told. */
  private describe(original: OriginalPix, order: RefundInstruction) {
    const { account, payer, endToEndId: originalEndToEndId } = original;
    const endToEndId = this.ids.next('D', bank.ispb);
    const { code, text } = order.reason;
    return {
      notes: order.description ?? `Devolução de Pix a ${payer.holder.name}`,
      endToEndId,
      originalEndToEndId,
      proof: {
        id: this.random.uuid(),
        endToEndId,
        originalEndToEndId,
        status: 'PIX_EFFECTIVE',
        type: 'PIX_REFUND',
        amount: wireReais(order.amountCents),
        createdAt: this.clock.now().toISOString(),
        description: order.description,
        refundCode: code,
        reasonRefund: text,
        payer: partyOfAccount(account),
        beneficiary: payer,
      },
    } satisfies Omit<LineDetails, 'typeName'>;
  }
}
