// Stores the bank's webhooks: the raw bytes are committed before the bank gets its response.
// Webhooks that arrive during a commit share the next one, so that a burst costs few commits and
// few syncs. A webhook is processed once a sync that began after its receipt has completed.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { chargeStatusEventTypes } from '../../outbound/charges/charge-status.js';
import { Database } from '../../platform/postgres/database.service.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { continueTrace, currentTraceparent } from '../../platform/trace.js';
import { noticeEventTypes, readRequestKey, readWebhookBody } from '../processing/webhook-body.js';
import { compareNewLines, processWebhooks } from '../health/webhook-processing.service.js';
import {
  recordProcessedWebhooks,
  recordReceivedWebhooks,
} from '../health/webhook-metrics.service.js';
import {
  findNextRepeatMs,
  listAccountsWithOverdueWebhooks,
} from '../processing/webhook-processing.queries.js';
import { WebhookQuota } from './webhook-quota.service.js';
import { storeWebhooks, type StoredWebhook } from '../processing/webhooks.queries.js';

interface PendingWebhook {
  webhook: StoredWebhook;
  resolve: () => void;
  reject: (error: unknown) => void;
}

type TriggeredQueue = JobQueue<
  'syncStatement' | 'checkTransferStatuses' | 'checkChargeStatuses' | 'handleNotices'
>;

const maxBatch = 500;
/**
 * Of the webhooks that come within this time, only the first one enqueues a sync at once. Several
 * webhooks report one payment, and the payment after it must not wait.
 */
const triggerIntervalMs = 20;
/** The same while webhooks are many: then each one that waits saves a job. */
const longTriggerIntervalMs = 100;
const manyWebhooks = 10;
/** A burst is processed in parts, with time between them to store what else arrives. */
const continueMs = 250;
/**
 * The delays after which a sync is repeated while it does not show a webhook's reference, and so
 * the times since its receipt. After the last, the webhook waits no longer.
 */
const repeatDelaysMs = [1_000, 2_000, 5_000, 15_000, 60_000] as const;
const repeatsAfterMs = [1_000, 3_000, 8_000, 23_000, 83_000] as const;
const maxWaitMs = Math.max(...repeatsAfterMs);

