// Finds the outcome of operations whose response never came. It first reads the statement, then
// looks the operation up at the bank by an id. It then resends the operation if a repeat is the
// same request, or waits for a closed period that proves absence. The last step is the operator.
import { isDeepStrictEqual } from 'node:util';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { readSendingRules } from '../../access/accounts/account-modes.queries.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { unresolvedStates } from '../operation-states.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { continueTrace } from '../../platform/trace.js';
import { isApprovalExpired } from './approvals.queries.js';
import * as evidence from './evidence.queries.js';
import {
  closableInMs,
  isInClosedPeriod,
  effectPeriodOf,
  earliestEffectAt,
} from './effect-period.js';
import type { LookUpResult, Operation, OperationKind } from './operation.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationOutcomes, withoutResponse } from './operation-outcomes.service.js';
import * as queries from './operations.queries.js';
import { recoveryDelayMs, recoveryMethodsFor } from './recovery.js';

/**
 * An operation that could not be sent for this long is not sent, because its caller no longer
 * expects it.
 */
const unsentExpiryMs = 60 * 60_000;
/**
 * After one of several movements was matched late, the other movements have this long to appear.
 */
const partialPatienceMs = 60 * 60_000;
/** How soon after the end of a stop the operations that waited are sent. */
const stoppedRetryMs = 5_000;
/** About the duration of a statement closing. */
const closingRetryMs = 5_000;
/** A statement is closed within this time, most often. */
const closingMs = 60_000;

