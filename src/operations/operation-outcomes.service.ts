// Writes what becomes of an operation, with all that hangs on it, in one transaction: the state, what it expected,
// what it was known by, its room's own rows and the event. Knows the kinds that the rooms have registered.
import { Injectable } from '@nestjs/common';
import type { Route } from '../contract/route.js';
import { Database, type Tx } from '../database.service.js';
import { EventsService, type EventType } from '../events/events.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { invariant } from '../platform/errors.js';
import { JobQueue } from '../platform/job-queue.js';
import { freeIdentities, freeNaturalIdentities } from './identities.queries.js';
import { isFinal, type Operation, type OperationKind } from './operation.js';
import * as queries from './operations.queries.js';

export interface OperationOutcome extends queries.NewState {
  /** The bank's answer, decoded, where there is one. */
  answer?: unknown;
  /** Expected payments that were proven not to have been done, where others of the same operation were. */
  absent?: readonly string[];
}

/** Whether the verdict still holds for what the operation has become meanwhile. */
export type Holds = (now: Operation, tx: Tx) => boolean | Promise<boolean>;

@Injectable()
export class OperationOutcomes {
  private readonly kinds = new Map<string, OperationKind>();

  constructor(
    private readonly database: Database,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  register<R extends Route>(declared: OperationKind<R>): void {
    // What a kind is given was decoded by its own route.
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
   * Gives an operation its verdict, if that still holds; an attempt that came to it is noted in any case. False when
   * the operation had moved on.
   */
  async give(
    { accountId, id }: queries.Key,
    outcome: OperationOutcome,
    holds: Holds,
    attempt?: queries.AttemptEnd,
  ): Promise<boolean> {
    const given = await this.database.transaction(async (tx) => {
      const before = await queries.lock(tx, { accountId, id });
      if (attempt) await queries.finishAttempt(tx, { accountId, id }, outcome.state, attempt);
      if (!before || !(await holds(before, tx))) return null;
      return { before, isReported: await this.write(tx, before, outcome) };
    });
    if (!given) return false;
    if (given.isReported) await this.events.announce(accountId);
    // Lines that waited for this end, or that the answer's ids name, can be judged now.
    if (given.before.counterparty !== null || outcome.state === 'needs_operator')
      await this.jobQueue.enqueue('reconcile', { accountId });
    // Its line may have been read while its answer was waited for.
    if (outcome.state === 'unknown')
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId: id });
    return true;
  }

  /**
   * Ends an operation that nobody knew the end of by what another's answer shows, in that one's transaction. False when
   * it had ended.
   */
  async endBy(
    tx: Tx,
    key: queries.Key,
    state: 'succeeded' | 'not_executed',
    reason: string,
  ): Promise<boolean> {
    const before = await queries.lock(tx, key);
    if (!before || !['unknown', 'needs_operator'].includes(before.state)) return false;
    const nothing = { response: null, bankReference: null, pauseMs: null };
    await this.write(tx, before, { state, reason, ...nothing });
    return true;
  }

  /** An operation that is a person's to end goes on, in the transaction of whoever said so. False when it is not. */
  async resume(tx: Tx, key: queries.Key, pauseMs: number): Promise<boolean> {
    const before = await queries.lock(tx, key);
    if (before?.state !== 'needs_operator') return false;
    const { reason } = before;
    const nothing = { response: null, bankReference: null };
    await this.write(tx, before, { state: 'unknown', reason, pauseMs, ...nothing });
    return true;
  }

  private async write(tx: Tx, before: Operation, outcome: OperationOutcome): Promise<boolean> {
    const { accountId, id: operationId } = before;
    const { state } = outcome;
    const isDetached = before.isDetached || !['received', 'succeeded', 'rejected'].includes(state);
    await queries.writeState(tx, before, outcome, isDetached);
    const kind = this.kindOf(before);
    const isRevoked = before.state === 'not_executed' && state !== 'not_executed';
    if (isRevoked) await this.expectedPayments.reinstate(tx, accountId, [operationId]);
    if (isRevoked && state !== 'succeeded') await kind.onReopened?.(tx, before);
    if (state === 'succeeded') {
      const { answer = null, absent = [] } = outcome;
      await kind.onSucceeded?.(tx, before, { answer: answer as never, absent });
      await this.expectedPayments.withdrawEach(tx, accountId, [...absent]);
    }
    if (state === 'rejected' || state === 'not_executed') {
      await this.expectedPayments.withdraw(tx, { accountId, operationId });
      // What never left stands for nothing: its key is as good as new, for whoever tries again with the secrets.
      if (outcome.reason === 'never_sent') await freeIdentities(tx, before);
      else await freeNaturalIdentities(tx, before, { alsoTemporary: state === 'rejected' });
      await kind.onRejected(tx, before);
    }
    const isReported = await this.isToBeReported(tx, before, state, isDetached);
    if (isReported) await this.events.record(tx, accountId, [eventOf(before, outcome)]);
    return isReported;
  }

  /** Its end, where nobody waited for it; once, that nobody knows it; and that a verdict is no more. */
  private async isToBeReported(
    tx: Tx,
    before: Operation,
    state: Operation['state'],
    isDetached: boolean,
  ): Promise<boolean> {
    if (state === before.state) return false;
    if (before.state === 'not_executed') return true;
    if (state !== 'unknown') return isFinal(state) && isDetached;
    return !(await queries.wasUnknownBefore(tx, before, before.attempts));
  }
}

function eventOf({ id, kind }: Operation, { state, reason }: OperationOutcome) {
  return {
    type: `operation.${state}` as EventType,
    data: { operationId: id, kind, state, reason },
  };
}
