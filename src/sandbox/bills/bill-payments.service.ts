// Pays bills, each once: the bill is locked while its rules are checked, so only one of concurrent
// payments succeeds.
import { Injectable } from '@nestjs/common';
import { parseBillCode } from '../../brazil/bill-code.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { payBill, type BillPaymentRequest } from '../../bank-contract/bill-payments.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, invariant, ruleBroken } from '../../platform/errors.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock, latestInstant } from '../clock/bank-clock.service.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import { Modes } from '../modes/modes.service.js';
import { Random } from '../random.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import type { Bill } from './bill.js';
import { billPaymentResponse } from './bill-response.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import { billPaymentTime } from './bill-payment-time.js';
import { findActiveBillPayment, lockBill, type BillPaymentRow } from './bills.queries.js';
import { assertPayable } from './bill-rules.js';
import { BillSettlement } from './bill-settlement.service.js';
import { ScheduledBillPayments } from './scheduled-bill-payments.service.js';

@Injectable()
export class BillPayments {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly settlement: BillSettlement,
    private readonly scheduled: ScheduledBillPayments,
    private readonly chargebacks: BillChargebacks,
    private readonly random: Random,
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  pay(request: AccountRequest<typeof payBill>): Promise<Reply> {
    return this.idempotency.runOnce(payBill, request, async (tx, key) =>
      responseText(payBill, await this.accept(tx, request.account, request.body, key)),
    );
  }

  private async accept(
    tx: SandboxTx,
    account: SandboxAccount,
    request: BillPaymentRequest,
    key: string,
  ) {
    const now = this.clock.now();
    const { billPaymentHours: hours, preset } = this.modes.current;
    const payAt = billPaymentTime(request.payAt ?? null, { now, latest: latestInstant, hours });
    // A requested day uses the amount due on that day. A payment after hours uses the amount
    // queried today.
    const day = saoPauloDay(request.payAt ? payAt : now);
    const bill = await lockBill(tx, barCodeOf(request));
    if (!bill) throw new AppError('not_found');
    await this.assertNoActivePayment(tx, bill);
    assertPayable(bill, account.id, { amountCents: request.amount, day });
    const payment: BillPaymentRow = {
      id: this.random.uuid(),
      accountId: account.id,
      barCode: bill.barCode,
      status: 'SCHEDULED',
      amountCents: request.amount,
      payAt,
      idempotencyKey: key,
      transactionNsu: null,
      failure: null,
      createdAt: now,
      updatedAt: now,
    };
    if (payAt > now) {
      await tx.insert('bill_payment', payment);
      await this.scheduled.schedule(tx, payment);
      return billPaymentResponse(bill, payment, day, preset);
    }
    const { nsu } = await this.settlement.settle(tx, { bill, payment, account });
    const paid: BillPaymentRow = { ...payment, status: 'PAID', transactionNsu: nsu };
    await tx.insert('bill_payment', paid);
    await this.chargebacks.scheduleIfFaulty(tx, paid.id, now);
    return billPaymentResponse(bill, paid, day, preset);
  }

  private async assertNoActivePayment(tx: SandboxTx, bill: Bill): Promise<void> {
    const active = await findActiveBillPayment(tx, bill.barCode);
    if (active?.status === 'SCHEDULED')
      throw ruleBroken('bill_already_scheduled', 'A payment of this bill is already scheduled.');
    if (active) throw ruleBroken('bill_not_payable', 'The bill is already paid.');
  }
}

function barCodeOf({ barCode, digitableLine }: BillPaymentRequest): string {
  const parsed = parseBillCode(barCode ?? digitableLine ?? '');
  invariant(parsed.ok, 'the route accepts only valid codes');
  return parsed.code.barCode;
}
