// Passes notices of the bank to the modules that own their matter: customers and disputes. A notice
// is marked in the transaction in which its module records it, so each is recorded once.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { isCustomerEventType } from '../../outbound/customers/customer-report.js';
import { CustomerReports } from '../../outbound/customers/customer-reports.service.js';
import { isDisputeEventType } from '../../statement/disputes/dispute-report.js';
import { DisputesService } from '../../statement/disputes/disputes.service.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import { isJsonObject, parseJson, requestJson } from '../../platform/json/exact-json.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import {
  endNotices,
  listAccountsWithNotices,
  lockNotices,
  type Notice,
} from './notices.queries.js';

const batchSize = 200;
/** A notice about a customer may come before the response that creates the customer is stored. */
const waitMs = 600_000;

@Injectable()
export class Notices {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomerReports,
    private readonly disputes: DisputesService,
    private readonly events: EventsService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    @InjectQueue(jobs.handleNotices.name)
    private readonly handleNoticesQueue: JobQueue<'handleNotices'>,
  ) {}

  async handle({ accountId }: JobPayload<'handleNotices'>): Promise<void> {
    let isMore = true;
    while (isMore)
      isMore = await this.database.transaction(async (tx) => {
        const notices = await lockNotices(tx, accountId, { waitMs, limit: batchSize });
        const recorded: Notice[] = [];
        const given: Notice[] = [];
        for (const notice of notices) {
          if (await this.record(tx, accountId, notice)) recorded.push(notice);
          else if (notice.isOld) given.push(notice);
        }
        await endNotices(tx, accountId, 'processed', recorded);
        await endNotices(tx, accountId, 'quarantined', given);
        return notices.length === batchSize && recorded.length + given.length > 0;
      });
    await this.events.enqueueDeliveries(accountId);
    await this.reconcileQueue.enqueue({ accountId });
  }

  /** Handles notices again whose job the queue lost, or whose customer was not known yet. */
  @Every('notices', 5)
  async enqueueUnhandled(): Promise<void> {
    for (const account of await listAccountsWithNotices(this.database.prisma))
      await this.handleNoticesQueue.enqueue(account);
  }

  private async record(tx: Tx, accountId: number, notice: Notice): Promise<boolean> {
    const { eventType, bodyHash, receivedAtBankTime: receivedAt } = notice;
    const fields = parseJson(notice.body, requestJson);
    // Only objects are stored as notices; others are quarantined at once.
    if (!isJsonObject(fields)) return false;
    if (isCustomerEventType(eventType))
      return this.customers.record(tx, accountId, { eventType, fields, receivedAt });
    if (!isDisputeEventType(eventType)) return false;
    await this.disputes.record(tx, accountId, { eventType, fields, bodyHash, receivedAt });
    return true;
  }
}
