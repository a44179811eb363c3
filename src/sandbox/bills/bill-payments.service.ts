// Pays bills, each once: the bill is locked while it is judged, so that of many payments at once one goes through.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { parseBillCode } from '../../brazil/bill-code.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { payBill, type BillPaymentRequest } from '../../contract/bill-payments.js';
import { AppError, invariant } from '../../platform/errors.js';
import { canonicalJson, sha256, stringifyJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/party.js';
import { Idempotency } from '../idempotency.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase, type Tx } from '../sandbox-database.service.js';
import type { Bill } from './bill.js';
import { billPaymentAnswer } from './bill-answer.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import {
  findLivePayment,
  insertBillPayment,
  type BillPaymentRow,
} from './bill-payments.queries.js';
import { BillPlans } from './bill-plans.service.js';
import { BillRegister } from './bill-register.service.js';
import { BillSettlement } from './bill-settlement.service.js';

@Injectable()
export class BillPayments {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly idempotency: Idempotency,
    private readonly register: BillRegister,
    private readonly settlement: BillSettlement,
    private readonly plans: BillPlans,
    private readonly chargebacks: BillChargebacks,
    private readonly random: Random,
  ) {}

  /** The text of the answer; the same one for a repeat of the key. */
  async pay(account: BankAccount, request: BillPaymentRequest, key: string): Promise<string> {
    const bodyHash = sha256(canonicalJson(request));
    const identity = { accountId: account.id, operation: payBill.name, key, bodyHash };
    return this.database.transaction((tx) =>
      this.idempotency.once(tx, identity, async () => {
        const answer = await this.accept(tx, account, request, key);
        return stringifyJson(z.encode(payBill.response, answer));
      }),
    );
  }

  private async accept(tx: Tx, account: BankAccount, request: BillPaymentRequest, key: string) {
    const { now, payAt, isImmediate } = this.plans.plan(request.payAt ?? null);
    // Whoever asks for a day pays what is owed then; who only comes too late in the day, what was told today.
    const day = saoPauloDay(request.payAt ? payAt : now);
    const bill = await this.register.lock(tx, barCodeOf(request));
    if (!bill) throw new AppError('not_found');
    await this.refuseSecond(tx, bill);
    this.settlement.decide(account, bill, { amountCents: request.amount, day });
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
    if (!isImmediate) {
      await insertBillPayment(tx, payment);
      await this.plans.follow(tx, payment);
      return billPaymentAnswer(bill, payment, day);
    }
    const { nsu } = await this.settlement.settle(tx, account, bill, payment);
    const paid: BillPaymentRow = { ...payment, status: 'PAID', transactionNsu: nsu };
    await insertBillPayment(tx, paid);
    await this.chargebacks.mayFollow(tx, paid.id, now);
    return billPaymentAnswer(bill, paid, day);
  }

  private async refuseSecond(tx: Tx, bill: Bill): Promise<void> {
    const live = await findLivePayment(tx, bill.barCode);
    if (live?.status === 'SCHEDULED')
      throw new AppError('rule_broken', {
        public: 'A payment of the bill is scheduled.',
        reason: 'bill_already_scheduled',
      });
    if (live)
      throw new AppError('rule_broken', {
        public: 'The bill is paid.',
        reason: 'bill_not_payable',
      });
  }
}

function barCodeOf({ barCode, digitableLine }: BillPaymentRequest): string {
  const parsed = parseBillCode(barCode ?? digitableLine ?? '');
  invariant(parsed.ok, 'the route takes only codes that hold');
  return parsed.code.barCode;
}
