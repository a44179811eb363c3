// What a test does with bills that no client of a bank can do.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { isUuid } from '../../platform/listing.js';
import { Accounts } from '../accounts/accounts.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import type { NewBillRequest } from './bill-control.schema.js';
import { listBillPayments, type ListedPayment } from './bill-payments.queries.js';
import { findIssued, insertBill } from './bills.queries.js';
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

  /** The bill as the fixtures list it; a code that is known is 409. */
  async create(request: NewBillRequest) {
    const errors = newBillProblems(request);
    if (Object.keys(errors).length > 0) throw new AppError('validation_failed', { errors });
    const seed = this.random.uuid().replaceAll('-', '');
    const bill = newBill(request, { today: this.clock.today(), seed });
    const isNew = await this.database.transaction(
      async (tx) => !(await findIssued(tx, bill.barCode)) && insertBill(tx, bill),
    );
    if (!isNew)
      throw new AppError('conflict', {
        public: 'There is a bill of that code.',
        reason: 'bill_exists',
      });
    const { barCode, digitableLine, type, status, amountCents: amount } = bill;
    return { barCode, digitableLine, type, status, amount };
  }

  /** The newest first; a null account is all of them. */
  async list(account: string | null) {
    if (account !== null) await this.accounts.getByNumber(account);
    return (await listBillPayments(this.database, { account, id: null })).map(told);
  }

  async chargeBack(id: string) {
    if (!isUuid(id)) throw new AppError('not_found');
    await this.database.transaction((tx) => this.chargebacks.chargeBack(tx, id));
    const [payment] = await listBillPayments(this.database, { account: null, id });
    invariant(payment, 'a payment stays');
    return told(payment);
  }
}

function told(payment: ListedPayment) {
  const { id, account, barCode, status, failure } = payment;
  return {
    ...{ id, account, barCode, status, failure },
    amount: payment.amountCents,
    payAt: payment.payAt.toISOString(),
    nsu: payment.transactionNsu,
  };
}
