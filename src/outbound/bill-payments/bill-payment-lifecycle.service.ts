// Follows a bill payment after the bank has accepted it. A scheduled payment is checked until the
// statement shows its debit, or proves that there was none. The bill's status does not show who
// paid the bill. A failed payment becomes paid when its debit appears after all.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { getBill, type BillPaymentResponse } from '../../bank-contract/bill-payments.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { referencesOf } from '../../statement/expected-payments/expected-payment.js';
import { insertFacts } from '../../statement/expected-payments/expected-payments.queries.js';
import { addReferences } from '../../statement/expected-payments/recording.queries.js';
import type { Operation } from '../operations/operation.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { parseInstant } from '../../statement/lines/statement-line.js';
import {
  maxStatusChecks,
  nextBillPaymentState,
  stateOfBillPaymentResponse,
  statusCheckPauseMs,
} from './bill-payment-state.js';
import * as queries from './bill-payments.queries.js';
import { expectedPayTime, isOfBill, latestExecutionAt } from './bill-rules.js';

const batchSize = 50;
/**
 * How much longer the statement must be closed before a payment fails, if its bill can no longer be
 * paid. The payment itself may have paid or blocked the bill.
 */
const unpayableBillDelayMs = 12 * 3_600_000;

@Injectable()
export class BillPaymentLifecycle {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly events: EventsService,
    @InjectQueue(jobs.checkBillPaymentStatuses.name)
    private readonly checkBillPaymentStatusesQueue: JobQueue<'checkBillPaymentStatuses'>,
    @InjectQueue(jobs.closeStatement.name)
    private readonly closeStatementQueue: JobQueue<'closeStatement'>,
  ) {}

  /**
   * Records an acceptance. `response` is null when only the statement shows the payment; `payAt` is
   * of the request. Idempotent: it may be called again, with the same or more data.
   */
  async recordAcceptance(
    tx: Tx,
    { accountId, id, createdAt }: Operation,
    response: BillPaymentResponse | null,
    payAt: string | null,
  ): Promise<void> {
    const key = { accountId, id };
    const payment = await queries.findBillPaymentForUpdate(tx, key);
    if (!payment) return;
    const reportedState = response ? stateOfBillPaymentResponse(response) : 'paid';
    const state = nextBillPaymentState(payment.state, reportedState);
    const acceptedAt = (response?.createdAt && parseInstant(response.createdAt)) || createdAt;
    const scheduledFor =
      reportedState === 'scheduled'
        ? ((response?.payAt ? parseInstant(response.payAt) : null) ??
          expectedPayTime(payAt, acceptedAt))
        : null;
    const bankId = response?.id ?? null;
    const bankStatus = response?.status ?? null;
    await queries.recordBillPaymentAcceptance(tx, key, {
      state,
      bankId,
      bankStatus,
      scheduledFor,
      latestExecutionAt: scheduledFor && latestExecutionAt(scheduledFor, this.bank.profile),
      // A bill has at most one live payment. An ended payment is revived without its bill if the
      // bill has another live payment by now.
      isBillFreed: payment.otherLiveId !== null && state !== 'failed',
    });
    if (response) {
      const { expectedPaymentId } = payment;
      const { id: movementId, transactionNsu: nsu } = response;
      const references = referencesOf({ movement_id: movementId, nsu });
      await addReferences(tx, accountId, [{ expectedPaymentId, references }]);
    }
    if (state === 'scheduled' && payment.state !== 'scheduled')
      this.events.record(tx, accountId, [
        billPaymentEvent('bill_payment.scheduled', id, { ...payment, bankId, scheduledFor }),
      ]);
  }

  /** Enqueues a status check for each account with a due payment. */
  @Every('bill-payments', 2)
  async enqueueDue(): Promise<void> {
    const db = this.database.prisma;
    for (const due of await queries.listAccountsWithDueBillPayments(db, this.boundMs ?? 0))
      await this.checkBillPaymentStatusesQueue.enqueue(due);
  }

  /** Checks the due payments of an account. */
  async check({ accountId }: JobPayload<'checkBillPaymentStatuses'>): Promise<void> {
    const db = this.database.prisma;
    const due = await queries.listDueBillPayments(db, accountId, this.boundMs ?? 0, batchSize);
    for (const payment of due) await this.checkPayment(accountId, payment);
  }

  /** How late a debit may show on the statement; null when the profile has no bound. */
  private get boundMs(): number | null {
    return this.bank.profile.visibilityBoundMs;
  }

  private async checkPayment(accountId: number, payment: queries.DueBillPayment): Promise<void> {
    const db = this.database.prisma;
    const key = { accountId, id: payment.id };
    if (payment.isMatched) return this.markPaid(key, null);
    const isAsked = payment.checks < maxStatusChecks;
    const bankStatus = isAsked ? await this.readBillStatus(accountId, payment.barCode) : null;
    const { boundMs } = this;
    // Without a bound the statement proves no absence, so the bank's status is the best evidence.
    if (boundMs === null && bankStatus === 'PAID') return this.markPaid(key, bankStatus);
    if (boundMs !== null && bankStatus !== null) {
      const closedForMs = boundMs + (bankStatus === 'PENDING_PAYMENT' ? 0 : unpayableBillDelayMs);
      if (await this.failIfUnpaid(key, { bankStatus, closedForMs })) return;
      await this.closeStatementQueue.enqueue({ accountId });
    }
    const pauseMs = statusCheckPauseMs(payment.checks + 1, boundMs !== null);
    await queries.postponeBillPaymentCheck(db, key, { bankStatus, pauseMs });
  }

  /** Null when the bank did not return this bill. */
  private async readBillStatus(accountId: number, barCode: string): Promise<string | null> {
    const account = await this.accounts.get(accountId);
    const response = await this.bank.call(
      getBill,
      account,
      { params: { identifier: barCode } },
      { echoes: (bill) => isOfBill(bill, barCode) },
    );
    return response.outcome === 'success' ? response.value.status : null;
  }

  private async markPaid(key: OperationRef, bankStatus: string | null): Promise<void> {
    const { accountId, id } = key;
    await this.database.transaction(async (tx) => {
      await queries.markBillPaymentPaid(tx, key, bankStatus);
      await insertFacts(tx, accountId, { operationIds: [id] }, 'absence_revoked');
    });
  }

  /** False while the statement does not prove that the payment failed. */
  private async failIfUnpaid(
    { accountId, id }: OperationRef,
    evidence: { bankStatus: string; closedForMs: number },
  ): Promise<boolean> {
    const hasFailed = await this.database.transaction(async (tx) => {
      const failed = await queries.failUnpaidBillPayment(tx, { accountId, id }, evidence);
      if (!failed) return false;
      await insertFacts(tx, accountId, { operationIds: [id] }, 'failed');
      this.events.record(tx, accountId, [billPaymentEvent('bill_payment.failed', id, failed)]);
      return true;
    });
    if (hasFailed) await this.events.enqueueDeliveries(accountId);
    return hasFailed;
  }
}

function billPaymentEvent(
  type: 'bill_payment.scheduled' | 'bill_payment.failed',
  operationId: string,
  { bankId, amountCents, scheduledFor, barCode, metadata }: queries.FailedBillPayment,
): NewEvent {
  return {
    type,
    resource: { kind: 'bill_payment', id: operationId },
    data: {
      operationId,
      billPaymentId: operationId,
      barCode,
      bankId,
      amount: eventAmount(amountCents),
      scheduledFor: scheduledFor?.toISOString() ?? null,
      ...(metadata ? { metadata } : {}),
    },
  };
}
