// Finds operations that a request for outgoing money may repeat: a client that retries with a new
// key must not pay twice.
import { Injectable } from '@nestjs/common';
import { Settings } from '../config.js';
import type { Tx } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { findPossibleDuplicate, lockPossibleDuplicates } from './evidence.queries.js';
import type { NewOperation } from './operations.queries.js';

/** After this long in progress, the client may have given up and be retrying with a new key. */
const sendingForMs = 2_000;

@Injectable()
export class PossibleDuplicates {
  constructor(private readonly settings: Settings) {}

  /**
   * Throws `possible_duplicate` when another operation with the same counterparty and amount has no
   * known outcome and the statement would show no id that distinguishes the two. Where the policy
   * is `refuse`, also after one that has just succeeded. Where the policy is `warn`, returns the id
   * of such a one instead.
   */
  async findOrThrow(
    tx: Tx,
    { accountId, kind, counterparty, amountCents, isDistinguishable }: NewOperation,
    isAllowed: boolean,
  ): Promise<string | null> {
    if (counterparty === null || amountCents === null || isAllowed) return null;
    const { policy, windowMinutes } = this.settings.possibleDuplicates;
    const endedWithinMs = policy === 'off' ? null : windowMinutes * 60_000;
    // The second request of a double click arrives while the first is still being sent.
    if (endedWithinMs !== null) await lockPossibleDuplicates(tx, accountId);
    const found = await findPossibleDuplicate(
      tx,
      { accountId, kind, counterparty, amountCents, isDistinguishable },
      { sendingForMs, endedWithinMs },
    );
    if (!found) return null;
    if (!found.isUnresolved && policy === 'warn') return found.id;
    throw new AppError('possible_duplicate', {
      public:
        'Another operation has the same counterparty and amount, and this request may repeat it. ' +
        'To send it anyway, repeat it with the header Concilia-Allow-Duplicate: true.',
      headers: { Location: `/v1/operations/${found.id}` },
    });
  }
}
