// Charges a paid bill back: at the request of a test, or later by the fault `async-error`.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Faults } from '../faults/faults.service.js';
import { ruleBroken } from '../refusals.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import type { BillPaymentRow } from './bill-payments.queries.js';
import { lockBill } from './bills.queries.js';
import { BillSettlement } from './bill-settlement.service.js';

const chargebackKind = 'bill-payment-chargeback';

@Injectable()
export class BillChargebacks {
  constructor(
    private readonly settlement: BillSettlement,
    private readonly faults: Faults,
    private readonly dueWork: DueWork,
  ) {
    dueWork.handle(chargebackKind, async (tx, id) => {
      await this.chargeBackIfPaid(tx, id);
    });
  }

  /** Schedules a chargeback when the fault `async-error` fires. The response still reports PAID. */
  async scheduleIfFaulty(tx: SandboxTx, id: string, paidAt: Date): Promise<void> {
    const fault = this.faults.fire(['bill-payments'], 'async-error');
    if (!fault) return;
    const dueAt = new Date(paidAt.getTime() + fault.delayMs);
    await this.dueWork.schedule(tx, { kind: chargebackKind, subject: id, dueAt });
  }

  /** Throws `not_found`, and `rule_broken` when the payment is not PAID. */
  async chargeBack(tx: SandboxTx, id: string): Promise<void> {
    if (!(await tx.findRow<BillPaymentRow>('bill_payment', { id })))
      throw new AppError('not_found');
    if (await this.chargeBackIfPaid(tx, id)) return;
    throw ruleBroken(
      'bill_payment_not_paid',
      'Only a payment with status PAID can be charged back.',
    );
  }

  /** False when the payment is not, or no longer, PAID. */
  private async chargeBackIfPaid(tx: SandboxTx, id: string): Promise<boolean> {
    const stored = await tx.findRow<BillPaymentRow>('bill_payment', { id });
    const bill = stored && (await lockBill(tx, stored.barCode));
    const payment = await tx.lockRow<BillPaymentRow>('bill_payment', { id });
    if (payment?.status !== 'PAID') return false;
    const account = await findAccountById(tx, payment.accountId);
    invariant(bill && account, 'bills with payments and payers are never deleted');
    const { createdAt } = await this.settlement.reverse(tx, account, bill, payment);
    const change = { status: 'CHARGEBACKED', updatedAt: createdAt } as const;
    await tx.update<BillPaymentRow>('bill_payment', { id }, change);
    return true;
  }
}
