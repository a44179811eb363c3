// The catalogue of all jobs. A job carries ids only: PostgreSQL stores the pending work, and a
// sweeper enqueues a lost job again. Each job has its own queue, its own worker, and one method
// that processes it (`@OnJob`).
import { z } from 'zod';

export interface Job<Payload extends z.ZodType = z.ZodType> {
  /** The name of the queue and of the job. BullMQ allows no colon in it. */
  name: string;
  payload: Payload;
  /** Jobs with the same id coalesce: while one runs, at most one more waits. */
  coalesceBy: (payload: z.output<Payload>) => string;
  /**
   * How many jobs with different ids work at once in a worker process, half of them for one
   * account. Those that wait for a slow bank are not counted (`src/platform/queue/job-slots.ts`).
   */
  concurrency: number;
}

function job<Payload extends z.ZodType>(declared: Job<Payload>): Job<Payload> {
  return declared;
}

const perAccount = {
  payload: z.object({ accountId: z.int() }),
  coalesceBy: ({ accountId }: { accountId: number }) => `account-${accountId}`,
};

export const jobs = {
  /** Reads the new lines of the bank's statement. */
  syncStatement: job({ ...perAccount, name: 'sync-statement', concurrency: 8 }),
  /** Reads a period of the statement twice and records it as closed when no line is missing. */
  closeStatement: job({ ...perAccount, name: 'close-statement', concurrency: 2 }),
  /** Certifies days that have ended, and amends the certificates of days that got a late line. */
  closeDays: job({ ...perAccount, name: 'close-days', concurrency: 2 }),
  /**
   * Marks webhooks as processed when a completed sync covers them, and plans another sync for
   * the others.
   */
  processWebhooks: job({ ...perAccount, name: 'process-webhooks', concurrency: 4 }),
  /** Records notices of the bank about customers and disputes, which no line shows. */
  handleNotices: job({ ...perAccount, name: 'handle-notices', concurrency: 2 }),
  /**
   * Creates or updates the webhook registrations at the bank that are missing or differ from the
   * settings.
   */
  registerWebhooks: job({ ...perAccount, name: 'register-webhooks', concurrency: 8 }),
  /** Matches new and pending statement lines with expected payments, and updates the breaks. */
  reconcile: job({ ...perAccount, name: 'reconcile', concurrency: 4 }),
  /** Performs one reconciliation run: statement sync, matching, then missing payments. */
  runReconciliation: job({
    name: 'run-reconciliation',
    payload: z.object({ accountId: z.int(), runId: z.uuid() }),
    coalesceBy: ({ runId }) => runId,
    concurrency: 2,
  }),
  /**
   * Requests the refunds of the account's refund policies, and resolves breaks whose refund is on
   * the statement.
   */
  refundByPolicy: job({ ...perAccount, name: 'refund-by-policy', concurrency: 2 }),
  /**
   * Sends an operation that is stored and not sent, or recovers the outcome of one that was sent.
   */
  advanceOperation: job({
    name: 'advance-operation',
    payload: z.object({ accountId: z.int(), operationId: z.uuid() }),
    coalesceBy: ({ operationId }) => operationId,
    concurrency: 16,
  }),
  /** Reads the bank's status of transfers in progress. */
  checkTransferStatuses: job({ ...perAccount, name: 'check-transfer-statuses', concurrency: 4 }),
  /** Reads the bank's status of scheduled bill payments that are due. */
  checkBillPaymentStatuses: job({
    ...perAccount,
    name: 'check-bill-payment-statuses',
    concurrency: 2,
  }),
  /** Reads the bank's status of charges that a webhook names or whose due date has passed. */
  checkChargeStatuses: job({ ...perAccount, name: 'check-charge-statuses', concurrency: 2 }),
  /** Requests the charges or transfers of the next rows of an uploaded file. */
  issueBulkRows: job({
    name: 'issue-bulk-rows',
    payload: z.object({ accountId: z.int(), uploadId: z.uuid() }),
    coalesceBy: ({ uploadId }) => uploadId,
    concurrency: 2,
  }),
  /** Relays the bank's webhooks to one registration, so that a slow receiver delays no other. */
  relayWebhooks: job({
    name: 'relay-webhooks',
    payload: z.object({ accountId: z.int(), registrationId: z.uuid() }),
    coalesceBy: ({ registrationId }) => registrationId,
    concurrency: 64,
  }),
  /** Delivers the due events of one endpoint, so that a slow endpoint delays no other. */
  deliverEvents: job({
    name: 'deliver-events',
    payload: z.object({ accountId: z.int(), endpointId: z.uuid() }),
    coalesceBy: ({ endpointId }) => endpointId,
    // Waiting for other servers uses few resources, and a hundred slow endpoints must not delay the
    // others.
    concurrency: 128,
  }),
  /** Sends the due alert messages of one channel, so that a slow channel delays no other. */
  sendAlerts: job({
    name: 'send-alerts',
    payload: z.object({ accountId: z.int(), channelId: z.uuid() }),
    coalesceBy: ({ channelId }) => channelId,
    concurrency: 16,
  }),
} as const;

export type JobName = keyof typeof jobs;
export type JobPayload<Name extends JobName> = z.output<(typeof jobs)[Name]['payload']>;

export const allJobs: readonly Job[] = Object.values(jobs);
