// Owns disputes: infraction notices and MED requests about received Pix. Only webhooks report them,
// so a dispute settles and ends nothing: it opens a break, and its Pix is not refunded meanwhile,
// because the bank may return the money by itself. It ends when the statement shows that return, or
// when a person accepts the break.
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../database.service.js';
import { eventAmount } from '../events/event.js';
import { EventsService } from '../events/events.service.js';
import { newId } from '../platform/ids.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { readDisputeReport, type DisputeEventType } from './dispute-report.js';
import { listAccountsWithDisputes, recordReturns, storeDispute } from './disputes.queries.js';

/** A webhook about a dispute. */
export interface DisputeNotice {
  eventType: DisputeEventType;
  fields: Readonly<Record<string, unknown>>;
  /** Identifies the bytes of the webhook. */
  bodyHash: string;
  /** In the bank's time. */
  receivedAt: Date;
}

@Injectable()
export class DisputesService {
  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Records what a webhook reports, in the transaction that marks it as processed. */
  async record(tx: Tx, accountId: number, notice: DisputeNotice): Promise<void> {
    const { eventType, fields, bodyHash, receivedAt: reportedAt } = notice;
    const report = readDisputeReport(eventType, fields, reportedAt);
    const reference = report.reference ?? bodyHash;
    const stored = await storeDispute(tx, {
      ...{ accountId, id: newId(), ...report, reference, reportedAt },
    });
    if (stored.status === stored.before) return;
    const { id, kind, status, endToEndId, amountCents, deadlineAt } = stored;
    this.events.record(tx, accountId, [
      {
        type: `dispute.${status}`,
        resource: { kind: 'dispute', id },
        data: {
          ...{ disputeId: id, kind, endToEndId },
          amount: amountCents === null ? null : eventAmount(amountCents),
          deadlineAt: deadlineAt.toISOString(),
        },
      },
    ]);
    await recordStatementTask(tx, accountId);
  }

  /** Finds disputes whose amount the bank has returned. Their breaks are then resolved. */
  @Every('disputes', 10_000)
  async recordReturns(): Promise<void> {
    for (const { accountId } of await listAccountsWithDisputes(this.database.sharedReads)) {
      const count = await this.database.transaction(async (tx) => {
        const returned = await recordReturns(tx, accountId);
        if (returned > 0) await recordStatementTask(tx, accountId);
        return returned;
      });
      if (count > 0) await this.jobQueue.enqueue('reconcile', { accountId });
    }
  }
}
