// Pays scheduled bills when they are due. All rules are checked again; a violation stores the
// failure and moves no money.
import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import { lockPaymentOfBill, type BillPaymentRow, type PaymentOfBill } from './bills.queries.js';
import { assertPayable } from './bill-rules.js';
import { BillSettlement } from './bill-settlement.service.js';

const kind = 'scheduled-bill-payment';

@Injectable()
export class ScheduledBillPayments {
  constructor(
    private readonly settlement: BillSettlement,
    private readonly chargebacks: BillChargebacks,
    private readonly clock: BankClock,
    private readonly dueWork: DueWork,
  ) {
    dueWork.handle(kind, (tx, id) => this.payDue(tx, id));
  }

  async schedule(tx: SandboxTx, { id, payAt }: BillPaymentRow): Promise<void> {
    await this.dueWork.schedule(tx, { kind, subject: id, dueAt: payAt });
  }

  private async payDue(tx: SandboxTx, id: string): Promise<void> {
    const scheduled = await lockPaymentOfBill(tx, id);
    if (scheduled?.payment.status !== 'SCHEDULED') return;
    const { nsu, failure } = await this.tryToPay(tx, scheduled);
    const status = nsu === null ? 'SCHEDULE_FAILURE' : 'PAID';
    const updatedAt = this.clock.now();
    const change = { status, transactionNsu: nsu, failure, updatedAt } as const;
    await tx.update<BillPaymentRow>('bill_payment', { id }, change);
    if (status === 'PAID') await this.chargebacks.scheduleIfFaulty(tx, id, updatedAt);
  }

  /** `rule_broken` is thrown before anything is written, so the transaction can continue. */
  private async tryToPay(
    tx: SandboxTx,
    scheduled: PaymentOfBill,
  ): Promise<{ nsu: bigint | null; failure: string | null }> {
    try {
      // The amount was checked at acceptance, for the requested day or the day of acceptance. It is
      // not checked again.
      assertPayable(scheduled.bill, scheduled.account.id, null);
      const { nsu } = await this.settlement.settle(tx, scheduled);
      return { nsu, failure: null };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'rule_broken') throw error;
      return { nsu: null, failure: error.details.reason ?? error.code };
    }
  }
}
