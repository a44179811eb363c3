// Sends an operation that is a person's to end once more, on that person's word: the same bytes under the same key, and
// only where a repeat is to the bank the same request. All else that guards a sending holds for this one too.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { Database, type Tx } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import type { Operation } from './operation.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import { waysOf } from './recovery.js';

/** It is sent before its recovery looks at it again; longer than a call may begin late. */
const untilLookedAtMs = 15_000;

@Injectable()
export class OperationResending {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly outcomes: OperationOutcomes,
    private readonly sender: OperationSender,
  ) {}

  /** Says that it goes on. Throws `not_found`, and `conflict` where a second sending might be a second effect. */
  async take(tx: Tx, accountId: number, id: string): Promise<void> {
    const found = await tx.operation.findUnique({ where: { accountId_id: { accountId, id } } });
    if (!found) throw new AppError('not_found');
    const danger = this.dangerOf(found as Operation);
    if (danger !== null) throw notSafe(danger);
    if (!(await this.outcomes.resume(tx, { accountId, id }, untilLookedAtMs)))
      throw notSafe('The operation waits for no person.');
  }

  /** After the commit. Whatever comes of it, its recovery goes on from there. */
  async send(accountId: number, id: string): Promise<void> {
    const operation = await this.database.prisma.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id } },
    });
    await this.sender.send(operation as Operation, 'unknown');
  }

  /** Why it must not be sent again; null where that is proven safe. */
  private dangerOf(operation: Operation): string | null {
    const { repeat } = this.outcomes.kindOf(operation);
    const { profile } = this.bank;
    if (repeat === 'never') return 'Its secrets were forgotten when they were sent.';
    if (repeat === 'another') return 'To the bank a repeat would be one more.';
    if (!profile.isRepeatSafe) return 'Nobody has said that the bank takes a repeat for the first.';
    const ways = waysOf(
      {
        repeat,
        hasLookUp: false,
        isOutgoing: operation.counterparty !== null,
        isKnownToBank: operation.bankReference !== null,
        hasRefusedRepeat: operation.reason === 'refused_a_repeat',
      },
      profile,
    );
    return ways.canResend ? null : 'The bank has refused to take a repeat.';
  }
}

function notSafe(text: string): AppError {
  return new AppError('conflict', { public: text, reason: 'not_safe_to_resend' });
}
