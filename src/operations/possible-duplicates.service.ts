// Sees when a request that moves money may be a second one for the same: a client that retries under a new key must
// not pay twice.
import { Injectable } from '@nestjs/common';
import { Settings } from '../config.js';
import type { Tx } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { findPossibleDuplicate, lockPossibleDuplicates } from './evidence.queries.js';
import type { NewOperation } from './operations.queries.js';

/** A request that has been under way for longer may be the one that its client has given up. */
const sendingForMs = 2_000;

@Injectable()
export class PossibleDuplicates {
  constructor(private readonly settings: Settings) {}

  /**
   * Throws when another operation for the same money to the same counterparty has no known outcome, and nothing that
   * the statement shows tells the two apart; where the settings say so, also after one that has just succeeded. The
   * id of such a one, where they only ask to be warned.
   */
  async check(
    tx: Tx,
    { accountId, kind, counterparty, amountCents, isDistinguishable }: NewOperation,
    isAllowed: boolean,
  ): Promise<string | null> {
    if (counterparty === null || amountCents === null || isAllowed) return null;
    const { policy, windowMinutes } = this.settings.possibleDuplicates;
    const endedWithinMs = policy === 'off' ? null : windowMinutes * 60_000;
    // A double click comes within the moment in which the first is still being sent.
    if (endedWithinMs !== null) await lockPossibleDuplicates(tx, accountId);
    const found = await findPossibleDuplicate(
      tx,
      { accountId, kind, counterparty, amountCents, isDistinguishable },
      { sendingForMs, endedWithinMs },
    );
    if (!found) return null;
    if (!found.isLost && policy === 'warn') return found.id;
    throw new AppError('possible_duplicate', {
      public:
        'Another operation for the same amount to the same counterparty is in the way, which this may repeat; ' +
        'with the header Concilia-Allow-Duplicate: true it is made all the same.',
      headers: { Location: `/v1/operations/${found.id}` },
    });
  }
}