@Injectable()
export class WebhookInbox {
  private readonly pending: PendingWebhook[] = [];
  private isFlushing = false;
  /** How often each job was triggered within the interval. */
  private readonly triggered = new Map<string, number>();

  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.processWebhooks.name)
    private readonly processWebhooksQueue: JobQueue<'processWebhooks'>,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    @InjectQueue(jobs.checkTransferStatuses.name)
    private readonly checkTransferStatusesQueue: TriggeredQueue,
    @InjectQueue(jobs.checkChargeStatuses.name)
    private readonly checkChargeStatusesQueue: TriggeredQueue,
    @InjectQueue(jobs.handleNotices.name) private readonly handleNoticesQueue: TriggeredQueue,
    private readonly quota: WebhookQuota,
  ) {}

  /**
   * Resolves when the bytes are committed. A sync is enqueued after that. Throws `rate_limited` if
   * the account has too many webhooks that are not processed.
   */
  async store(accountId: number, urlEventType: string | null, body: Buffer): Promise<void> {
    const { eventType, isQuarantined, reference } = readWebhookBody(body, urlEventType);
    if (!this.quota.admitAtOnce(accountId, isQuarantined))
      await this.quota.admit(accountId, isQuarantined);
    const webhook = {
      accountId,
      eventType,
      bodyHash: sha256(body),
      body,
      isQuarantined,
      referenceKind: reference?.kind ?? null,
      reference: reference?.value ?? null,
      // The bank may have sent the Pix under another endToEndId than the service knows.
      requestKey: reference?.kind === 'end_to_end_id' ? readRequestKey(body) : null,
      copies: 1,
      traceparent: currentTraceparent(),
    };
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ webhook, resolve, reject });
    });
    void this.flush();
    await committed;
  }

  /** While the statement does not show a webhook's reference, the sync is repeated a few times. */
  async process({ accountId }: JobPayload<'processWebhooks'>): Promise<void> {
    const { isComplete, ...processed } = await processWebhooks(this.database, accountId, maxWaitMs);
    recordProcessedWebhooks(processed);
    if (!isComplete)
      await this.processWebhooksQueue.enqueue({ accountId }, { delayMs: continueMs });
    try {
      await compareNewLines(this.database, accountId, recordProcessedWebhooks);
    } finally {
      await this.repeatSync(accountId);
    }
  }

  /** Few different delays, because jobs with the same delay coalesce. */
  private async repeatSync(accountId: number): Promise<void> {
    const db = this.database.prisma;
    const inMs = await findNextRepeatMs(db, accountId, repeatsAfterMs);
    if (inMs === null) return;
    const delayMs = [0, ...repeatDelaysMs].find((ms) => ms >= inMs) ?? Math.max(...repeatDelaysMs);
    await this.syncStatementQueue.enqueue({ accountId }, { delayMs });
  }

  /** Enqueues syncs again for pending webhooks whose job the queue lost. */
  @Every('webhooks', 1)
  async enqueueSyncs(): Promise<void> {
    const { prisma } = this.database;
    for (const account of await listAccountsWithOverdueWebhooks(prisma, repeatsAfterMs))
      await this.syncStatementQueue.enqueue(account);
  }

  private async flush(): Promise<void> {
    if (this.isFlushing) return;
    this.isFlushing = true;
    while (this.pending.length > 0) {
      const batch = this.pending.splice(0, maxBatch);
      try {
        const webhooks = mergeCopies(batch.map(({ webhook }) => webhook));
        // What a batch does is recorded in the trace of its first webhook.
        await continueTrace(webhooks[0]?.traceparent, () =>
          storeWebhooks(this.database.pool, webhooks),
        );
        for (const { resolve } of batch) resolve();
        recordReceivedWebhooks(batch.map(({ webhook }) => webhook));
        this.triggerFor(batch, this.syncStatementQueue, () => true);
        this.triggerFor(batch, this.checkTransferStatusesQueue, referencesPix);
        this.triggerFor(batch, this.checkChargeStatusesQueue, reportsChargeStatus);
        this.triggerFor(batch, this.handleNoticesQueue, isNotice);
      } catch (error) {
        // Each request of the batch fails, so that the bank sends its webhook again.
        for (const { reject } of batch) reject(error);
      }
    }
    this.isFlushing = false;
  }

  /** Once for each account, as a part of the trace of its first webhook that it concerns. */
  private triggerFor(
    batch: readonly PendingWebhook[],
    queue: TriggeredQueue,
    isConcerned: (webhook: StoredWebhook) => boolean,
  ): void {
    const accounts = new Set<number>();
    for (const { webhook } of batch) {
      const { accountId, traceparent } = webhook;
      if (accounts.has(accountId) || !isConcerned(webhook)) continue;
      accounts.add(accountId);
      continueTrace(traceparent, () => this.trigger(queue, accountId));
    }
  }

  /**
   * Enqueues a sync at once. For webhooks that come within the interval after it, one more is
   * enqueued at its end: under load, a job for each commit costs as much as the commit. Other jobs
   * are always enqueued at its end, so that no line waits for them. It is not awaited: a queue that
   * hangs must not delay the next commit.
   */
  private trigger(queue: TriggeredQueue, accountId: number): void {
    const key = `${queue.name} ${accountId}`;
    const before = this.triggered.get(key) ?? 0;
    this.triggered.set(key, before + 1);
    if (before > 0) return;
    const isSync = queue === this.syncStatementQueue;
    if (isSync) void queue.enqueue({ accountId });
    const end = () => {
      const count = this.triggered.get(key) ?? 0;
      this.triggered.delete(key);
      if (!isSync) void queue.enqueue({ accountId });
      else if (count > 1) void this.syncAgain(accountId);
    };
    setTimeout(() => {
      const isCrowded = (this.triggered.get(key) ?? 0) > manyWebhooks;
      if (isCrowded) setTimeout(end, longTriggerIntervalMs - triggerIntervalMs).unref();
      else end();
    }, triggerIntervalMs).unref();
  }

  /** Enqueues a sync if the last one may have begun before the webhooks that it should show. */
  private async syncAgain(accountId: number): Promise<void> {
    try {
      await this.repeatSync(accountId);
    } catch {
      // The job does the same, and reports why it fails.
      await this.processWebhooksQueue.enqueue({ accountId });
    }
  }
}

/** Whether the webhook references a Pix that was sent. A received Pix is referenced by its nsu. */
function referencesPix({ referenceKind }: StoredWebhook): boolean {
  return referenceKind === 'end_to_end_id';
}

const chargeStatusEvents: ReadonlySet<string> = new Set(chargeStatusEventTypes);

const noticeEvents: ReadonlySet<string> = new Set(noticeEventTypes);

function isNotice({ eventType }: StoredWebhook): boolean {
  return noticeEvents.has(eventType);
}

function reportsChargeStatus({ eventType }: StoredWebhook): boolean {
  return chargeStatusEvents.has(eventType);
}

/** Merges copies within a batch: one INSERT … ON CONFLICT must not update a row twice. */
function mergeCopies(webhooks: StoredWebhook[]): StoredWebhook[] {
  const merged = new Map<string, StoredWebhook>();
  for (const webhook of webhooks) {
    const key = `${webhook.accountId} ${webhook.eventType} ${webhook.bodyHash}`;
    const existing = merged.get(key);
    if (existing) existing.copies += 1;
    else merged.set(key, webhook);
  }
  return [...merged.values()];
}
