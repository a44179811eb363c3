// Finds the received Pix that a refund names: in the mirror, which is read anew once where it does not have it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { RefundFilter } from '../contract/refunds.js';
import { Database } from '../database.service.js';
import { AppError, unreachable } from '../platform/errors.js';
import { StatementService } from '../statement/statement.service.js';
import { chooseOriginal, type ChosenOriginal, type OriginalPix } from './original-pix.js';
import * as queries from './refunds.queries.js';

/** How long a poll that is under way is waited for. */
const patienceMs = 5_000;
const pauseMs = 200;

export interface OriginalReference {
  filterBy: RefundFilter;
  id: string;
}

@Injectable()
export class Originals {
  constructor(
    private readonly database: Database,
    private readonly statement: StatementService,
  ) {}

  /**
   * Throws `not_found`, also for what another account received, `rule_broken` with the reason `not_refundable` or
   * `ambiguous_reference`, and `bank_unreachable` where the bank did not show its statement.
   */
  async get(accountId: number, reference: OriginalReference): Promise<OriginalPix> {
    const known = await this.choose(accountId, reference);
    const chosen =
      known.outcome === 'absent' ? await this.chooseFromFresh(accountId, reference) : known;
    switch (chosen.outcome) {
      case 'absent':
        throw new AppError('not_found');
      case 'not_refundable':
        throw new AppError('rule_broken', {
          public: 'Only a received Pix can be refunded.',
          reason: 'not_refundable',
        });
      case 'ambiguous':
        throw new AppError('rule_broken', {
          public: 'Several received Pix have this id: name one by END_TO_END_ID or NSU.',
          reason: 'ambiguous_reference',
        });
      case 'chosen':
        return chosen.original;
      default:
        return unreachable(chosen);
    }
  }

  private async choose(accountId: number, reference: OriginalReference): Promise<ChosenOriginal> {
    return chooseOriginal(await queries.listReferenced(this.database.prisma, accountId, reference));
  }

  /** Polls until the line is there, or a poll that began after the question has not shown it. */
  private async chooseFromFresh(
    accountId: number,
    reference: OriginalReference,
  ): Promise<ChosenOriginal> {
    const db = this.database.prisma;
    const askedAt = await queries.readTime(db);
    const until = Date.now() + patienceMs;
    for (;;) {
      await this.statement.sync(accountId);
      const isFresh = await queries.isSyncedSince(db, accountId, askedAt);
      const chosen = await this.choose(accountId, reference);
      if (chosen.outcome !== 'absent' || isFresh || Date.now() > until) return chosen;
      await sleep(pauseMs);
    }
  }
}
