// Opens breaks for expected payments without a line at their deadline, and resolves them when the
// line arrives or no payment is expected any more. A sync that began after the deadline must have
// completed first.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import { subjectOfExpected } from './decide/outcome.js';
import { Breaks, type NewBreak } from './breaks.service.js';
import { debitMissingAfterMs, lastMissingDueDate, missingFrom } from './missing-deadlines.js';
import * as queries from './missing-payments.queries.js';
import { lockReconciliation } from './apply.queries.js';

/** Between two checks, by the bank's clock. */
const checkPauseMs = 60_000;
/** A row committed up to this long after its own timestamp is still found. */
const slackMs = 600_000;
/** The first check covers everything ever sent. */
const beginning = new Date(0);
const batchSize = 1_000;

@Injectable()
export class MissingPayments {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly breaks: Breaks,
    private readonly jobQueue: JobQueue,
  ) {}

  /**
   * Checks if a check is due. Returns whether any break changed: the caller then delivers the
   * events.
   */
  async checkWhenDue(accountId: number): Promise<boolean> {
    const state = await queries.readMissingCheckState(this.database.prisma, accountId);
    if (!state || !isTime(state)) return false;
    return this.check(accountId);
  }

  async check(accountId: number): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const state = await queries.readMissingCheckState(tx, accountId);
      if (!state?.isDecided) return false;
      const waitMs = debitMissingAfterMs(this.bank.profile.visibilityBoundMs);
      const due = dueBy(state, waitMs);
      const resolved = await queries.resolveFoundPayments(tx, accountId, due);
      await this.breaks.reportResolved(tx, accountId, resolved);
      const missing = await queries.listMissing(tx, accountId, since(state, waitMs), due);
      for (let from = 0; from < missing.length; from += batchSize)
        await this.breaks.open(
          tx,
          accountId,
          missing.slice(from, from + batchSize).map((payment) => toBreak(payment, waitMs)),
        );
      await queries.recordMissingCheck(tx, accountId, state, due.until);
      return missing.length + resolved.length > 0;
    });
  }

  /** Enqueues accounts whose last check is too old, even if no line has arrived. */
  @Every('missing', 5_000)
  async enqueueDue(): Promise<void> {
    const due = await queries.listAccountsToCheck(this.database.prisma, checkPauseMs);
    for (const { accountId } of due) await this.jobQueue.enqueue('reconcile', { accountId });
  }
}

function isTime({ bankTime, checkedBankTime }: queries.MissingCheckState): boolean {
  if (checkedBankTime === null) return true;
  return bankTime.getTime() - checkedBankTime.getTime() >= checkPauseMs;
}

function dueBy(
  { bankTime, clockOffsetMs }: queries.MissingCheckState,
  waitMs: number,
): queries.DueLimits {
  return {
    until: lastMissingDueDate(saoPauloDay(bankTime)),
    debitedBy: before(bankTime, waitMs),
    clockOffsetMs,
  };
}

/**
 * A debit becomes due `waitMs` after its operation ended, by the bank's clock. That clock may have
 * been set forward since, but never back. So today's clock offset gives the true time or an earlier
 * one.
 */
function since(state: queries.MissingCheckState, waitMs: number): queries.CheckedSince {
  const { clockOffsetMs, checkedAt, checkedBankTime, dueUntil } = state;
  const due = dueUntil ?? '';
  if (checkedAt === null || checkedBankTime === null)
    return { due, changedAt: beginning, endedAt: beginning };
  const dueThen = before(checkedBankTime, waitMs + Number(clockOffsetMs));
  const changedAt = before(checkedAt, slackMs);
  const endedAt = before(dueThen, slackMs);
  return { due, changedAt, endedAt: endedAt < changedAt ? endedAt : changedAt };
}

function toBreak(payment: queries.MissingPayment, waitMs: number): NewBreak {
  const { expectedPaymentId, operationId, operationKind, amountCents, dueDate } = payment;
  const deadline =
    dueDate === null ? before(payment.effectiveAt, -waitMs).toISOString() : missingFrom(dueDate);
  return {
    kind: 'missing',
    subject: subjectOfExpected(expectedPaymentId),
    amountCents,
    nsu: null,
    expectedPaymentId,
    evidence: { operationId, operationKind, dueDate, deadline },
  };
}

function before(instant: Date, ms: number): Date {
  return new Date(instant.getTime() - ms);
}
