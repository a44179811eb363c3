// Credits payments of charges, by Pix or by bar code, and sends `CHARGE_PAID`. A payment marks a
// slip as paid unless the slip is voided. A static QR code stays payable.
import { Injectable } from '@nestjs/common';
import { SandboxLedger } from '../ledger/ledger.service.js';
import type { CustomerLeg, Leg, LineDetails, PostedLine } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import { type SandboxAccount, type OutsidePayer, outsideParty } from '../accounts/party.js';
import { PixCredits } from '../pix/pix-credits.service.js';
import { Random } from '../random.service.js';
import { ruleBroken } from '../../platform/errors.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { chargePaidBody, type ChargePayment } from './charge-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import { payerOf, slipOf } from './charge-parts.js';
import type { ChargeRow, ChargeStatus } from './charges.queries.js';

export interface PaidCharge {
  status: ChargeStatus;
  line: PostedLine;
}

@Injectable()
export class ChargeCredits {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly pixCredits: PixCredits,
    private readonly webhooks: Webhooks,
    private readonly modes: Modes,
    private readonly random: Random,
  ) {}

  /**
   * Credits a payment by QR code. The caller has locked `charge`. Throws `rule_broken` without QR
   * code.
   */
  async creditPix(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    { amountCents, payer }: { amountCents: bigint; payer: OutsidePayer },
  ): Promise<PaidCharge> {
    const { correlationId, txid, pixKey } = charge;
    if (!txid || !pixKey) throw ruleBroken('charge_without_qr_code', 'The charge has no QR code.');
    const { line, receipt } = await this.pixCredits.credit(tx, {
      account,
      amountCents,
      type: 'PIX_QR_CODE_STATIC',
      correlationId,
      payer: { ...payerOf(charge), ...payer },
    });
    const { endToEndId } = receipt;
    return this.recordPayment(tx, account, charge, line, {
      referenceId: endToEndId,
      endToEndId,
      payer: { name: receipt.payer.holder.name, document: receipt.payer.holder.document },
      pix: { txid, key: pixKey, payer: receipt.payer, payee: receipt.beneficiary },
    });
  }

  /**
   * Credits a payment by bar code at another bank, at once; a real bank takes a day. `charge` is
   * locked.
   */
  async creditSlip(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    amountCents: bigint,
  ): Promise<PaidCharge> {
    const { name, document } = outsideParty(payerOf(charge)).holder;
    const debit: Leg = { internal: 'clearing', changeCents: -amountCents };
    const { paid } = await this.postSlip(tx, account, charge, { name, document }, { debit });
    return paid;
  }

  /**
   * Credits a payment by bar code from an account of this bank. `charge` is locked. Returns the
   * debit line.
   */
  async creditSlipFrom(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    payment: { debit: CustomerLeg; idempotencyKey: string },
  ): Promise<PostedLine> {
    const { holderName: name, holderDocument: document } = payment.debit.account;
    const { debited } = await this.postSlip(tx, account, charge, { name, document }, payment);
    return debited;
  }

  /** The first posted line is that of a customer's debit, and the last that of the credit. */
  private async postSlip(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    payer: ChargePayment['payer'],
    { debit, idempotencyKey = null }: { debit: Leg; idempotencyKey?: string | null },
  ): Promise<{ debited: PostedLine; paid: PaidCharge }> {
    const referenceId = this.random.uuid();
    const amountCents = -debit.changeCents;
    const line: LineDetails = {
      typeName: 'CREDIT_BANKSLIP',
      notes: `Boleto pago por ${payer.name}`,
      correlationId: charge.correlationId,
      proof: { id: referenceId, ...slipOf(charge), amount: wireReais(amountCents), payer },
    };
    const credit = { account, changeCents: amountCents, line };
    const posted = await this.ledger.post(tx, { idempotencyKey, legs: [debit, credit] });
    const [debited] = posted;
    const credited = posted.at(-1) ?? debited;
    const source = { referenceId, endToEndId: null, payer, pix: null };
    return { debited, paid: this.recordPayment(tx, account, charge, credited, source) };
  }

  private recordPayment(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    line: PostedLine,
    source: Pick<ChargePayment, 'referenceId' | 'endToEndId' | 'payer' | 'pix'>,
  ): PaidCharge {
    const { nsu, changeCents: amountCents, createdAt } = line;
    const { correlationId } = charge;
    const isSlip = charge.type !== 'PIX_STATIC';
    // A voided charge can still be paid; its status stays voided.
    const status = isSlip && charge.status !== 'Voided' ? 'Paid' : charge.status;
    const change = { status, updatedAt: createdAt };
    if (isSlip) tx.doAlongside(tx.update<ChargeRow>('charge', { id: charge.id }, change));
    const slip = slipOf(charge);
    const body = chargePaidBody(
      { ...source, nsu, correlationId, amountCents, createdAt, slip },
      this.modes.current.webhookShape,
    );
    this.webhooks.notify(tx, account, 'CHARGE_PAID', { body, at: createdAt });
    return { status, line };
  }
}
