// Owns disputes: infraction notices and MED requests about received Pix. Only webhooks report them,
// so a dispute settles and ends nothing: it opens a break, and its Pix is not refunded meanwhile,
// because the bank may return the money by itself. It ends when the statement shows that return, or
// when a person accepts the break.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { eventAmount } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { netCentsOf, refundsOfPix, type PixLine } from '../expected-payments/refunds-of-pix.js';
import { readRefundFacts } from '../expected-payments/refunds-of-pix.queries.js';
import type { Dispute } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { readUuid, type Page } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { Every } from '../../platform/queue/timers.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { readDisputeReport, type DisputeEventType } from './dispute-report.js';
import {
  listAccountsWithDisputes,
  listDisputesWithRefunds,
  storeDispute,
  type DisputedPix,
} from './disputes.queries.js';

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
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
  ) {}

  /** Newest first; one row more than the page holds. */
  list(accountId: number, { limit, after }: Page): Promise<Dispute[]> {
    return this.database.prisma.dispute.findMany({
      where: { accountId, ...(after !== null && { id: { lt: after } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
  }

  /** Throws `not_found`, also for a dispute of another account. */
  async get(accountId: number, id: string) {
    const found = await this.database.prisma.dispute.findUnique({
      where: { accountId_id: { accountId, id: readUuid(id) } },
    });
    if (!found) throw new AppError('not_found');
    return describeDispute(found);
  }

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
  @Every('disputes', 10)
  async recordReturns(): Promise<void> {
    for (const { accountId } of await listAccountsWithDisputes(this.database.prisma)) {
      const count = await this.database.transaction(async (tx) => {
        const returned = await recordReturns(tx, accountId);
        if (returned > 0) await recordStatementTask(tx, accountId);
        return returned;
      });
      if (count > 0) await this.reconcileQueue.enqueue({ accountId });
    }
  }
}

export function describeDispute({ amountCents: amount, ...dispute }: Dispute) {
  return { ...dispute, amount };
}

/**
 * Records the lines by which the bank returned disputed amounts: debits that refund the Pix, and
 * that are not our own refunds. Several may return one amount. Returns how many disputes ended.
 */
async function recordReturns(tx: Tx, accountId: number): Promise<number> {
  let count = 0;
  for (const disputed of await listDisputesWithRefunds(tx, accountId)) {
    const pix = await findPix(tx, accountId, disputed);
    const { debits } = refundsOfPix(await readRefundFacts(tx, accountId, pix));
    const byBank = debits.filter(({ own }) => own === null);
    const last = byBank.at(-1);
    const disputedCents = disputed.amountCents ?? (disputed.nsu === null ? null : pix.amountCents);
    if (!last || disputedCents === null || netCentsOf(byBank) < disputedCents) continue;
    await tx.dispute.updateMany({
      where: { accountId, id: disputed.id, returnedNsu: null },
      data: { returnedNsu: last.line.nsu },
    });
    count += 1;
  }
  return count;
}

/** The line of the Pix. Before the first line of the statement copy, only its id is known. */
async function findPix(
  tx: Tx,
  accountId: number,
  { nsu, endToEndId }: DisputedPix,
): Promise<PixLine> {
  if (nsu !== null)
    return tx.statementLine.findUniqueOrThrow({ where: { accountId_nsu: { accountId, nsu } } });
  return {
    ...{ nsu: 0n, isCredit: true, amountCents: 0n, typeName: '', occurredAt: new Date(0) },
    ...{ endToEndId, originalEndToEndId: null, idempotencyKey: null, movementId: null },
  };
}
