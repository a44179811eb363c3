// Decides, in the transaction that stores an operation, whether it waits for approvals. What it
// needs is fixed then: a later change of the policy does not alter it.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/postgres/database.service.js';
import { eventAmount } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { invariant } from '../../platform/errors.js';
import { readOperationSubject } from '../../statement/expected-payments/event-subjects.queries.js';
import { SecretBox } from '../../platform/secret-box.js';
import {
  approvalConditionOf,
  approvedRequestText,
  type ApprovalPolicy,
} from './approval-policy.js';
import * as queries from './approvals.queries.js';
import type { OperationRequest } from './operation.js';
import type { NewOperation } from './operations.queries.js';

@Injectable()
export class ApprovalRequirements {
  constructor(
    private readonly events: EventsService,
    private readonly secretBox: SecretBox,
  ) {}

  /** What a new operation needs before it is sent; null when it is sent at once. */
  async find(
    tx: Tx,
    policy: ApprovalPolicy | null,
    operation: NewOperation,
    { preferences: { requestedBy }, expectedPayments }: OperationRequest,
  ): Promise<queries.NeededApprovals | null> {
    const { accountId, kind, amountCents } = operation;
    if (policy === null || amountCents === null) return null;
    const { source, actor } = requestedBy;
    const condition = approvalConditionOf(policy, { kind, source, amountCents });
    if (condition === null) return null;
    if (condition === 'new_beneficiary') {
      const counterparties = expectedPayments.map(
        ({ references }) => references.find((one) => one.kind === 'counterparty')?.value ?? null,
      );
      const known = counterparties.filter((one) => one !== null);
      // Without an account of the beneficiary, nothing shows that it was paid before.
      const hasAll = known.length > 0 && known.length === counterparties.length;
      if (hasAll && (await queries.areKnownBeneficiaries(tx, accountId, known))) return null;
    }
    invariant(actor !== null, `an operation ${kind} that needs approval has a maker`);
    const { approvals: needed, expiresAfterHours } = policy;
    const approved = { operation, needed, requestedBy: actor };
    const requestHash = this.secretBox.hash('approved-request', approvedRequestText(approved));
    return { needed, expiresAfterHours, source, condition, requestedBy: actor, requestHash };
  }

  /**
   * Records the event of an operation that waits, once its rows are written. Call
   * `enqueueDeliveries` after the commit.
   */
  async report(
    tx: Tx,
    operation: NewOperation,
    { needed, source }: queries.NeededApprovals,
  ): Promise<void> {
    const { accountId, id, kind, amountCents, idempotencyKey } = operation;
    const amount = amountCents === null ? null : eventAmount(amountCents);
    const subject = await readOperationSubject(tx, accountId, id);
    this.events.record(tx, accountId, [
      {
        type: 'operation.awaiting_approval',
        resource: { kind: 'operation', id },
        data: {
          ...{ operationId: id, kind, state: 'awaiting_approval', amount, needed, source },
          ...{ idempotencyKey, ...subject },
        },
      },
    ]);
  }

  async enqueueDeliveries(accountId: number): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
  }
}