@Injectable()
export class OperationRecovery {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly sender: OperationSender,
    private readonly outcomes: OperationOutcomes,
    @InjectQueue(jobs.advanceOperation.name)
    private readonly advanceOperationQueue: JobQueue<'advanceOperation'>,
    @InjectQueue(jobs.closeStatement.name)
    private readonly closeStatementQueue: JobQueue<'closeStatement'>,
  ) {}

  /**
   * Sends an unfinished operation that was never sent, recovers an operation with an unknown
   * outcome, or ends one that was not approved in time.
   */
  async advance({ accountId, operationId }: JobPayload<'advanceOperation'>): Promise<void> {
    const ref = { accountId, id: operationId };
    const db = this.database.prisma;
    await this.sender.recordInterrupted(ref);
    if (await this.applyStatementEvidence(ref)) return;
    const history = await queries.readAttemptHistory(db, ref);
    const unsent = await queries.findDueUnsentOperation(db, ref);
    if (unsent) return this.sendOrExpire(unsent);
    const unknown = await queries.claimForRecovery(db, ref, recoveryDelayMs(history.ageMs));
    if (unknown) return this.recover(unknown, history);
    if (!(await isApprovalExpired(db, ref))) return;
    await this.outcomes.record(
      ref,
      withoutResponse('expired', null, null),
      ({ state }, tx) => state === 'awaiting_approval' && isApprovalExpired(tx, ref),
    );
  }

  /** Enqueues unfinished operations that are due. */
  @Every('operations', 1)
  async enqueueDue(): Promise<void> {
    await this.enqueue(await queries.listDueOperations(this.database.prisma, 200));
  }

  /**
   * Enqueues ended operations that the statement contradicts. Reconciliation enqueues each when it
   * decides the line; this finds those whose job was lost.
   */
  @Every('contradicted-operations', 30)
  async enqueueContradicted(): Promise<void> {
    const db = this.database.prisma;
    await this.enqueue(await evidence.listOperationsContradictedByStatement(db, 500));
  }

  /** The job is a part of the trace of the request. */
  private async enqueue(
    operations: readonly (queries.OperationRef & Partial<queries.DueOperation>)[],
  ): Promise<void> {
    for (const { accountId, id, traceparent } of operations)
      await continueTrace(traceparent, () =>
        this.advanceOperationQueue.enqueue({ accountId, operationId: id }),
      );
  }

  /**
   * True when the statement decided the outcome. A line takes precedence over any outcome that was
   * recorded before the line. If one of several movements has a line, the others may have been
   * executed too: a `not_executed` operation becomes unknown again.
   */
  private async applyStatementEvidence(ref: queries.OperationRef): Promise<boolean> {
    const { matched, partlyMatched, unmatched } = await evidence.readStatementEvidence(
      this.database.prisma,
      ref,
    );
    if (matched.length + partlyMatched.length === 0) return false;
    if (partlyMatched.length + unmatched.length === 0)
      return this.outcomes.record(
        ref,
        withoutResponse('succeeded', 'seen_on_statement', null),
        ({ state }) => unresolvedStates.includes(state),
      );
    const reopened = withoutResponse('unknown', 'seen_in_part', 0);
    return this.outcomes.record(ref, reopened, ({ state }) => state === 'not_executed');
  }

  /**
   * Sends the operation, or ends it if it cannot be sent any more. An operation expires when it
   * could not be sent for `unsentExpiryMs`. An operation with secrets ends too, because only the
   * process that received the secrets could send it. While its account is stopped, the operation
   * waits. In a reconcile-only account it ends: another system sends there, perhaps for months.
   */
  private async sendOrExpire(operation: Operation): Promise<void> {
    const db = this.database.prisma;
    const { mode } = await readSendingRules(db, operation.accountId);
    const isSendable =
      this.outcomes.kindOf(operation).repeat !== 'never' && mode !== 'reconcile_only';
    if (isSendable && mode === 'stopped')
      return queries.postponeUnsent(db, operation, stoppedRetryMs);
    if (isSendable && (await queries.readSendableMs(db, operation)) < unsentExpiryMs) {
      await this.sender.send(operation, 'received');
      return;
    }
    await this.outcomes.record(
      operation,
      withoutResponse('not_executed', 'never_sent', null),
      async ({ state }, tx) =>
        state === 'received' && !(await queries.hasPossiblySentAttempt(tx, operation)),
    );
  }

  private async recover(
    operation: Operation,
    { ageMs, isRestored, hasRefusedRepeat }: queries.AttemptHistory,
  ): Promise<void> {
    await evidence.recordClockOffsetAfter(this.database.prisma, operation);
    const kind = this.outcomes.kindOf(operation);
    const { profile } = this.bank;
    // An operation that ended long ago and is unknown again: its request is no longer stored.
    const hasRequest = operation.bodiesDeletedAt === null;
    const facts = {
      repeat: kind.repeat,
      hasRequest,
      hasLookUp: hasRequest && kind.lookUp !== undefined,
      isOutgoing: operation.counterparty !== null && operation.amountCents !== null,
      isKnownToBank: operation.bankReference !== null,
      hasRefusedRepeat,
      isRestored,
    };
    const { canLookUp } = recoveryMethodsFor(facts, profile);
    const lookUp = canLookUp ? await this.lookUp(kind, operation) : null;
    if (lookUp?.outcome === 'accepted') return this.recordAccepted(kind, operation, lookUp);
    if (lookUp?.outcome === 'not_executed') {
      const outcome = withoutResponse('not_executed', 'seen_without_effect', null);
      await this.outcomes.record(operation, outcome, isUnchanged(operation));
      return;
    }
    // What may be done now depends on whether the bank offers the look-up at all.
    const hasLookUp = facts.hasLookUp && lookUp?.outcome !== 'not_offered';
    const methods = recoveryMethodsFor({ ...facts, hasLookUp }, profile);
    const onStatement = await evidence.readStatementEvidence(this.database.prisma, operation);
    const isPatient =
      ageMs < methods.askOperatorAfterMs ||
      isRecentlyMatched(onStatement, await this.database.now());
    if (methods.canResend && isPatient) {
      await this.sender.send(operation, 'unknown');
      return;
    }
    // A bank that offers a look-up but did not respond to it may know the operation.
    if (methods.canProveAbsence && lookUp?.outcome !== 'unknown')
      if (await this.proveAbsence(kind, operation, onStatement, ageMs)) return;
    if (isPatient) return;
    const reason = operation.reason ?? 'no_response';
    const outcome = withoutResponse('needs_operator', reason, null);
    await this.outcomes.record(operation, outcome, isUnchanged(operation));
  }

  private async lookUp(kind: OperationKind, operation: Operation): Promise<LookUpResult<unknown>> {
    const account = await this.accounts.get(operation.accountId);
    const times = await evidence.readSendingTimes(this.database.prisma, operation);
    const since = earliestEffectAt(times?.firstStartedAt ?? operation.createdAt);
    return (await kind.lookUp?.(account, operation, since)) ?? { outcome: 'not_offered' };
  }

  private async recordAccepted(
    { route }: OperationKind,
    operation: Operation,
    {
      text,
      response: decodedResponse,
      bankReference,
    }: Extract<LookUpResult<unknown>, { outcome: 'accepted' }>,
  ): Promise<void> {
    // A repeat gets the status of its own route, not that of the look-up.
    const response = { status: route.successStatus, text };
    const outcome = {
      ...withoutResponse('succeeded', 'looked_up', null),
      response,
      bankReference,
      decodedResponse,
    };
    // The bank's status by id takes precedence over an outcome that was recorded in between.
    await this.outcomes.record(operation, outcome, ({ state }) =>
      [...unresolvedStates, 'sending'].includes(state),
    );
  }

  /**
   * True when every unmatched expected payment of the operation was proven not executed. While the
   * period is not closed, requests its closing.
   */
  private async proveAbsence(
    kind: OperationKind,
    operation: Operation,
    onStatement: evidence.StatementEvidence,
    ageMs: number,
  ): Promise<boolean> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    const times = await evidence.readSendingTimes(this.database.prisma, operation);
    const { matched, partlyMatched, unmatched } = onStatement;
    if (boundMs === null || !times || partlyMatched.length > 0 || unmatched.length === 0)
      return false;
    const period = effectPeriodOf(kind, operation, times, boundMs);
    const closableMs = closableInMs(period, times.bankTime, boundMs);
    if (closableMs > 0 || !isInClosedPeriod(period, times)) {
      await this.awaitClosing(operation, closableMs, ageMs);
      return false;
    }
    if (!times.hasSteadyClocks) return false;
    const outcome =
      matched.length === 0
        ? withoutResponse('not_executed', 'absent_from_statement', null)
        : {
            ...withoutResponse('succeeded', 'seen_in_part', null),
            absentExpectedPaymentIds: unmatched,
          };
    return this.outcomes.record(
      operation,
      outcome,
      async (current, tx) =>
        isUnchanged(operation)(current) &&
        current.bankReference === null &&
        isDeepStrictEqual(await evidence.readStatementEvidence(tx, operation), onStatement) &&
        (await evidence.isAbsentFromPeriod(tx, operation, period, unmatched)),
    );
  }

  private async awaitClosing(
    { accountId, id }: Operation,
    closableMs: number,
    ageMs: number,
  ): Promise<void> {
    const delayMs = recoveryDelayMs(ageMs);
    // The operation is due again when the period can be closed, then often while it is closed.
    const isClosing = closableMs <= 0 && closableMs > -closingMs;
    const nextMs = isClosing ? closingRetryMs : closableMs > 0 ? closableMs : delayMs;
    const db = this.database.prisma;
    await queries.postponeRecovery(db, { accountId, id }, Math.min(delayMs, nextMs));
    if (closableMs <= 0) await this.closeStatementQueue.enqueue({ accountId });
  }
}

/** Whether the operation is still unknown and was not sent again since it was read. */
function isUnchanged({ attempts }: Operation): (current: Operation) => boolean {
  return (current) => current.state === 'unknown' && current.attempts === attempts;
}

/** After a recent match of one movement, the others may follow, however old the operation is. */
function isRecentlyMatched({ lastMatchedAt }: evidence.StatementEvidence, now: Date): boolean {
  return lastMatchedAt !== null && now.getTime() - lastMatchedAt.getTime() < partialPatienceMs;
}
