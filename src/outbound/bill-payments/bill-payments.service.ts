// Pays bills, each at most once. The bill is queried first, and the database allows one live
// payment per bill. The bank's response is recorded here; After that, BillPaymentLifecycle follows
// the payment.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { getBill, payBill } from '../../bank-contract/bill-payments.js';
import type { RouteInput } from '../../bank-contract/route.js';
import type { Tx } from '../../platform/postgres/database.service.js';
import { expectedDebit, referencesOf } from '../../statement/expected-payments/expected-payment.js';
import { withoutMetadata } from '../../statement/expected-payments/metadata.js';
import type { Operation, OperationKind, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, conflict, invalidField } from '../../platform/errors.js';
import { parseJson } from '../../platform/json/exact-json.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import type { AmountRange } from './bill-amounts.js';
import { BillPaymentLifecycle } from './bill-payment-lifecycle.service.js';
import * as queries from './bill-payments.queries.js';
import {
  barCodeOf,
  expectedPayTime,
  findBillRuleViolation,
  isInThePast,
  isOfBill,
  latestPayTime,
  payDaysOf,
  rangeOf,
} from './bill-rules.js';

type PayBillInput = RouteInput<typeof payBill>;

@Injectable()
export class BillPaymentsService implements OnModuleInit {
  private readonly kind: OperationKind<typeof payBill> = {
    name: 'pay_bill',
    sendsMoney: 'bill',
    route: payBill,
    repeat: 'keyed',
    echoes: ({ body }, response) =>
      response.paidAmount === body.amount && isOfBill(response, barCodeOf(body)),
    onSucceeded: (tx, operation, { response }) => {
      const payAt = readPayAt(operation.requestBody);
      return this.lifecycle.recordAcceptance(tx, operation, response, payAt);
    },
    onRejected: queries.markBillPaymentRejected,
    assertStillSendable: assertPayAtIsToCome,
    latestEffectAt: ({ requestBody }, lastSendBy) =>
      latestPayTime(readPayAt(requestBody), lastSendBy, this.bank.profile),
  };

  constructor(
    private readonly operations: OperationsService,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly lifecycle: BillPaymentLifecycle,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async pay(
    accountId: number,
    request: PayBillInput,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const barCode = barCodeOf(input.body);
    const amountCents = input.body.amount;
    // The bill is queried outside the transaction. A violation rejects only a new payment. A repeat
    // gets the stored response, although its own payment has made the bill unpayable.
    const now = await this.bankTime.now(accountId);
    const { violation, range } = await this.checkBill(accountId, barCode, input, now);
    const { payAt } = input.body;
    const effectiveFrom = payAt ? expectedPayTime(payAt, now) : null;
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      preferences,
      outgoing: { counterparty: barCode, amountCents, isDistinguishable: false },
      effectiveFrom,
      expectedPayments: [
        expectedDebit(amountCents, referencesOf({ bill_code: barCode }), effectiveFrom),
      ],
      record: async (tx, id, [expectedPaymentId = '']) => {
        await this.claimBill(tx, {
          ...{ accountId, id, barCode, amountCents, expectedPaymentId, ...range },
        });
        if (violation) throw violation;
      },
    });
  }

  /** The error for a new payment; null when the request may be sent, within the bill's range. */
  private async checkBill(
    accountId: number,
    barCode: string,
    { body: { amount: amountCents, payAt } }: PayBillInput,
    now: Date,
  ): Promise<{ violation: AppError | null; range?: AmountRange }> {
    if (payAt && isInThePast(payAt, now))
      return {
        violation: invalidField('$.payAt', `payAt must not be in the past, got ${payAt}.`),
      };
    try {
      const bill = await this.readBill(accountId, barCode);
      const days = { today: saoPauloDay(now), payDays: payDaysOf(payAt ?? null, now) };
      const violation = findBillRuleViolation(bill, { amountCents, ...days });
      return violation
        ? { violation: new AppError('rule_broken', { ...violation }) }
        : { violation: null, range: rangeOf(bill, days) };
    } catch (error) {
      if (error instanceof AppError) return { violation: error };
      throw error;
    }
  }

  /** Throws the bank's rejection, or `bank_unreachable` when the bank does not return this bill. */
  private async readBill(accountId: number, barCode: string) {
    const { value: bill } = await this.bank.callOrThrow(
      getBill,
      await this.accounts.get(accountId),
      { params: { identifier: barCode }, query: {}, body: undefined, idempotencyKey: null },
    );
    if (isOfBill(bill, barCode)) return bill;
    throw new AppError('bank_unreachable', { internal: 'the bank returned another bill' });
  }

  /**
   * Inserts the payment as the only live payment of its bill, also when concurrent requests give
   * the bill in different forms. Throws `bill_not_payable` or `bill_already_scheduled`.
   */
  private async claimBill(tx: Tx, payment: queries.NewBillPayment): Promise<void> {
    const { accountId, barCode } = payment;
    if (await queries.insertRequestedBillPayment(tx, payment)) return;
    const isFreed = await queries.freeReversedBill(tx, accountId, barCode);
    if (isFreed && (await queries.insertRequestedBillPayment(tx, payment))) return;
    const live = await tx.billPayment.findFirst({
      where: { accountId, barCode, state: { notIn: ['failed', 'rejected'] }, freedAt: null },
    });
    const isPaid = live?.state === 'paid';
    throw new AppError('rule_broken', {
      reason: isPaid ? 'bill_not_payable' : 'bill_already_scheduled',
      public: isPaid
        ? 'The bill is already paid.'
        : 'The bill already has a payment in progress or scheduled.',
      ...(live ? { headers: { Location: `/v1/operations/${live.id}` } } : {}),
    });
  }
}

/** Throws `pay_time_passed` for a payment that waited until its scheduled time had passed. */
async function assertPayAtIsToCome(
  tx: Tx,
  { accountId, requestBody }: Pick<Operation, 'accountId' | 'requestBody'>,
): Promise<void> {
  const payAt = readPayAt(requestBody);
  if (payAt !== null && isInThePast(payAt, await readBankTime(tx, accountId)))
    throw conflict('pay_time_passed', `payAt must not be in the past, it is ${payAt}.`);
}

/** `payAt` of the stored request. */
function readPayAt(requestBody: string | null): string | null {
  const { payAt } = parseJson(requestBody ?? '{}') as { payAt?: string | null };
  return payAt ?? null;
}
