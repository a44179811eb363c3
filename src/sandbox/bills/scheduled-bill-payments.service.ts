// Pays what was scheduled, at its time: all rules are judged again, and what breaks one is not paid and says why.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import type { Tx } from '../sandbox-database.service.js';
import type { Bill } from './bill.js';
import {
  findBillPayment,
  lockBillPayment,
  updateBillPayment,
  type BillPaymentRow,
} from './bill-payments.queries.js';
import { scheduledPaymentKind } from './bill-plans.service.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import { BillRegister } from './bill-register.service.js';
import { BillSettlement } from './bill-settlement.service.js';

@Injectable()
export class ScheduledBillPayments {
  constructor(
    private readonly register: BillRegister,
    private readonly settlement: BillSettlement,
    private readonly chargebacks: BillChargebacks,
    private readonly clock: BankClock,
    dueWork: DueWork,
  ) {
    dueWork.handle(scheduledPaymentKind, (tx, id) => this.payDue(tx, id));
  }

  private async payDue(tx: Tx, id: string): Promise<void> {
    const known = await findBillPayment(tx, id);
    if (!known) return;
    const bill = await this.register.lock(tx, known.barCode);
    const payment = await lockBillPayment(tx, id);
    if (payment?.status !== 'SCHEDULED') return;
    invariant(bill, 'a bill with a payment stays');
    const { nsu, failure } = await this.tryToPay(tx, bill, payment);
    const status = nsu === null ? 'SCHEDULE_FAILURE' : 'PAID';
    const at = this.clock.now();
    await updateBillPayment(tx, id, { status, transactionNsu: nsu, failure, at });
    if (status === 'PAID') await this.chargebacks.mayFollow(tx, id, at);
  }

  /** A rule that is broken is found before anything is written: the transaction goes on. */
  private async tryToPay(
    tx: Tx,
    bill: Bill,
    payment: BillPaymentRow,
  ): Promise<{ nsu: bigint | null; failure: string | null }> {
    const account = await findAccountById(tx, payment.accountId);
    invariant(account, 'a payer stays');
    try {
      // The amount was accepted for this day, or for the day of its acceptance: it stays right.
      this.settlement.decide(account, bill, null);
      const { nsu } = await this.settlement.settle(tx, account, bill, payment);
      return { nsu, failure: null };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'rule_broken') throw error;
      return { nsu: null, failure: error.details.reason ?? error.code };
    }
  }
}
