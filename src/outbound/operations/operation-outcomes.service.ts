// Records the outcome of an operation, in one transaction with everything that depends on it: the
// state, its expected payments, its identities, the rows of its feature module and the event. Also
// holds the registered operation kinds.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Route } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { NewEvent } from '../../events/event.js';
import type { EventType } from '../../events/event-types.js';
import { EventsService } from '../../events/events.service.js';
import {
  readOperationSubject,
  type OperationSubject,
} from '../../statement/expected-payments/event-subjects.queries.js';
import { insertFacts } from '../../statement/expected-payments/expected-payments.queries.js';
import { completeWrites } from '../../platform/postgres/joined-writes.queries.js';
import { hasNoEffect, isFinalState } from '../operation-states.js';
import { AppError, invariant } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { SharedBatches } from '../../platform/postgres/shared-batches.js';
import { recordOperationTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { releaseIdentities } from './identities.queries.js';
import type { Operation, OperationKind } from './operation.js';
import * as queries from './operations.queries.js';

export interface OperationOutcome extends queries.OperationStateChange {
  /** The decoded response of the bank, if there is one. */
  decodedResponse?: unknown;
  /**
   * Expected payments that were proven not executed, while other payments of the operation were
   * executed.
   */
  absentExpectedPaymentIds?: readonly string[];
}

/** An outcome that no response of the bank shows. `nextActionInMs` is null for a final state. */
export function withoutResponse(
  state: Operation['state'],
  reason: string | null,
  nextActionInMs: number | null,
): OperationOutcome {
  return { state, reason, response: null, bankReference: null, nextActionInMs };
}

/** Whether an outcome still applies to the current state of the operation. */
export type StillApplies = (current: Operation, tx: Tx) => boolean | Promise<boolean>;

/** The bank's response to the first attempt of an operation, before it is recorded. */
interface RecordableAnswer {
  kind: OperationKind;
  answer: queries.AnsweredAttempt;
  decodedResponse: unknown;
}

@Injectable()
export class OperationOutcomes {
  private readonly kinds = new Map<string, OperationKind>();
  private readonly answers = new SharedBatches<RecordableAnswer, boolean>((accountId, answers) =>
    this.recordAnswers(accountId, answers),
  );

  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    @InjectQueue(jobs.advanceOperation.name)
    private readonly advanceOperationQueue: JobQueue<'advanceOperation'>,
  ) {}

  register<R extends Route>(declared: OperationKind<R>): void {
    // Safe: every input and response that a kind receives is decoded by the kind's own route.
    const kind = declared as unknown as OperationKind;
    invariant(!this.kinds.has(kind.name), `operation kind ${kind.name} is registered twice`);
    this.kinds.set(kind.name, kind);
  }

  kindOf(operation: Pick<Operation, 'kind'>): OperationKind {
    const kind = this.kinds.get(operation.kind);
    invariant(kind, `operation kind ${operation.kind} is not registered`);
    return kind;
  }

  /**
   * Records a success of an operation's first attempt, in one transaction with those of other
   * operations. False when the outcome must be recorded alone: nothing is recorded then.
   */
  recordAnswer(
    { accountId, id }: queries.OperationRef,
    kind: OperationKind,
    { state, response, bankReference, decodedResponse }: OperationOutcome,
    attempt: number,
  ): Promise<boolean> {
    const isShareable = kind.onSucceeded === undefined || kind.onAnswered !== undefined;
    if (state !== 'succeeded' || response === null || !isShareable) return Promise.resolve(false);
    const answer = { id, attempt, ...response, bankReference };
    return waitOutsideSlot(() => this.answers.submit(accountId, { kind, answer, decodedResponse }));
  }

  /** Whether each of them was recorded. */
  private async recordAnswers(accountId: number, answers: RecordableAnswer[]): Promise<boolean[]> {
    try {
      const { recorded, hasEvents } = await this.recordTogether(accountId, answers);
      // The callers need not wait for the jobs: a sweeper enqueues those that are lost.
      if (hasEvents) void this.events.enqueueDeliveries(accountId).catch(() => undefined);
      if (recorded.some(({ isOutgoing }) => isOutgoing))
        void this.reconcileQueue.enqueue({ accountId });
      const ids = new Set(recorded.map(({ id }) => id));
      return answers.map(({ answer }) => ids.has(answer.id));
    } catch {
      // Each is recorded alone, where the error is thrown to its caller.
      return answers.map(() => false);
    }
  }

  private async recordTogether(accountId: number, answers: readonly RecordableAnswer[]) {
    const attempts = answers.map(({ answer }) => answer);
    // Without rows of their module, the answers are recorded by one statement.
    if (answers.every(({ kind }) => kind.onAnswered === undefined)) {
      const recorded = await queries.recordAnsweredAttempts(this.database.sql, accountId, attempts);
      return { recorded, hasEvents: false };
    }
    return this.database.sqlTransaction(async (tx, commitWith) => {
      const ofKinds = [...groupBy(answers, ({ kind }) => kind.name).values()];
      // Sent together, in this order.
      const [recorded, ...writes] = await Promise.all([
        queries.recordAnsweredAttempts(tx, accountId, attempts),
        ...ofKinds.map(async (ofKind) => {
          const responses = ofKind.map(({ answer, decodedResponse }) => {
            return { id: answer.id, response: decodedResponse as never };
          });
          return (await ofKind[0]?.kind.onAnswered?.(tx, accountId, responses)) ?? [];
        }),
      ]);
      // One of them is not in progress any more.
      if (recorded.length < answers.length) throw new AppError('conflict');
      const all = writes.flat();
      if (all.length > 0) commitWith(completeWrites(all));
      return { recorded, hasEvents: this.events.hasRecorded(tx) };
    });
  }

  /**
   * Records an operation's outcome if it still applies, and the attempt's result in any case. False
   * when the outcome no longer applies.
   */
  async record(
    { accountId, id }: queries.OperationRef,
    outcome: OperationOutcome,
    stillApplies: StillApplies,
    attempt?: queries.AttemptResult,
  ): Promise<boolean> {
    const recorded = await this.database.transaction(async (tx) => {
      const before = await queries.lockOperation(tx, { accountId, id });
      if (attempt) await queries.finishAttempt(tx, { accountId, id }, outcome.state, attempt);
      if (!before || !(await stillApplies(before, tx))) return null;
      return { before, hasEvent: await this.write(tx, before, outcome) };
    });
    if (!recorded) return false;
    if (recorded.hasEvent) await this.events.enqueueDeliveries(accountId);
    // Lines that waited for this outcome, or that the response's ids reference, can be decided now.
    if (recorded.before.counterparty !== null || outcome.state === 'needs_operator')
      await this.reconcileQueue.enqueue({ accountId });
    // The operation's line may have arrived while its response was awaited.
    if (outcome.state === 'unknown')
      await this.advanceOperationQueue.enqueue({ accountId, operationId: id });
    return true;
  }

  /**
   * Records the outcome of an operation that was unknown, because the response to another operation
   * shows it. Runs in the transaction of that other operation. False when the outcome was already
   * known.
   */
  async resolveUnknown(
    tx: Tx,
    ref: queries.OperationRef,
    state: 'succeeded' | 'not_executed',
    reason: string,
  ): Promise<boolean> {
    const before = await queries.lockOperation(tx, ref);
    if (!before || !['unknown', 'needs_operator'].includes(before.state)) return false;
    await this.write(tx, before, withoutResponse(state, reason, null));
    return true;
  }

  /**
   * Moves an operation from `needs_operator` back to `unknown`, in the transaction of the
   * operator's action. False when the operation is in another state.
   */
  async resume(tx: Tx, ref: queries.OperationRef, nextActionInMs: number): Promise<boolean> {
    const before = await queries.lockOperation(tx, ref);
    if (before?.state !== 'needs_operator') return false;
    await this.write(tx, before, withoutResponse('unknown', before.reason, nextActionInMs));
    return true;
  }

  /** Ends a locked operation that awaits approval: nothing was sent. */
  async endUnapproved(tx: Tx, before: Operation, state: 'declined' | 'expired'): Promise<void> {
    invariant(before.state === 'awaiting_approval', 'an operation that ends so awaits approval');
    await this.write(tx, before, withoutResponse(state, null, null));
  }

  /** True when an event was recorded. */
  private async write(tx: Tx, before: Operation, outcome: OperationOutcome): Promise<boolean> {
    const { accountId, id: operationId } = before;
    const { state } = outcome;
    const isDetached = before.isDetached || !['received', 'succeeded', 'rejected'].includes(state);
    await queries.updateOperationState(tx, before, outcome, isDetached);
    const kind = this.kindOf(before);
    const ofOperation = { operationIds: [operationId] };
    await recordOperationTasks(tx, accountId, operationId);
    const isRevoked = before.state === 'not_executed' && state !== 'not_executed';
    if (isRevoked) await insertFacts(tx, accountId, ofOperation, 'absence_revoked');
    if (isRevoked && state !== 'succeeded') await kind.onReopened?.(tx, before);
    if (state === 'succeeded') {
      const { decodedResponse = null, absentExpectedPaymentIds = [] } = outcome;
      const response = decodedResponse as never;
      await kind.onSucceeded?.(tx, before, { response, absentExpectedPaymentIds });
      const ids = [...absentExpectedPaymentIds];
      await insertFacts(tx, accountId, { ids }, 'absence_proven');
    }
    if (hasNoEffect(state)) {
      const withdrawal = state === 'not_executed' ? 'absence_proven' : 'rejected';
      await insertFacts(tx, accountId, ofOperation, withdrawal);
      // A request that was never sent had no effect, so its key is released for a retry with the
      // secrets. Otherwise natural identities are released for a corrected request. Temporary
      // identities of a proven absence stay: a repeat gets that result until they expire.
      const isCorrectable = state === 'not_executed' ? { isTemporary: false } : {};
      const released = outcome.reason === 'never_sent' ? {} : { isNatural: true, ...isCorrectable };
      await releaseIdentities(tx, before, released);
      await kind.onRejected(tx, before);
    }
    const needsEvent = await this.needsEvent(tx, before, state, isDetached);
    if (needsEvent) {
      const subject = await readOperationSubject(tx, accountId, operationId);
      this.events.record(tx, accountId, [eventOf(before, outcome, subject)]);
    }
    return this.events.hasRecorded(tx);
  }

  /**
   * An event is needed in three cases: an operation ends whose caller did not wait, an outcome is
   * unknown for the first time, or `not_executed` is revoked.
   */
  private async needsEvent(
    tx: Tx,
    before: Operation,
    state: Operation['state'],
    isDetached: boolean,
  ): Promise<boolean> {
    if (state === before.state) return false;
    if (before.state === 'not_executed') return true;
    if (state !== 'unknown') return isFinalState(state) && isDetached;
    const { accountId, id: operationId, attempts } = before;
    const earlier = await tx.operationAttempt.findFirst({
      where: { accountId, operationId, outcome: 'unknown', number: { lt: attempts } },
    });
    return earlier === null;
  }
}

function eventOf(
  { id, kind, idempotencyKey }: Operation,
  { state, reason }: OperationOutcome,
  subject: OperationSubject,
): NewEvent {
  return {
    type: `operation.${state}` as EventType,
    resource: { kind: 'operation', id },
    data: { operationId: id, kind, state, reason, idempotencyKey, ...subject },
  };
}
