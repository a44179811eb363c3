// Deletes events that a newer event of their resource has replaced, and deliveries, once they are
// older than EVENT_RETENTION_DAYS. A pending delivery keeps its event and all later ones.
import { Injectable } from '@nestjs/common';
import { Settings } from '../platform/settings/config.js';
import { Database } from '../platform/postgres/database.service.js';
import { AppError } from '../platform/errors.js';
import { deleteInBatches } from '../platform/postgres/retention.js';
import { Every } from '../platform/queue/timers.js';
import * as queries from './event-retention.queries.js';

@Injectable()
export class EventRetention {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @Every('event-retention', 60)
  async deleteOldEvents(): Promise<void> {
    const { eventDays } = this.settings.retention;
    if (eventDays === 0) return;
    const accounts = await queries.listAccountsWithOldEvents(this.database.prisma, eventDays);
    for (const { accountId } of accounts)
      await deleteInBatches(eventDays, (days, limit) => this.sweep(accountId, { days, limit }));
  }

  /**
   * Throws `gone` if events after the position were deleted. To be called after the events were
   * read: what was deleted since then is not missing.
   */
  async assertNothingDeletedAfter(accountId: number, position: bigint): Promise<void> {
    const found = await this.database.prisma.eventRetention.findUnique({ where: { accountId } });
    const deleted = found?.deletedPosition ?? 0n;
    if (position >= deleted) return;
    throw new AppError('gone', {
      reason: 'events_deleted',
      public: `Events up to position ${deleted} are deleted: continue after ${deleted}.`,
      headers: { Location: `/v1/events?after=${deleted}` },
    });
  }

  /** Returns how many events were swept. */
  private async sweep(accountId: number, old: { days: number; limit: number }): Promise<number> {
    return this.database.transaction(async (tx) => {
      const after = await queries.lockSweptPosition(tx, accountId);
      if (after === null) return 0;
      const positions = await queries.listOldPositions(tx, accountId, after, old);
      const last = positions.at(-1);
      if (last === undefined) return 0;
      const pending = await queries.deleteEndedDeliveries(tx, accountId, { after, until: last });
      const sweepable = positions.filter((position) => pending === null || position < pending);
      const until = sweepable.at(-1);
      if (until === undefined) return 0;
      await queries.deleteReplacedEvents(tx, accountId, { after, until });
      return sweepable.length;
    });
  }
}
