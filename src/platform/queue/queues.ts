// The catalogue of all jobs. A job carries ids only: PostgreSQL stores the pending work, and a
// sweeper enqueues a lost job again. Each job has its own queue, which modules register by its name
// here, and one `@Processor` in the module that does its work.
import { z } from 'zod';
import { invariant } from '../errors.js';

/** A job is of an account, and carries further ids only. */
type PayloadSchema = z.ZodType<{ accountId: number }>;

export interface Job<Payload extends PayloadSchema = PayloadSchema> {
  /** The name of the queue and of the job. BullMQ allows no colon in it. */
  name: string;
  payload: Payload;
  /** Jobs with the same id coalesce: while one runs, at most one more waits. */
  coalesceBy: (payload: z.output<Payload>) => string;
  /**
   * How many jobs a worker process runs at once, half of them for one account. It is high for jobs
   * that mostly wait for other servers, so that a slow one delays no other.
   */
  concurrency: number;
}

function job<Payload extends PayloadSchema>(declared: Job<Payload>): Job<Payload> {
  return declared;
}

const perAccount = {
  payload: z.object({ accountId: z.int() }),
  coalesceBy: ({ accountId }: { accountId: number }) => `account-${accountId}`,
};

export const jobs = {
  /** Reads the new lines of the bank's statement. */
  syncStatement: job({ ...perAccount, name: 'sync-statement', concurrency: 64 }),
  /** Reads a period of the statement twice and records it as closed when no line is missing. */
  closeStatement: job({ ...perAccount, name: 'close-statement', concurrency: 32 }),
  /** Certifies days that have ended, and amends the certificates of days that got a late line. */
  closeDays: job({ ...perAccount, name: 'close-days', concurrency: 2 }),
  /** Puts the heads of certificates into a file, and before a timestamp authority. */
  anchorHeads: job({ ...perAccount, name: 'anchor-heads', concurrency: 4 }),
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
  registerWebhooks: job({ ...perAccount, name: 'register-webhooks', concurrency: 32 }),
  /** Matches new and pending statement lines with expected payments, and updates the breaks. */
  reconcile: job({ ...perAccount, name: 'reconcile', concurrency: 4 }),
  /** Performs one reconciliation run: statement sync, matching, then missing payments. */
  runReconciliation: job({
    name: 'run-reconciliation',
    payload: z.object({ accountId: z.int(), runId: z.uuid() }),
    coalesceBy: ({ runId }) => runId,
    concurrency: 32,
  }),
  /**
   * Requests the refunds of the account's refund policies, and resolves breaks whose refund is on
   * the statement.
   */
  refundByPolicy: job({ ...perAccount, name: 'refund-by-policy', concurrency: 16 }),
  /**
   * Sends an operation that is stored and not sent, or recovers the outcome of one that was sent.
   */
  advanceOperation: job({
    name: 'advance-operation',
    payload: z.object({ accountId: z.int(), operationId: z.uuid() }),
    coalesceBy: ({ operationId }) => operationId,
    concurrency: 64,
  }),
  /** Reads the bank's status of transfers in progress. */
  checkTransferStatuses: job({ ...perAccount, name: 'check-transfer-statuses', concurrency: 32 }),
  /** Reads the bank's status of scheduled bill payments that are due. */
  checkBillPaymentStatuses: job({
    ...perAccount,
    name: 'check-bill-payment-statuses',
    concurrency: 32,
  }),
  /** Reads the bank's status of charges that a webhook names or whose due date has passed. */
  checkChargeStatuses: job({ ...perAccount, name: 'check-charge-statuses', concurrency: 32 }),
  /** Requests the charges or transfers of the next rows of an uploaded file. */
  issueBulkRows: job({
    name: 'issue-bulk-rows',
    payload: z.object({ accountId: z.int(), uploadId: z.uuid() }),
    coalesceBy: ({ uploadId }) => uploadId,
    concurrency: 16,
  }),
  /** Relays the bank's webhooks to one registration, so that a slow receiver delays no other. */
  relayWebhooks: job({
    name: 'relay-webhooks',
    payload: z.object({ accountId: z.int(), registrationId: z.uuid() }),
    coalesceBy: ({ registrationId }) => registrationId,
    concurrency: 128,
  }),
  /** Delivers the due events of one endpoint, so that a slow endpoint delays no other. */
  deliverEvents: job({
    name: 'deliver-events',
    payload: z.object({ accountId: z.int(), endpointId: z.uuid() }),
    coalesceBy: ({ endpointId }) => endpointId,
    concurrency: 256,
  }),
  /** Evaluates the alert rules about debits, of which the matcher has found one. */
  raiseAlerts: job({ ...perAccount, name: 'raise-alerts', concurrency: 4 }),
  /** Sends the due alert messages of one channel, so that a slow channel delays no other. */
  sendAlerts: job({
    name: 'send-alerts',
    payload: z.object({ accountId: z.int(), channelId: z.uuid() }),
    coalesceBy: ({ channelId }) => channelId,
    concurrency: 64,
  }),
} as const;

export type JobName = keyof typeof jobs;
export type JobPayload<Name extends JobName> = z.output<(typeof jobs)[Name]['payload']>;

export const allJobs: readonly Job[] = Object.values(jobs);

const jobsByName = new Map(allJobs.map((one) => [one.name, one]));

/** The job of a queue. Throws for a name that the catalogue does not have. */
export function jobOf(name: string): Job {
  const found = jobsByName.get(name);
  invariant(found, `the catalogue has no job ${name}`);
  return found;
}

/** The options of the worker of a job, for its `@Processor`. */
export function workerOptions({ concurrency }: Job) {
  return {
    concurrency,
    /**
     * How many seconds a worker without jobs waits before it looks for one by itself. The queue
     * notifies it of every job that is added, so it looks rarely. On Redis, a connection that waits
     * for longer may not notice that it was lost.
     */
    drainDelay: 10,
    /** After this time without renewal, another worker gets the job of a killed worker. */
    lockDuration: 10_000,
    stalledInterval: 5_000,
    // A stalled job is always run again. That is safe: fences in the database reject the work of
    // the stalled run.
    maxStalledCount: 1_000,
    // A worker that lost its connection retries after 0.5 s instead of BullMQ's default of 15 s.
    runRetryDelay: 500,
  };
}
