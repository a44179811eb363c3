// What is checked again when an operation is approved: what was true when it was stored may have
// changed while it waited.
import { Injectable } from '@nestjs/common';
import { assertAccountLive } from '../../access/accounts/account-modes.queries.js';
import type { Tx } from '../../platform/postgres/database.service.js';
import { writeTogether, type Write } from '../../platform/postgres/joined-writes.queries.js';
import { PaymentControls, type Payment } from '../payment-controls/payment-controls.service.js';
import { AppError, conflict, invariant } from '../../platform/errors.js';
import { SecretBox } from '../../platform/secret-box.js';
import { approvedRequestText } from './approval-policy.js';
import type { ApprovalRequest } from './approvals.queries.js';
import { readStatementEvidence } from './evidence.queries.js';
import type { Operation } from './operation.js';
import { OperationOutcomes } from './operation-outcomes.service.js';

@Injectable()
export class ApprovalChecks {
  constructor(
    private readonly outcomes: OperationOutcomes,
    private readonly controls: PaymentControls,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * Throws while nothing may be sent for the account, and `conflict` when this operation must not
   * be sent any more. The operation is locked.
   */
  async assertSendable(tx: Tx, operation: Operation, request: ApprovalRequest): Promise<void> {
    const { needed, requestedBy, requestHash } = request;
    const present = approvedRequestText({ operation, needed, requestedBy });
    // Triggers forbid it: someone has changed the database past them.
    if (this.secretBox.hash('approved-request', present) !== requestHash)
      throw conflict('request_changed', 'The stored request is not the one that was made.');
    await assertAccountLive(tx, operation.accountId);
    const { matched, partlyMatched } = await readStatementEvidence(tx, operation);
    if (matched.length + partlyMatched.length > 0)
      throw conflict(
        'already_on_statement',
        'A line of the statement is matched to a payment of the operation.',
      );
    await writeTogether(tx, await this.findAllowed(tx, this.paymentOf(operation, request)));
    await this.outcomes.kindOf(operation).assertStillSendable?.(tx, operation);
  }

  /** What to write where the payment controls still allow the payment. */
  private async findAllowed(tx: Tx, payment: Payment): Promise<Write[]> {
    try {
      return await this.controls.assertAllowed(tx, payment);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'rule_broken') throw error;
      const { reason = error.code, public: text = '' } = error.details;
      throw conflict(reason, text, error);
    }
  }

  private paymentOf(
    operation: Operation,
    { source, requestedBy }: Pick<ApprovalRequest, 'source' | 'requestedBy'>,
  ): Payment {
    const { accountId, id: operationId, counterparty, amountCents, effectiveFrom } = operation;
    invariant(counterparty !== null && amountCents !== null, 'what is approved sends money');
    const kind = this.outcomes.kindOf(operation);
    return {
      ...{ accountId, operationId, effectiveFrom, purpose: kind.sendsMoney ?? 'transfer' },
      payees: kind.payeesOf?.(operation) ?? [{ counterparty, amountCents }],
      // An automatic refund counts for no key.
      actor: source === 'policy' ? null : requestedBy,
    };
  }
}
