// Keeps the bank's webhooks: the raw bytes are committed before the bank is answered, and those that arrive
// while a commit is under way share the next one. A burst costs a few commits and a few polls, not one each.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '../database.service.js';
import { sha256 } from '../platform/exact-json.js';
import { JobQueue } from '../platform/job-queue.js';
import { chargeNewsTypes, readWebhookBody } from './webhook-body.js';
import { storeWebhooks, type StoredWebhook } from './webhooks.queries.js';

interface Waiting {
  webhook: StoredWebhook;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const maxBatch = 500;

@Injectable()
export class WebhookInbox {
  private readonly waiting: Waiting[] = [];
  private isFlushing = false;

  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Resolves when the bytes are committed; the poll is woken after that. */
  async keep(accountId: number, urlEventType: string | null, body: Buffer): Promise<void> {
    const { eventType, isQuarantined, reference } = readWebhookBody(body, urlEventType);
    const webhook = {
      accountId,
      id: uuidv7(),
      eventType,
      bodyHash: sha256(body),
      body,
      isQuarantined,
      referenceKind: reference?.kind ?? null,
      reference: reference?.value ?? null,
      copies: 1,
    };
    const kept = new Promise<void>((resolve, reject) => {
      this.waiting.push({ webhook, resolve, reject });
    });
    void this.flush();
    await kept;
  }

  private async flush(): Promise<void> {
    if (this.isFlushing) return;
    this.isFlushing = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, maxBatch);
      try {
        await storeWebhooks(this.database.pool, mergeCopies(batch.map(({ webhook }) => webhook)));
        for (const { resolve } of batch) resolve();
        // Not waited for: a queue that hangs must not hold up the next commit.
        for (const accountId of accountsOf(batch))
          void this.jobQueue.enqueue('syncStatement', { accountId });
        for (const accountId of accountsOf(batch.filter(({ webhook }) => namesPix(webhook))))
          void this.jobQueue.enqueue('followTransfers', { accountId });
        for (const accountId of accountsOf(batch.filter(({ webhook }) => reportsOfCharge(webhook))))
          void this.jobQueue.enqueue('followCharges', { accountId });
      } catch (error) {
        // Each waiting request answers with the fault; the bank sends its webhook again.
        for (const { reject } of batch) reject(error);
      }
    }
    this.isFlushing = false;
  }
}

function accountsOf(batch: readonly Waiting[]): Set<number> {
  return new Set(batch.map(({ webhook }) => webhook.accountId));
}

/** A Pix that was received is named by its nsu. */
function namesPix({ referenceKind }: StoredWebhook): boolean {
  return referenceKind === 'end_to_end_id';
}

const chargeNews: ReadonlySet<string> = new Set(chargeNewsTypes);

function reportsOfCharge({ eventType }: StoredWebhook): boolean {
  return chargeNews.has(eventType);
}

/** One row for each webhook of a batch: a statement may not touch a row twice. */
function mergeCopies(webhooks: StoredWebhook[]): StoredWebhook[] {
  const merged = new Map<string, StoredWebhook>();
  for (const webhook of webhooks) {
    const key = `${webhook.accountId} ${webhook.eventType} ${webhook.bodyHash}`;
    const same = merged.get(key);
    if (same) same.copies += 1;
    else merged.set(key, webhook);
  }
  return [...merged.values()];
}
