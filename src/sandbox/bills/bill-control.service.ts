// The control plane of bills: actions that a test needs and that no bank offers its clients.
import { Injectable } from '@nestjs/common';
import {
  AppError,
  conflict,
  invalidField,
  invariant,
  refuseInvalid,
} from '../../platform/errors.js';
import { isUuid } from '../../platform/http/listing.js';
import { Accounts } from '../accounts/accounts.service.js';
import { findCharge } from '../charges/charges.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import type { RequestedBill } from './bill-control.schema.js';
import { selectBillPayments } from './bills.queries.js';
import { newBill, newBillProblems, withCode } from './new-bill.js';

const maxListed = 1_000;

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
  async create(request: RequestedBill) {
    const today = this.clock.today();
    const whole = withCode(request, today);
    if (whole === null) throw invalidField('$.amount', 'The field is required.');
    refuseInvalid(newBillProblems(whole));
    const seed = this.random.uuid().replaceAll('-', '');
    const bill = newBill(whole, { today, seed });
    const isNew = await this.database.transaction(
      async (tx) =>
        !(await findCharge(tx, { barCode: bill.barCode })) &&
        tx.insert('bill', bill, 'ON CONFLICT DO NOTHING'),
    );
    if (!isNew) throw conflict('bill_exists', 'A bill with this code already exists.');
    return { ...bill, amount: bill.amountCents };
  }

  /** Newest first; a null account lists all accounts. */
  async list(number: string | null) {
    const account = number === null ? null : await this.accounts.getByNumber(number);
    return this.listPayments({ accountId: account?.id });
  }

  async chargeBack(id: string) {
    if (!isUuid(id)) throw new AppError('not_found');
    await this.database.transaction((tx) => this.chargebacks.chargeBack(tx, id));
    const [payment] = await this.listPayments({ id });
    invariant(payment, 'a payment is never deleted');
    return payment;
  }

  private async listPayments(of: { accountId?: number | undefined; id?: string }) {
    const payments = await selectBillPayments(this.database, { ...of, limit: maxListed });
    return payments.map(({ amountCents: amount, transactionNsu: nsu, ...payment }) => {
      return { ...payment, amount, nsu };
    });
  }
}
