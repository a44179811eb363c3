// Pays bills, each at most once: the bill is asked for first, one living payment a bill is held by the database, and
// what becomes of a payment is told by the bank's answer here, and by its life later.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { getBill, payBill, type BillPaymentAnswer } from '../contract/bill-payments.js';
import type { RouteInput } from '../contract/route.js';
import type { Tx } from '../database.service.js';
import { expectedDebit } from '../expected-payments/expected-debit.js';
import type { Acceptance, Operation, OperationKind, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { BankTime } from '../statement/bank-time.service.js';
import { BillPaymentLife } from './bill-payment-life.service.js';
import * as queries from './bill-payments.queries.js';
import {
  barCodeOf,
  expectedPayTime,
  findBarCode,
  isInThePast,
  latestPayTime,
  payDaysOf,
  refusalOf,
} from './bill-rules.js';

type PayInput = RouteInput<typeof payBill>;

@Injectable()
export class BillPaymentsService implements OnModuleInit {
  private readonly kind: OperationKind<typeof payBill> = {
    name: 'pay_bill',
    route: payBill,
    repeat: 'keyed',
    echoes: ({ body }, answer) =>
      answer.paidAmount === body.amount && findBarCode(answer.barCode) === barCodeOf(body),
    onSucceeded: (tx, operation, acceptance) => this.accepted(tx, operation, acceptance),
    onRejected: (tx, { accountId, id }) => queries.markRejected(tx, { accountId, id }),
    latestEffect: ({ requestBody }, lastSendBy) =>
      latestPayTime(readPayAt(requestBody), lastSendBy, this.bank.profile),
  };

  constructor(
    private readonly operations: OperationsService,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly life: BillPaymentLife,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async pay(accountId: number, input: PayInput, preferences: RequestPreferences): Promise<Reply> {
    const barCode = barCodeOf(input.body);
    const amountCents = input.body.amount;
    // Asked for outside the transaction, and held against a new payment only: a repeat is given its answer although
    // it is that very payment that has paid the bill.
    const now = await this.bankTime.now(accountId);
    const refusal = await this.decide(accountId, barCode, input, now);
    const { payAt } = input.body;
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      naturalIdentity: null,
      joinsSameRequest: false,
      input,
      preferences,
      outgoing: { counterparty: barCode, amountCents, isDistinguishable: false },
      effectiveFrom: payAt ? expectedPayTime(payAt, now) : null,
      expectedPayments: [expectedDebit(amountCents, [{ kind: 'bill_code', value: barCode }])],
      record: async (tx, id, [expectedPaymentId = '']) => {
        await this.takeBill(tx, { accountId, id, barCode, amountCents, expectedPaymentId });
        if (refusal) throw refusal;
      },
    });
  }

  /** Why the bill is not to be paid like this; null when the bank is to be asked to. */
  private async decide(
    accountId: number,
    barCode: string,
    { body: { amount: amountCents, payAt } }: PayInput,
    now: Date,
  ): Promise<AppError | null> {
    if (payAt && isInThePast(payAt, now))
      return new AppError('validation_failed', { errors: { '$.payAt': ['Is in the past.'] } });
    try {
      const bill = await this.readBill(accountId, barCode);
      const refusal = refusalOf(bill, {
        amountCents,
        today: saoPauloDay(now),
        payDays: payDaysOf(payAt ?? null, now),
      });
      return refusal && new AppError('rule_broken', { ...refusal });
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  /** Throws what the bank refuses, or that it is away. */
  private async readBill(accountId: number, barCode: string) {
    const { body } = await this.bank.relay(getBill, await this.accounts.get(accountId), {
      params: { identifier: barCode },
      query: {},
      body: undefined,
      idempotencyKey: null,
    });
    const bill = z.decode(getBill.response, parseJson(body) as never);
    if (findBarCode(bill.barCode) === barCode) return bill;
    throw new AppError('bank_unreachable', { internal: 'the bank told another bill' });
  }

  /** One living payment a bill, however it is written and whoever asks at the same time. */
  private async takeBill(tx: Tx, payment: queries.NewPayment): Promise<void> {
    const { accountId, barCode } = payment;
    if (await queries.insertPayment(tx, payment)) return;
    const isFree = await queries.freeReturned(tx, accountId, barCode);
    if (isFree && (await queries.insertPayment(tx, payment))) return;
    const live = await queries.findLive(tx, accountId, barCode);
    const isPaid = live?.state === 'paid';
    throw new AppError('rule_broken', {
      reason: isPaid ? 'bill_not_payable' : 'bill_already_scheduled',
      public: isPaid ? 'The bill is paid.' : 'The bill is being paid, or is to be.',
      ...(live ? { headers: { Location: `/v1/operations/${live.id}` } } : {}),
    });
  }

  private async accepted(
    tx: Tx,
    operation: Operation,
    { answer }: Acceptance<BillPaymentAnswer>,
  ): Promise<void> {
    await this.life.accept(tx, operation, { answer, payAt: readPayAt(operation.requestBody) });
  }
}

/** What the request asked for as `payAt`. */
function readPayAt(requestBody: string | null): string | null {
  const { payAt } = parseJson(requestBody ?? '{}') as { payAt?: string | null };
  return payAt ?? null;
}
