// The catalogue of jobs: every job there is, with the ids that it carries. A job carries no data: PostgreSQL
// stores it, and a sweeper enqueues a lost job again. Each job has its own queue, its own worker, and one method
// that does it (`@OnJob`).
import { z } from 'zod';

export interface Job<Payload extends z.ZodType = z.ZodType> {
  /** Names the queue and the job; BullMQ allows no colon in it. */
  name: string;
  payload: Payload;
  /** Wake-ups of one id coalesce: one waits while one runs, however many come. */
  coalesceBy: (payload: z.output<Payload>) => string;
  /** How many of different ids run at once in a worker process. */
  concurrency: number;
}

function job<Payload extends z.ZodType>(declared: Job<Payload>): Job<Payload> {
  return declared;
}

const ofAccount = z.object({ accountId: z.int() });
const byAccount = ({ accountId }: z.output<typeof ofAccount>) => `account-${accountId}`;

export const jobs = {
  /** Reads what is new on the bank's statement. */
  syncStatement: job({
    name: 'sync-statement',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 8,
  }),
  /** Reads a span of the statement twice, to say that nothing is missing from it. */
  closeStatement: job({
    name: 'close-statement',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Certifies the days that have ended, and amends the certificates of those of which a line came late. */
  closeDays: job({
    name: 'close-days',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Settles the bank's webhooks that a completed poll has answered, and polls again for the others. */
  settleWebhooks: job({
    name: 'settle-webhooks',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 4,
  }),
  /** Makes the bank's webhook registrations what they should be. */
  registerWebhooks: job({
    name: 'register-webhooks',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Judges the lines that no one has judged. */
  reconcile: job({
    name: 'reconcile',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 4,
  }),
  /** Goes over an account once: poll, match, what did not come. */
  runReconciliation: job({
    name: 'run-reconciliation',
    payload: z.object({ accountId: z.int(), runId: z.uuid() }),
    coalesceBy: ({ runId }) => runId,
    concurrency: 2,
  }),
  /** Gives back what the account's refund policies say, and settles the breaks of refunds that were accepted. */
  refundByPolicy: job({
    name: 'refund-by-policy',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Sends an operation that was accepted and not sent, or finds out what became of one. */
  advanceOperation: job({
    name: 'advance-operation',
    payload: z.object({ accountId: z.int(), operationId: z.uuid() }),
    coalesceBy: ({ operationId }) => operationId,
    concurrency: 16,
  }),
  /** Reads transfers that are under way by their ids. */
  followTransfers: job({
    name: 'follow-transfers',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 4,
  }),
  /** Looks at scheduled bill payments whose time has come. */
  followBillPayments: job({
    name: 'follow-bill-payments',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Asks the bank what became of charges that a webhook names, or whose day has passed. */
  followCharges: job({
    name: 'follow-charges',
    payload: ofAccount,
    coalesceBy: byAccount,
    concurrency: 2,
  }),
  /** Issues the next rows of an uploaded file. */
  advanceBulk: job({
    name: 'advance-bulk',
    payload: z.object({ accountId: z.int(), uploadId: z.uuid() }),
    coalesceBy: ({ uploadId }) => uploadId,
    concurrency: 2,
  }),
  /** Delivers what is due to one endpoint, so that a slow one delays no other. */
  deliverEvents: job({
    name: 'deliver-events',
    payload: z.object({ accountId: z.int(), endpointId: z.uuid() }),
    coalesceBy: ({ endpointId }) => endpointId,
    // Waiting for others' servers costs nothing; a hundred slow ones at once hold up nobody.
    concurrency: 128,
  }),
} as const;

export type JobName = keyof typeof jobs;
export type JobPayload<Name extends JobName> = z.output<(typeof jobs)[Name]['payload']>;

export const allJobs: readonly Job[] = Object.values(jobs);
