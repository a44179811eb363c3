// The control plane of bills: actions that a test needs and that no bank offers its clients.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { isUuid } from '../../platform/listing.js';
import { Accounts } from '../accounts/accounts.service.js';
import { findChargeByBarCode } from '../charges/charges.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Random } from '../random.service.js';
import { conflict, refuseInvalid } from '../refusals.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import type { NewBillRequest } from './bill-control.schema.js';
import { listSandboxBillPayments, type ListedBillPayment } from './bill-payments.queries.js';
import { newBill, newBillProblems } from './new-bill.js';

@Injectable()
export class BillControl {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly chargebacks: BillChargebacks,
    private readonly clock: BankClock,
    private readonly random: Random,
  ) {}

  /** Returns the bill as the fixtures list it. Throws `conflict` when the code exists. */
  async create(request: NewBillRequest) {
    const errors = newBillProblems(request);
    refuseInvalid(errors);
    const seed = this.random.uuid().replaceAll('-', '');
    const bill = newBill(request, { today: this.clock.today(), seed });
    const isNew = await this.database.transaction(
      async (tx) =>
        !(await findChargeByBarCode(tx, bill.barCode)) &&
        tx.insert('bill', bill, 'ON CONFLICT DO NOTHING'),
    );
    if (!isNew) throw conflict('bill_exists', 'A bill with this code already exists.');
    const { barCode, digitableLine, type, status, amountCents: amount } = bill;
    return { barCode, digitableLine, type, status, amount };
  }

  /** Newest first; a null account lists all accounts. */
  async list(account: string | null) {
    if (account !== null) await this.accounts.getByNumber(account);
    return (await listSandboxBillPayments(this.database, { account, id: null })).map(
      paymentResponse,
    );
  }

  async chargeBack(id: string) {
    if (!isUuid(id)) throw new AppError('not_found');
    await this.database.transaction((tx) => this.chargebacks.chargeBack(tx, id));
    const [payment] = await listSandboxBillPayments(this.database, { account: null, id });
    invariant(payment, 'a payment is never deleted');
    return paymentResponse(payment);
  }
}

function paymentResponse(payment: ListedBillPayment) {
  const { id, account, barCode, status, failure } = payment;
  return {
    ...{ id, account, barCode, status, failure },
    amount: payment.amountCents,
    payAt: payment.payAt.toISOString(),
    nsu: payment.transactionNsu,
  };
}
