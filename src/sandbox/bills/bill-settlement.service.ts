// Moves the money of a payment and the state of its bill together: to the clearing, or to the account that issued the
// slip, and back.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { ChargeCredits } from '../charges/charge-credits.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { availableCents } from '../ledger/funds.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import type { CustomerLeg, Leg, LineDetails, PostedLine } from '../ledger/movement.js';
import type { Tx } from '../sandbox-database.service.js';
import { wireReais } from '../wire-values.js';
import type { Bill } from './bill.js';
import type { BillPaymentRow } from './bill-payments.queries.js';
import { BillRegister } from './bill-register.service.js';
import { refusalOf, type AskedPayment } from './bill-rules.js';

export type SettledPayment = Pick<BillPaymentRow, 'id' | 'amountCents' | 'idempotencyKey'>;

@Injectable()
export class BillSettlement {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly chargeCredits: ChargeCredits,
    private readonly register: BillRegister,
    private readonly clock: BankClock,
  ) {}

  /** Throws `rule_broken` when the account cannot pay that much for the bill on that day, or pay it at all. */
  decide(account: BankAccount, bill: Bill, asked: AskedPayment | null): void {
    const refusal = refusalOf(bill, account.id, asked);
    if (refusal) throw new AppError('rule_broken', { ...refusal });
  }

  /** Debits the account for a bill that is locked and judged; throws `rule_broken` for want of funds. */
  async settle(
    tx: Tx,
    account: BankAccount,
    bill: Bill,
    payment: SettledPayment,
  ): Promise<PostedLine> {
    const { idempotencyKey, amountCents } = payment;
    const line: LineDetails = {
      typeName: 'DEBIT_BILL_PAYMENT',
      notes: `Pagamento a ${bill.beneficiary.name}`,
      proof: proofOf(bill, payment, 'PAID'),
    };
    const debit: CustomerLeg = { account, changeCents: -amountCents, line };
    if (bill.issued) {
      const { charge, account: issuer } = bill.issued;
      return this.chargeCredits.creditSlipFrom(tx, issuer, charge, { debit, idempotencyKey });
    }
    const [debited] = await this.ledger.post(tx, {
      idempotencyKey,
      legs: [debit, { internal: 'clearing', changeCents: amountCents }],
    });
    invariant(debited, 'a debit has its line');
    await this.register.markPaid(tx, bill);
    return debited;
  }

  /** Gives back what was paid for a bill that is locked, which can then be paid again. */
  async giveBack(
    tx: Tx,
    account: BankAccount,
    bill: Bill,
    payment: SettledPayment,
  ): Promise<PostedLine> {
    const { amountCents } = payment;
    const line: LineDetails = {
      typeName: 'CREDIT_BILL_PAYMENT_REVERSAL',
      notes: `Estorno do pagamento a ${bill.beneficiary.name}`,
      proof: proofOf(bill, payment, 'CHARGEBACKED'),
    };
    const giver = await this.giverOf(tx, account, bill, payment);
    // Without the payment's key: it stands for one effect, and that was the debit.
    const [credited] = await this.ledger.post(tx, {
      legs: [{ account, changeCents: amountCents, line }, giver],
    });
    invariant(credited, 'a credit has its line');
    await this.register.reopen(tx, bill, this.clock.now());
    return credited;
  }

  /** The issuer of a slip gives back what it was paid; what it no longer has the clearing bears. */
  private async giverOf(
    tx: Tx,
    account: BankAccount,
    bill: Bill,
    payment: SettledPayment,
  ): Promise<Leg> {
    const changeCents = -payment.amountCents;
    if (!bill.issued) return { internal: 'clearing', changeCents };
    const { account: issuer, charge } = bill.issued;
    const held = (await this.ledger.lock(tx, [account, issuer])).get(issuer.id);
    invariant(held, 'an account that is locked is held');
    if (availableCents(held) < payment.amountCents) return { internal: 'clearing', changeCents };
    const line: LineDetails = {
      typeName: 'DEBIT_BANKSLIP_REVERSAL',
      notes: `Estorno do boleto pago por ${account.holderName}`,
      correlationId: charge.correlationId,
      proof: proofOf(bill, payment, 'CHARGEBACKED'),
    };
    return { account: issuer, changeCents, line };
  }
}

function proofOf(bill: Bill, payment: SettledPayment, status: string): object {
  const { identifierNumber, barCode, digitableLine, beneficiary, issuer } = bill;
  const amount = wireReais(payment.amountCents);
  const { id } = payment;
  return { id, status, identifierNumber, barCode, digitableLine, amount, beneficiary, issuer };
}
