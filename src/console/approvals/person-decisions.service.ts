// Decides about operations for a person, one after the other, each as the API decides it. Each
// decision is recorded in the audit before it is made, with the request that the person has seen.
import { Injectable } from '@nestjs/common';
import { operatorIdOf } from '../../access/accounts/actor.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { ApprovalDecision } from '../../generated/service/client.js';
import { Approvals } from '../../outbound/operations/approvals.service.js';
import type { AuditedActionName } from '../../access/people/audited-actions.js';
import { Audit } from '../../access/people/audit.service.js';
import { AppError } from '../../platform/errors.js';

/** An operation, by the request that the person has seen. */
export interface SeenOperation {
  id: string;
  requestHash: string;
}

export interface RefusedDecision extends SeenOperation {
  /** The code of the error. */
  code: string;
}

const actions: Record<ApprovalDecision, AuditedActionName> = {
  approve: 'approve payment',
  decline: 'decline payment',
};

@Injectable()
export class PersonDecisions {
  constructor(
    private readonly database: Database,
    private readonly approvals: Approvals,
    private readonly audit: Audit,
  ) {}

  /** Returns those that could not be decided; the others are decided. */
  async decide(
    person: Pick<Caller, 'accountId' | 'actor'>,
    operations: readonly SeenOperation[],
    { decision, reason }: { decision: ApprovalDecision; reason: string },
  ): Promise<RefusedDecision[]> {
    const refused: RefusedDecision[] = [];
    for (const { id, requestHash } of operations) {
      const entry = {
        ...{ operatorId: operatorIdOf(person.actor), accountId: person.accountId },
        ...{ action: actions[decision], subject: `operation ${id}` as const },
        ...{ reason, shown: requestHash },
      };
      const entryId = await this.audit.record(this.database.prisma, entry);
      try {
        await this.approvals.decide(person, id, { decision, reason, requestHash });
      } catch (error) {
        const code = error instanceof AppError ? (error.details.reason ?? error.code) : 'error';
        const action = error instanceof AppError ? 'refused' : 'failed';
        const subject = `entry ${entryId}` as const;
        await this.audit.record(this.database.prisma, {
          ...entry,
          ...{ action, subject, reason: code, shown: null },
        });
        if (!(error instanceof AppError)) throw error;
        refused.push({ id, requestHash, code });
      }
    }
    return refused;
  }
}
