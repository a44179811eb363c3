// Announces the amendments of closed months, and how far they were announced. The facts themselves
// say what changed: nothing is recorded when a line comes or an outcome changes.
import { Injectable } from '@nestjs/common';
import { eventAmount } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import type { MonthNotice } from '../../generated/service/client.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Every } from '../../platform/queue/timers.js';
import { lockReconciliation } from '../../reconciliation/apply/decision-writer.queries.js';
import { sumAmendments, readCut } from './amendments.queries.js';
import { amendedSpan } from './month-amendments.service.js';
import { listUnannounced } from './month-notices.queries.js';

@Injectable()
export class MonthSweeper {
  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
  ) {}

  @Every('months', 60)
  async announce(): Promise<void> {
    for (const close of await listUnannounced(this.database.prisma)) await this.announceOne(close);
  }

  /** The lock keeps two processes from announcing the same changes. */
  private async announceOne({ accountId, month, revision }: MonthNotice): Promise<void> {
    const isAnnounced = await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const [close] = await listUnannounced(tx, { accountId, month });
      if (close?.revision !== revision) return false;
      const cut = await readCut(tx, accountId);
      const changes = amendedSpan(accountId, { from: month, to: month, cut: close });
      const { lines, balanceCents, outcomeCents } = await sumAmendments(tx, changes);
      const key = { accountId, month, revision };
      await tx.monthNotice.upsert({
        where: { accountId_month_revision: key },
        create: { ...key, ...cut },
        update: cut,
      });
      if (lines === 0) return false;
      const amounts = { balance: eventAmount(balanceCents), outcomes: eventAmount(outcomeCents) };
      const data = { month, revision, lines, ...amounts };
      this.events.record(tx, accountId, [
        { type: 'month.amended', resource: { kind: 'month', id: month }, data },
      ]);
      return true;
    });
    if (isAnnounced) await this.events.enqueueDeliveries(accountId);
  }
}
