// Resends an operation in `needs_operator` once more, on an operator's request: the same bytes with
// the same key, and only where the bank treats a repeat as the same request. Every other guard of
// an attempt applies too.
import { Injectable } from '@nestjs/common';
import { assertAccountLive } from '../../access/accounts/account-modes.queries.js';
import { BankService } from '../../bank/bank.service.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import type { Operation } from './operation.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import * as queries from './operations.queries.js';

/**
 * The operation is sent before its recovery is due; this is longer than a call may take to begin.
 */
const recoveryInMs = 15_000;

@Injectable()
export class OperationResending {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly outcomes: OperationOutcomes,
    private readonly sender: OperationSender,
  ) {}

  /**
   * Moves the operation back to `unknown`. Throws `not_found`, and `conflict` where resending might
   * have a second effect. Throws like `assertAccountLive`.
   */
  async reopen(tx: Tx, accountId: number, id: string): Promise<void> {
    const found = await tx.operation.findUnique({ where: { accountId_id: { accountId, id } } });
    if (!found) throw new AppError('not_found');
    await assertAccountLive(tx, accountId);
    const history = await queries.readAttemptHistory(tx, { accountId, id });
    const unsafeReason = this.findUnsafeReason(found, history);
    if (unsafeReason !== null) throw notSafe(unsafeReason);
    if (!(await this.outcomes.resume(tx, { accountId, id }, recoveryInMs)))
      throw notSafe('The operation is not in the state needs_operator.');
  }

  /** Resends the operation, after the commit of `reopen`. Recovery continues from the result. */
  async send(accountId: number, id: string): Promise<void> {
    const operation = await this.database.prisma.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id } },
    });
    await this.sender.send(operation, 'unknown');
  }

  /** Why the operation must not be resent; null if resending is proven safe. */
  private findUnsafeReason(
    operation: Operation,
    { isRestored, hasRefusedRepeat }: queries.AttemptHistory,
  ): string | null {
    const { repeat } = this.outcomes.kindOf(operation);
    if (repeat === 'never') return 'The request held secrets, which are not stored.';
    if (operation.bodiesDeletedAt !== null) return 'The request is no longer stored.';
    if (repeat === 'unkeyed') return 'The bank would execute a repeat as another request.';
    if (!this.bank.profile.isRepeatSafe)
      return 'The bank profile does not say that a repeat is safe.';
    if (isRestored)
      return 'The database was set back since: the caller may have paid in another way.';
    return hasRefusedRepeat ? 'The bank has refused a repeat of this request.' : null;
  }
}

function notSafe(text: string): AppError {
  return new AppError('conflict', { public: text, reason: 'not_safe_to_resend' });
}
