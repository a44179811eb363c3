// Opens breaks for what was expected and did not come by its deadline, and settles those of what came, or will not come
// any more. A poll that began after the deadline must have completed: what nobody has read may be on the statement.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { subjectOfExpected } from './break-subjects.js';
import { Breaks, type NewBreak } from './breaks.service.js';
import { debitMissingAfterMs, lastMissingDueDate, missingFrom } from './missing-deadlines.js';
import * as queries from './missing-payments.queries.js';
import { lockReconciliation } from './outcomes.queries.js';

/** By the bank's clock, between two looks. */
const pauseMs = 60_000;
/** What is committed this long after the time that it bears is still found. */
const slackMs = 600_000;
/** The first look goes over all that was ever sent. */
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

  /** Looks when it is time; whether any break was opened or settled, so that its event is to be sent. */
  async lookWhenDue(accountId: number): Promise<boolean> {
    const sight = await queries.readSight(this.database.prisma, accountId);
    if (!sight || !isTime(sight)) return false;
    return this.look(accountId);
  }

  /** Looks now. */
  async look(accountId: number): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const sight = await queries.readSight(tx, accountId);
      if (!sight?.isDecided) return false;
      const waitMs = debitMissingAfterMs(this.bank.profile.visibilityBoundMs);
      const due = dueBy(sight, waitMs);
      const resolved = await queries.resolveFound(tx, accountId, due);
      await this.breaks.reportResolved(tx, accountId, resolved);
      const missing = await queries.listMissing(tx, accountId, since(sight, waitMs), due);
      for (let from = 0; from < missing.length; from += batchSize)
        await this.breaks.open(
          tx,
          accountId,
          missing.slice(from, from + batchSize).map((payment) => toBreak(payment, waitMs)),
        );
      await queries.recordLook(tx, accountId, sight, due.until);
      return missing.length + resolved.length > 0;
    });
  }

  /** Wakes the judgement of accounts where time has passed and no line came. */
  async enqueueDue(): Promise<void> {
    const due = await queries.listAccountsToLookAt(this.database.prisma, pauseMs);
    for (const { accountId } of due) await this.jobQueue.enqueue('reconcile', { accountId });
  }
}

function isTime({ bankTime, lookedBankTime }: queries.Sight): boolean {
  return lookedBankTime === null || bankTime.getTime() - lookedBankTime.getTime() >= pauseMs;
}

function dueBy({ bankTime, clockOffsetMs }: queries.Sight, waitMs: number): queries.Due {
  return {
    until: lastMissingDueDate(saoPauloDay(bankTime)),
    goneBy: before(bankTime, waitMs),
    clockOffsetMs,
  };
}

/**
 * An operation that ended was due one wait later by the bank's clock, which may have been set forward since, and never
 * goes back: by today's difference of the clocks it ended no earlier than it did.
 */
function since(sight: queries.Sight, waitMs: number): queries.Since {
  const { clockOffsetMs, lookedAt, lookedBankTime, dueUntil } = sight;
  const due = dueUntil ?? '';
  if (lookedAt === null || lookedBankTime === null)
    return { due, changedAt: beginning, endedAt: beginning };
  const dueThen = before(lookedBankTime, waitMs + Number(clockOffsetMs));
  const changedAt = before(lookedAt, slackMs);
  const endedAt = before(dueThen, slackMs);
  return { due, changedAt, endedAt: endedAt < changedAt ? endedAt : changedAt };
}

function toBreak(payment: queries.MissingPayment, waitMs: number): NewBreak {
  const { expectedPaymentId, operationId, operationKind, amountCents, dueDate } = payment;
  const deadline =
    dueDate === null ? before(payment.goesAt, -waitMs).toISOString() : missingFrom(dueDate);
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
