// Refunds received Pix: at the request of the receiver, or by the bank itself (MED).
import { Injectable } from '@nestjs/common';
import type { RefundFilter, RefundRequest } from '../../bank-contract/refunds.js';
import type { RouteInput } from '../../bank-contract/route.js';
import type { Transaction } from '../../bank-contract/statement.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { movementOfLine, type PostedMovement } from '../ledger/posted-movement.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { Statement } from '../statement/statement.service.js';
import { MedBlocks } from './med-blocks.service.js';
import type { takePixBack } from './med.schema.js';
import { OriginalPixes } from './original-pixes.service.js';
import { RefundMovements } from './refund-movements.service.js';
import { RefundOutcomes } from './refund-outcomes.service.js';
import { medReason, requestedByReceiver } from './refund-bodies.js';

@Injectable()
export class Refunds {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly originals: OriginalPixes,
    private readonly movements: RefundMovements,
    private readonly outcomes: RefundOutcomes,
    private readonly statement: Statement,
    private readonly blocks: MedBlocks,
  ) {}

  /**
   * Returns the refund's statement line. Each call is a new refund, also with a repeated
   * IdempotencyKey.
   */
  async refund(
    account: SandboxAccount,
    reference: { filterBy: RefundFilter; id: string },
    request: RefundRequest,
    idempotencyKey: string | null,
  ): Promise<Transaction> {
    const original = await this.originals.get(account, reference);
    this.originals.requireOpenWindow(original);
    return this.database.transaction(async (tx) => {
      const amountCents = await this.movements.reserve(tx, original, request.amount);
      const failure = this.outcomes.drawFailure();
      const line = await this.movements.post(tx, original, {
        amountCents,
        description: request.description || null,
        reason: requestedByReceiver,
        idempotencyKey,
        isLost: failure !== null,
      });
      await this.outcomes.schedule(tx, account, line, failure);
      return this.statement.readPosted(tx, account, line.nsu);
    });
  }

  /** A refund by the bank (MED), without a refund window. The default is the refundable amount. */
  async takeBack(
    caller: SandboxAccount,
    request: RouteInput<typeof takePixBack>['body'],
  ): Promise<PostedMovement> {
    const account = await this.accounts.getNamed(request.account, caller);
    const reference = { filterBy: 'END_TO_END_ID', id: request.endToEndId } as const;
    const original = await this.originals.get(account, reference);
    return this.database.transaction(async (tx) => {
      await this.blocks.release(tx, account, original.endToEndId);
      const amountCents = await this.movements.reserve(tx, original, request.amount ?? null);
      const reason = medReason(request.reason ?? null);
      const line = await this.movements.post(tx, original, {
        amountCents,
        description: reason.text,
        reason,
        idempotencyKey: null,
        isLost: false,
      });
      return movementOfLine(line);
    });
  }
}
