// Takes a payment back: by hand, or by itself some time after it was answered as paid, as a fault has it.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Faults } from '../faults/faults.service.js';
import type { Tx } from '../sandbox-database.service.js';
import { findBillPayment, lockBillPayment, updateBillPayment } from './bill-payments.queries.js';
import { BillRegister } from './bill-register.service.js';
import { BillSettlement } from './bill-settlement.service.js';

const chargebackKind = 'bill-payment-chargeback';

@Injectable()
export class BillChargebacks {
  constructor(
    private readonly register: BillRegister,
    private readonly settlement: BillSettlement,
    private readonly faults: Faults,
    private readonly dueWork: DueWork,
  ) {
    dueWork.handle(chargebackKind, async (tx, id) => {
      await this.giveBack(tx, id);
    });
  }

  /** Asks the fault `async-error`, last of all: the payment is told as PAID all the same. */
  async mayFollow(tx: Tx, id: string, paidAt: Date): Promise<void> {
    const fault = this.faults.take(['bill-payments'], 'async-error');
    if (!fault) return;
    const dueAt = new Date(paidAt.getTime() + fault.delayMs);
    await this.dueWork.schedule(tx, { kind: chargebackKind, subject: id, dueAt });
  }

  /** Throws `not_found`, and `rule_broken` when the payment is not one that is paid. */
  async chargeBack(tx: Tx, id: string): Promise<void> {
    if (!(await findBillPayment(tx, id))) throw new AppError('not_found');
    if (await this.giveBack(tx, id)) return;
    throw new AppError('rule_broken', {
      public: 'Only a payment that is PAID is charged back.',
      reason: 'bill_payment_not_paid',
    });
  }

  /** False when the payment is not, or no longer, paid. */
  private async giveBack(tx: Tx, id: string): Promise<boolean> {
    const known = await findBillPayment(tx, id);
    const bill = known && (await this.register.lock(tx, known.barCode));
    const payment = await lockBillPayment(tx, id);
    if (payment?.status !== 'PAID') return false;
    const account = await findAccountById(tx, payment.accountId);
    invariant(bill && account, 'a bill with a payment stays, as its payer');
    const { createdAt: at } = await this.settlement.giveBack(tx, account, bill, payment);
    const { transactionNsu } = payment;
    const change = { status: 'CHARGEBACKED', transactionNsu, failure: null, at } as const;
    await updateBillPayment(tx, id, change);
    return true;
  }
}
