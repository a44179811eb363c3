// Charges a paid bill back: at the request of a test, or later by the fault `async-error`.
import { Injectable } from '@nestjs/common';
import { AppError, ruleBroken } from '../../platform/errors.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Faults } from '../faults/faults.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { lockPaymentOfBill, type BillPaymentRow, type PaymentOfBill } from './bills.queries.js';
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
      const locked = await lockPaymentOfBill(tx, id);
      if (locked) await this.chargeBackIfPaid(tx, locked);
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
    const locked = await lockPaymentOfBill(tx, id);
    if (!locked) throw new AppError('not_found');
    if (await this.chargeBackIfPaid(tx, locked)) return;
    throw ruleBroken(
      'bill_payment_not_paid',
      'Only a payment with status PAID can be charged back.',
    );
  }

  /** False when the payment is not, or no longer, PAID. */
  private async chargeBackIfPaid(tx: SandboxTx, paid: PaymentOfBill): Promise<boolean> {
    const { id, status } = paid.payment;
    if (status !== 'PAID') return false;
    const { createdAt } = await this.settlement.reverse(tx, paid);
    const change = { status: 'CHARGEBACKED', updatedAt: createdAt } as const;
    await tx.update<BillPaymentRow>('bill_payment', { id }, change);
    return true;
  }
}
