// Decides about operations that await approval. The decision is inserted under the lock of the
// operation, so that of racing decisions, and of a decision and the expiry, one comes first. The
// last approval makes the operation due, and it is sent after the commit, as any other.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { getHolder } from '../../access/accounts/holders.queries.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import { readOperationSubject } from '../../statement/expected-payments/event-subjects.queries.js';
import type { ApprovalDecision, OperationApproval } from '../../generated/service/client.js';
import { AppError, conflict } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { recordOperationTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { ApprovalChecks } from './approval-checks.service.js';
import * as queries from './approvals.queries.js';
import { findEntitled, lockActors } from './entitled-actors.queries.js';
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

/** A decision, and whether it counts. */
export type StandingDecision = Pick<
  OperationApproval,
  'holder' | 'actor' | 'decision' | 'reason'
> & {
  at: Date;
  counts: boolean;
};

export interface Standing {
  given: number;
  decisions: StandingDecision[];
}

/** What a decision has led to. `recorded`: more approvals are needed, or it was made before. */
type DecisionResult = 'recorded' | 'approved' | 'declined';

@Injectable()
export class Approvals {
  constructor(
    private readonly database: Database,
    private readonly outcomes: OperationOutcomes,
    private readonly events: EventsService,
    @InjectQueue(jobs.advanceOperation.name)
    private readonly advanceOperationQueue: JobQueue<'advanceOperation'>,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
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
      await this.advanceOperationQueue.enqueue({ accountId, operationId: id });
    else await this.reconcileQueue.enqueue({ accountId });
  }

  /** How the approvals of an operation stand; null when it needed none. */
  async describe(operation: Operation) {
    const { prisma } = this.database;
    const request = await queries.findApprovalRequest(prisma, operation);
    if (!request) return null;
    const decisions = await queries.listDecisions(prisma, operation.accountId, [operation.id]);
    const { state, amountCents: amount } = operation;
    // Only who decides needs the account: elsewhere it is shown by the scope `personal-data`.
    const counterparty = state === 'awaiting_approval' ? operation.counterparty : null;
    const { needed, source, condition, requestedBy, requestHash, expiresAt } = request;
    const actors = decisions.map(({ actor }) => actor);
    // Once the operation is approved, nothing is counted any more.
    const entitled =
      state === 'awaiting_approval'
        ? await findEntitled(prisma, operation.accountId, actors, 'approve payments')
        : new Set(actors);
    const standing = standingOf(decisions, entitled);
    return {
      ...{ counterparty, amount, needed, source, condition, requestedBy, requestHash, expiresAt },
      ...standing,
      given: operation.approvedAt === null ? standing.given : needed,
    };
  }

  /** How the approvals of several operations stand that await them. */
  async listStanding(
    accountId: number,
    operationIds: readonly string[],
  ): Promise<Map<string, Standing>> {
    const { prisma } = this.database;
    const decisions = await queries.listDecisions(prisma, accountId, operationIds);
    const actors = [...new Set(decisions.map(({ actor }) => actor))];
    const entitled = await findEntitled(prisma, accountId, actors, 'approve payments');
    const ofOperations = groupBy(decisions, ({ operationId }) => operationId);
    return new Map([...ofOperations].map(([id, own]) => [id, standingOf(own, entitled)]));
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
    const holder = await getHolder(tx, ref.accountId, actor);
    if (holder === request.holder) throw ownRequest();
    const decisions = await queries.listDecisions(tx, ref.accountId, [ref.id]);
    const entitled = await this.findEntitled(tx, ref.accountId, actor, decisions);
    const own = decisions.find((one) => one.holder === holder && entitled.has(one.actor));
    if (own && own.decision !== decision)
      throw conflict('already_decided', `The same holder decided ${own.decision} before.`);
    const isRepeat = own !== undefined;
    const given = countApprovals(decisions, entitled);
    // A repeat releases the operation where earlier approvals count again: their actors may approve
    // once more.
    if (isRepeat && (operation.state !== 'awaiting_approval' || given < request.needed))
      return 'recorded';
    assertDecidable(operation, request);
    if (requestHash !== undefined && requestHash !== request.requestHash)
      throw conflict('request_differs', 'requestHash is not that of the operation.');
    if (decision === 'approve') await this.checks.assertSendable(tx, operation, request);
    const { accountId, id: operationId } = ref;
    const data = { accountId, operationId, holder, decision, actor, reason };
    if (!isRepeat) await tx.operationApproval.create({ data });
    if (decision === 'decline') {
      await this.outcomes.endUnapproved(tx, operation, 'declined');
      return 'declined';
    }
    if (!isRepeat && given + 1 < request.needed) return 'recorded';
    await this.release(tx, operation);
    return 'approved';
  }

  /**
   * Which of the actors who decided may still approve. Throws `forbidden` where the one who decides
   * now may not. Nobody of them loses the right until the transaction ends.
   */
  private async findEntitled(
    tx: Tx,
    accountId: number,
    actor: string,
    decisions: readonly OperationApproval[],
  ): Promise<ReadonlySet<string>> {
    const actors = [...new Set([actor, ...decisions.map((one) => one.actor)])];
    await lockActors(tx, accountId, actors);
    const entitled = await findEntitled(tx, accountId, actors, 'approve payments');
    if (entitled.has(actor)) return entitled;
    throw new AppError('forbidden', {
      reason: 'may_not_approve',
      public: 'The key was revoked or the person has lost the role: they approve nothing.',
    });
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

function standingOf(
  decisions: readonly OperationApproval[],
  entitled: ReadonlySet<string>,
): Standing {
  return {
    given: countApprovals(decisions, entitled),
    decisions: decisions.map(({ holder, actor, decision, reason, createdAt: at }) => {
      return { holder, actor, decision, reason, at, counts: entitled.has(actor) };
    }),
  };
}

/** The holders whose approval counts. */
function countApprovals(
  decisions: readonly OperationApproval[],
  entitled: ReadonlySet<string>,
): number {
  const approvals = decisions.filter(
    ({ decision, actor }) => decision === 'approve' && entitled.has(actor),
  );
  return new Set(approvals.map(({ holder }) => holder)).size;
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
    public: 'The same holder requested the operation: another one decides.',
  });
}
