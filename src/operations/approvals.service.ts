// Decides about operations that await approval. The decision is inserted under the lock of the
// operation, so that of racing decisions, and of a decision and the expiry, one comes first. The
// last approval makes the operation due, and it is sent after the commit, as any other.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../accounts/api-keys.service.js';
import { Database, type Tx } from '../database.service.js';
import { EventsService } from '../events/events.service.js';
import { readOperationSubject } from '../expected-payments/event-subjects.queries.js';
import type { ApprovalDecision } from '../generated/service/client.js';
import { AppError, conflict } from '../platform/errors.js';
import { JobQueue } from '../platform/job-queue.js';
import { recordOperationTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { ApprovalChecks } from './approval-checks.service.js';
import * as queries from './approvals.queries.js';
import type { Operation } from './operation.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import { lockOperation, type OperationRef } from './operations.queries.js';

export interface GivenDecision {
  decision: ApprovalDecision;
  reason: string;
  /** Of the request that the approver has seen; undefined: the approver names none. */
  requestHash?: string | undefined;
}

type Approver = Pick<Caller, 'accountId' | 'actor'>;

/** What a decision has led to. `recorded`: more approvals are needed, or it was made before. */
type DecisionResult = 'recorded' | 'approved' | 'declined';

@Injectable()
export class Approvals {
  constructor(
    private readonly database: Database,
    private readonly outcomes: OperationOutcomes,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
    private readonly checks: ApprovalChecks,
  ) {}

  /**
   * Repeating one's own decision changes nothing. Throws `not_found`, also for an operation of
   * another account; `forbidden` for the maker; and `conflict` when nothing can be decided, or the
   * operation must not be sent any more.
   */
  async decide({ accountId, actor }: Approver, id: string, decision: GivenDecision): Promise<void> {
    const ref = { accountId, id };
    const result = await this.database.transaction((tx) =>
      this.decideInTransaction(tx, ref, actor, decision),
    );
    if (result === 'recorded') return;
    await this.events.enqueueDeliveries(accountId);
    if (result === 'approved')
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId: id });
    else await this.jobQueue.enqueue('reconcile', { accountId });
  }

  /** How the approvals of an operation stand; null when it needed none. */
  async describe(operation: Operation) {
    const { prisma } = this.database;
    const request = await queries.findApprovalRequest(prisma, operation);
    if (!request) return null;
    const decisions = await queries.listDecisions(prisma, operation);
    const { state, amountCents: amount } = operation;
    // Only who decides needs the account: elsewhere it is shown by the scope `personal-data`.
    const counterparty = state === 'awaiting_approval' ? operation.counterparty : null;
    const { needed, source, requestedBy, requestHash, expiresAt } = request;
    return {
      ...{ counterparty, amount, needed, source, requestedBy, requestHash, expiresAt },
      given: decisions.filter(({ decision }) => decision === 'approve').length,
      decisions: decisions.map(({ createdAt: at, ...decision }) => ({ ...decision, at })),
    };
  }

  private async decideInTransaction(
    tx: Tx,
    ref: OperationRef,
    actor: string,
    { decision, reason, requestHash }: GivenDecision,
  ): Promise<DecisionResult> {
    const operation = await lockOperation(tx, ref);
    if (!operation) throw new AppError('not_found');
    const request = await queries.findApprovalRequest(tx, ref);
    if (!request) throw conflict('no_approval_needed', 'The operation needed no approval.');
    const holder = await queries.getHolder(tx, ref.accountId, actor);
    if (holder === request.holder) throw ownRequest();
    const decisions = await queries.listDecisions(tx, ref);
    const own = decisions.find((one) => one.holder === holder);
    if (own?.decision === decision) return 'recorded';
    if (own) throw conflict('already_decided', `The holder of this key decided ${own.decision}.`);
    assertDecidable(operation, request);
    if (requestHash !== undefined && requestHash !== request.requestHash)
      throw conflict('request_differs', 'requestHash is not that of the operation.');
    if (decision === 'approve') await this.checks.assertSendable(tx, operation, request);
    await queries.insertDecision(tx, ref, { holder, decision, actor, reason });
    if (decision === 'decline') {
      await this.outcomes.endUnapproved(tx, operation, 'declined');
      return 'declined';
    }
    if (decisions.length + 1 < request.needed) return 'recorded';
    await this.release(tx, operation);
    return 'approved';
  }

  private async release(tx: Tx, operation: Operation): Promise<void> {
    const { accountId, id, kind, idempotencyKey } = operation;
    await queries.releaseApproved(tx, operation);
    // From now on a line may be its payment.
    await recordOperationTasks(tx, accountId, id);
    const subject = await readOperationSubject(tx, accountId, id);
    this.events.record(tx, accountId, [
      {
        type: 'operation.approved',
        resource: { kind: 'operation', id },
        data: { operationId: id, kind, state: 'received', idempotencyKey, ...subject },
      },
    ]);
  }
}

function assertDecidable(
  { state }: Pick<Operation, 'state'>,
  { isExpired }: queries.ApprovalRequest,
): void {
  if (state !== 'awaiting_approval')
    throw conflict('not_awaiting_approval', `The operation is in the state ${state}.`);
  if (isExpired) throw conflict('approval_expired', 'The operation was not approved in time.');
}

function ownRequest(): AppError {
  return new AppError('forbidden', {
    reason: 'own_request',
    public: 'The holder of this key requested the operation: a key of another holder decides.',
  });
}
