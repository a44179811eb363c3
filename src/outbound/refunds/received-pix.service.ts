// Finds the statement line of the received Pix that a refund references. If the line is not stored
// yet, the statement is synced first.
import { Injectable } from '@nestjs/common';
import type { RefundFilter } from '../../bank-contract/refunds.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { StatementSync } from '../../statement/lines/statement-sync.service.js';
import {
  chooseRefundOriginal,
  type RefundOriginalChoice,
  type RefundOriginal,
} from './received-pix.js';
import { sleepOutsideSlot } from '../../platform/limits/request-slots.service.js';
import * as queries from './refunds.queries.js';

/** How long to wait for a sync that is already running. */
const syncTimeoutMs = 5_000;
const retryDelayMs = 200;

const rejections = {
  not_refundable: {
    public: 'Only a received Pix can be refunded.',
    reason: 'not_refundable',
  },
  ambiguous: {
    public: 'Several received Pix have this id: send an END_TO_END_ID or NSU instead.',
    reason: 'ambiguous_reference',
  },
} as const;

export interface ReceivedPixReference {
  filterBy: RefundFilter;
  id: string;
}

@Injectable()
export class ReceivedPixFinder {
  constructor(
    private readonly database: Database,
    private readonly statementSync: StatementSync,
  ) {}

  /**
   * Throws `not_found`, also for a Pix of another account; `rule_broken` with the reason
   * `not_refundable` or `ambiguous_reference`; and `bank_unreachable` when the statement could not
   * be synced.
   */
  async get(accountId: number, reference: ReceivedPixReference): Promise<RefundOriginal> {
    const known = await this.choose(accountId, reference);
    return originalOf(
      known.outcome === 'absent' ? await this.chooseAfterSync(accountId, reference) : known,
    );
  }

  /** The same without a sync: a Pix whose line is not stored yet is `not_found`. */
  async getStored(accountId: number, reference: ReceivedPixReference): Promise<RefundOriginal> {
    return originalOf(await this.choose(accountId, reference));
  }

  private async choose(
    accountId: number,
    reference: ReceivedPixReference,
  ): Promise<RefundOriginalChoice> {
    return chooseRefundOriginal(
      await queries.listRefundReferenceLines(this.database.prisma, accountId, reference),
    );
  }

  /**
   * Syncs until the line is stored, or until a sync that began after this call has not found it.
   */
  private async chooseAfterSync(
    accountId: number,
    reference: ReceivedPixReference,
  ): Promise<RefundOriginalChoice> {
    const calledAt = await this.database.now();
    const until = performance.now() + syncTimeoutMs;
    for (;;) {
      await this.statementSync.sync(accountId);
      const isFresh = await this.statementSync.isSyncedSince(accountId, calledAt);
      const chosen = await this.choose(accountId, reference);
      if (chosen.outcome !== 'absent' || isFresh || performance.now() > until) return chosen;
      await sleepOutsideSlot(retryDelayMs);
    }
  }
}

function originalOf(chosen: RefundOriginalChoice): RefundOriginal {
  if (chosen.outcome === 'chosen') return chosen.original;
  if (chosen.outcome === 'absent') throw new AppError('not_found');
  throw new AppError('rule_broken', rejections[chosen.outcome]);
}
