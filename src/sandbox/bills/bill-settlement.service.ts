// Moves the money of a payment and the status of its bill together. The money goes to the clearing,
// or to the account that issued the slip; a chargeback reverses it.
import { Injectable } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { ChargeCredits } from '../charges/charge-credits.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import {
  availableCents,
  type CustomerLeg,
  type Leg,
  type LineDetails,
  type PostedLine,
} from '../ledger/movement.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { wireReais } from '../wire-values.js';
import type { Bill, BillRow } from './bill.js';
import { reopenBill, type BillPaymentRow, type PaymentOfBill } from './bills.queries.js';

@Injectable()
export class BillSettlement {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly chargeCredits: ChargeCredits,
    private readonly clock: BankClock,
  ) {}

  /**
   * Debits the account. The bill is locked and payable. Throws `rule_broken` when funds are
   * insufficient.
   */
  async settle(tx: SandboxTx, { bill, payment, account }: PaymentOfBill): Promise<PostedLine> {
    const { idempotencyKey, amountCents } = payment;
    const line: LineDetails = {
      typeName: 'DEBIT_BILL_PAYMENT',
      notes: `Pagamento a ${bill.beneficiary.name}`,
      proof: proofOf(bill, payment, 'PAID'),
    };
    const debit: CustomerLeg = { account, changeCents: -amountCents, line };
    if (bill.issuedSlip) {
      const { charge, account: issuer } = bill.issuedSlip;
      return this.chargeCredits.creditSlipFrom(tx, issuer, charge, { debit, idempotencyKey });
    }
    const [debited] = await this.ledger.post(tx, {
      idempotencyKey,
      legs: [debit, { internal: 'clearing', changeCents: amountCents }],
    });
    await tx.update<BillRow>('bill', { barCode: bill.barCode }, { status: 'PAID' });
    return debited;
  }

  /** Reverses a payment of a locked bill, which can then be paid again. */
  async reverse(tx: SandboxTx, paid: PaymentOfBill): Promise<PostedLine> {
    const { bill, payment, account } = paid;
    const line: LineDetails = {
      typeName: 'CREDIT_BILL_PAYMENT_REVERSAL',
      notes: `Estorno do pagamento a ${bill.beneficiary.name}`,
      proof: proofOf(bill, payment, 'CHARGEBACKED'),
    };
    const reversalDebit = await this.reversalDebitOf(tx, paid);
    // Without the idempotency key of the payment: that key belongs to the debit.
    const [credited] = await this.ledger.post(tx, {
      legs: [{ account, changeCents: payment.amountCents, line }, reversalDebit],
    });
    await reopenBill(tx, bill, this.clock.now());
    return credited;
  }

  /** Debits the issuer of the slip, or the clearing when the issuer's funds are insufficient. */
  private async reversalDebitOf(
    tx: SandboxTx,
    { bill, payment, account }: PaymentOfBill,
  ): Promise<Leg> {
    const changeCents = -payment.amountCents;
    if (!bill.issuedSlip) return { internal: 'clearing', changeCents };
    const { account: issuer, charge } = bill.issuedSlip;
    const lockedIssuer = (await this.ledger.lock(tx, [account, issuer])).get(issuer.id);
    invariant(lockedIssuer, 'the lock returns the issuer');
    if (availableCents(lockedIssuer) < payment.amountCents)
      return { internal: 'clearing', changeCents };
    const line: LineDetails = {
      typeName: 'DEBIT_BANKSLIP_REVERSAL',
      notes: `Estorno do boleto pago por ${account.holderName}`,
      correlationId: charge.correlationId,
      proof: proofOf(bill, payment, 'CHARGEBACKED'),
    };
    return { account: issuer, changeCents, line };
  }
}

function proofOf(bill: Bill, payment: BillPaymentRow, status: string): object {
  const { identifierNumber, barCode, digitableLine, beneficiary, issuer } = bill;
  const amount = wireReais(payment.amountCents);
  const { id } = payment;
  return { id, status, identifierNumber, barCode, digitableLine, amount, beneficiary, issuer };
}
