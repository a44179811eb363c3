// What becomes of a payment after the bank has accepted it. A scheduled one is followed until its money is on the
// statement, or until the statement proves that it did not go: the bill's status does not say who paid it. What was
// taken for failed, and whose money shows after all, is paid.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { getBill, type BillPaymentAnswer } from '../contract/bill-payments.js';
import { Database, type Tx } from '../database.service.js';
import { eventAmount } from '../events/event-amount.js';
import { EventsService, type NewEvent } from '../events/events.service.js';
import {
  ExpectedPaymentsService,
  type Reference,
} from '../expected-payments/expected-payments.service.js';
import type { Operation } from '../operations/operation.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import { parseInstant } from '../statement/line.js';
import { expectedPayTime, findBarCode, mayGoUntil } from './bill-rules.js';
import * as queries from './bill-payments.queries.js';
import { pauseAfterMs, stateAfter, stateReportedBy } from './payment-life.js';

const batchSize = 50;
/** How much longer it takes to know that it was not us who paid, or held up, a bill that cannot be paid any more. */
const lateMs = 12 * 3_600_000;

export interface Accepted {
  /** Null when only the statement showed it. */
  answer: BillPaymentAnswer | null;
  /** As it was asked for. */
  payAt: string | null;
}

@Injectable()
export class BillPaymentLife {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Notes what the acceptance tells, once or again. */
  async accept(
    tx: Tx,
    { accountId, id, createdAt }: Operation,
    { answer, payAt }: Accepted,
  ): Promise<void> {
    const payment = await queries.lockPayment(tx, { accountId, id });
    if (!payment) return;
    const told = answer ? stateReportedBy(answer) : 'paid';
    const state = stateAfter(payment.state, told);
    const acceptedAt = (answer && parseInstant(answer.createdAt)) ?? createdAt;
    const scheduledFor =
      told === 'scheduled'
        ? ((answer?.payAt ? parseInstant(answer.payAt) : null) ??
          expectedPayTime(payAt, acceptedAt))
        : null;
    const bankId = answer?.id ?? null;
    const bankStatus = answer?.status ?? null;
    await queries.recordReported(
      tx,
      { accountId, id },
      {
        state,
        bankId,
        bankStatus,
        scheduledFor,
        mayGoUntil: scheduledFor && mayGoUntil(scheduledFor, this.bank.profile),
        // A bill is held by one payment. One that was given up, and whose bill another took, lives on without it.
        isLetGo: payment.otherLiveId !== null && state !== 'failed',
      },
    );
    if (answer)
      await this.expectedPayments.addReferences(
        tx,
        accountId,
        payment.expectedPaymentId,
        referencesOf(answer),
      );
    if (state === 'scheduled' && payment.state !== 'scheduled')
      await this.events.record(tx, accountId, [
        eventOf('bill_payment.scheduled', id, { ...payment, bankId, scheduledFor }),
      ]);
  }

  /** Wakes the accounts that have scheduled payments to look at. */
  async enqueueDue(): Promise<void> {
    for (const due of await queries.listDueAccounts(this.database.prisma, this.boundMs ?? 0))
      await this.jobQueue.enqueue('followBillPayments', due);
  }

  /** Looks at the scheduled payments whose time has come. */
  @OnJob('followBillPayments')
  async follow({ accountId }: JobPayload<'followBillPayments'>): Promise<void> {
    const db = this.database.prisma;
    const due = await queries.listDue(db, accountId, this.boundMs ?? 0, batchSize);
    for (const payment of due) await this.look(accountId, payment);
  }

  /** How late its money may show on the statement; null when nobody has said. */
  private get boundMs(): number | null {
    return this.bank.profile.visibilityBoundMs;
  }

  private async look(accountId: number, payment: queries.DuePayment): Promise<void> {
    const db = this.database.prisma;
    const key = { accountId, id: payment.id };
    if (payment.isMatched) return this.markPaid(key, null);
    const bankStatus = await this.readStatus(accountId, payment.barCode);
    const { boundMs } = this;
    // Where the statement can prove nothing, the bank's word is the best that there is.
    if (boundMs === null && bankStatus === 'PAID') return this.markPaid(key, bankStatus);
    if (boundMs !== null && bankStatus !== null) {
      const closedForMs = boundMs + (bankStatus === 'PENDING_PAYMENT' ? 0 : lateMs);
      if (await this.fail(key, { bankStatus, closedForMs })) return;
      await this.jobQueue.enqueue('closeStatement', { accountId });
    }
    const pauseMs = pauseAfterMs(payment.checks + 1, boundMs !== null);
    await queries.postpone(db, key, { bankStatus, pauseMs });
  }

  /** Null when the bank did not say. */
  private async readStatus(accountId: number, barCode: string): Promise<string | null> {
    const account = await this.accounts.get(accountId);
    const answer = await this.bank.call(
      getBill,
      account,
      { params: { identifier: barCode } },
      { echoes: (bill) => findBarCode(bill.barCode) === barCode },
    );
    return answer.outcome === 'success' ? answer.value.status : null;
  }

  private async markPaid(key: queries.PaymentKey, bankStatus: string | null): Promise<void> {
    const { accountId, id } = key;
    await this.database.transaction(async (tx) => {
      await queries.markPaid(tx, key, bankStatus);
      await this.expectedPayments.reinstate(tx, accountId, [id]);
    });
  }

  /** False while the statement does not prove it. */
  private async fail(
    { accountId, id }: queries.PaymentKey,
    evidence: { bankStatus: string; closedForMs: number },
  ): Promise<boolean> {
    const hasFailed = await this.database.transaction(async (tx) => {
      const failed = await queries.failUnpaid(tx, { accountId, id }, evidence);
      if (!failed) return false;
      await this.expectedPayments.withdraw(tx, { accountId, operationId: id });
      await this.events.record(tx, accountId, [eventOf('bill_payment.failed', id, failed)]);
      return true;
    });
    if (hasFailed) await this.events.announce(accountId);
    return hasFailed;
  }
}

/** Ids by which the line of the debit may name the payment. */
function referencesOf({ id, transactionNsu }: BillPaymentAnswer): Reference[] {
  const references: Reference[] = [{ kind: 'movement_id', value: id }];
  if (transactionNsu != null) references.push({ kind: 'nsu', value: String(transactionNsu) });
  return references;
}

function eventOf(
  type: 'bill_payment.scheduled' | 'bill_payment.failed',
  operationId: string,
  { bankId, amountCents, scheduledFor }: queries.FailedPayment,
): NewEvent {
  return {
    type,
    data: {
      operationId,
      bankId,
      amount: eventAmount(amountCents),
      scheduledFor: scheduledFor?.toISOString() ?? null,
    },
  };
}
