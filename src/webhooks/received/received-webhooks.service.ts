// The bank's webhooks as people see them: the list, one webhook with what it led to, and what a
// person decides about it. A webhook is processed again by the same jobs as after its receipt, so
// that a repeat changes nothing that the first time has recorded.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { chargeStatusEventTypes } from '../../outbound/charges/charge-status.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { WebhookEvent } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import type { ListTotal, Order } from '../../platform/http/listing.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import {
  discardQuarantined,
  findRelayOf,
  listReportedLines,
  listWebhookRows,
  lockParked,
  releaseParked,
  totalWebhooks,
  type ParkedWebhook,
  type ReleasedWebhook,
  type WebhookFilters,
  type WebhookKey,
  type WebhookPlace,
} from './received-webhooks.queries.js';
import { maxAtOnce } from './received-webhooks.schema.js';
import {
  noticeEventTypes,
  readWebhookBody,
  readWebhookFields,
  type WebhookReference,
} from '../processing/webhook-body.js';
import { maskWebhook } from './webhook-mask.js';

const noticeTypes: ReadonlySet<string> = new Set(noticeEventTypes);
const chargeStatusTypes: ReadonlySet<string> = new Set(chargeStatusEventTypes);

export type QuarantineReason = 'unreadable' | 'unknown_type' | 'unknown_subject';

export interface DecidedWebhooks {
  count: number;
  /** False if the filter finds more webhooks than one action decides about. */
  isComplete: boolean;
}

@Injectable()
export class ReceivedWebhooks {
  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    @InjectQueue(jobs.checkTransferStatuses.name)
    private readonly checkTransferStatusesQueue: JobQueue<'checkTransferStatuses'>,
    @InjectQueue(jobs.checkChargeStatuses.name)
    private readonly checkChargeStatusesQueue: JobQueue<'checkChargeStatuses'>,
    @InjectQueue(jobs.handleNotices.name)
    private readonly handleNoticesQueue: JobQueue<'handleNotices'>,
  ) {}

  async total(accountId: number, filters: WebhookFilters): Promise<ListTotal> {
    return totalWebhooks(this.database.prisma, accountId, filters);
  }

  /** One row more than the page holds. */
  async listPage(
    accountId: number,
    filters: WebhookFilters,
    page: { after: WebhookPlace | null; limit: number; order?: Order | undefined },
  ) {
    return listWebhookRows(this.database.prisma, accountId, filters, page);
  }

  /**
   * One webhook. Persons in its fields are masked unless `isVisible`. `fields` is null if the body
   * is no JSON object, or was deleted by age; `text` then has its bytes, if those may be seen.
   * Throws `not_found`.
   */
  async get(accountId: number, key: WebhookKey, isVisible: boolean) {
    const { prisma } = this.database;
    const where = { accountId_eventType_bodyHash: { accountId, ...key } };
    const row = await prisma.webhookEvent.findUnique({ where });
    if (!row) throw new AppError('not_found');
    const { body, ...webhook } = row;
    const reference = referenceOf(row);
    const [lines, relay] = await Promise.all([
      reference ? listReportedLines(prisma, accountId, reference) : [],
      findRelayOf(prisma, accountId, key),
    ]);
    const fields = body && readWebhookFields(body);
    return {
      ...{ webhook, lines, relay, bytes: body?.length ?? null },
      text: body && !fields && isVisible ? Buffer.from(body).toString() : null,
      fields: fields && (isVisible ? fields : maskWebhook(fields)),
      quarantineReason: row.state === 'quarantined' ? reasonOf(row) : null,
    };
  }

  /** How many webhooks an action would decide about, up to `maxAtOnce`. */
  async preview(accountId: number, filters: WebhookFilters): Promise<DecidedWebhooks> {
    const { keys, isComplete } = await this.find(accountId, filters);
    return { count: keys.length, isComplete };
  }

  /**
   * Webhooks leave the quarantine as if they had just been received. The jobs that follow a receipt
   * are enqueued for all of them.
   */
  async processAgain(accountId: number, keys: readonly WebhookKey[]): Promise<void> {
    await this.database.transaction(async (tx) => {
      const parked = await lockParked(tx, accountId, keys);
      if (parked.length > 0) await releaseParked(tx, accountId, parked.map(released));
    });
    const types = keys.map(({ eventType }) => eventType);
    await this.syncStatementQueue.enqueue({ accountId });
    await this.checkTransferStatusesQueue.enqueue({ accountId });
    if (types.some((type) => chargeStatusTypes.has(type)))
      await this.checkChargeStatusesQueue.enqueue({ accountId });
    if (types.some((type) => noticeTypes.has(type)))
      await this.handleNoticesQueue.enqueue({ accountId });
  }

  /** The newest webhooks that the filters find. */
  async processAllAgain(accountId: number, filters: WebhookFilters): Promise<DecidedWebhooks> {
    const { keys, isComplete } = await this.find(accountId, filters);
    await this.processAgain(accountId, keys);
    return { count: keys.length, isComplete };
  }

  /** Nothing follows from the webhooks any more. Returns how many were quarantined. */
  async discard(accountId: number, keys: readonly WebhookKey[]): Promise<number> {
    return discardQuarantined(this.database.prisma, accountId, keys);
  }

  /** Discards the newest quarantined webhooks that the filters find. */
  async discardAll(accountId: number, filters: WebhookFilters): Promise<DecidedWebhooks> {
    const quarantined = { ...filters, state: 'quarantined' } as const;
    const { keys, isComplete } = await this.find(accountId, quarantined);
    return { count: await this.discard(accountId, keys), isComplete };
  }

  private async find(accountId: number, filters: WebhookFilters) {
    const page = { after: null, limit: maxAtOnce };
    const { rows, lastExamined } = await this.listPage(accountId, filters, page);
    const isComplete = rows.length <= maxAtOnce && lastExamined === null;
    return { keys: rows.slice(0, maxAtOnce), isComplete };
  }
}

function released({ eventType, bodyHash, body }: ParkedWebhook): ReleasedWebhook {
  const { reference } = readWebhookBody(body, eventType);
  // The modules that record notices read objects only.
  const isNotice = noticeTypes.has(eventType) && readWebhookFields(body) !== null;
  return { eventType, bodyHash, state: isNotice ? 'unhandled' : 'pending', reference };
}

function reasonOf({ eventType, body }: WebhookEvent): QuarantineReason {
  if (body && !readWebhookFields(body)) return 'unreadable';
  return noticeTypes.has(eventType) ? 'unknown_subject' : 'unknown_type';
}

function referenceOf({ referenceKind: kind, reference: value }: WebhookEvent) {
  return kind === null || value === null ? null : ({ kind, value } as WebhookReference);
}
