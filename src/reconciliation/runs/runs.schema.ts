// Runs, and the schedule that begins them, as business systems see them.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { integer, text, timestamp } from '../../contract/wire.js';
import { listOf, listQuery } from '../../platform/listing.js';

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;

const runStates = ['running', 'finished', 'failed'] as const;

export const runView = z.object({
  id: z.string(),
  trigger: z.enum(['request', 'schedule']),
  state: z.enum(runStates),
  /** The bank's time: from where the last finished run ended, until where this one could see. */
  window: z.object({ from: timestamp.nullable(), until: timestamp.nullable() }),
  /** What changed while it ran; `pending`: lines without a verdict when it ended. */
  counts: z.object({
    newLines: integer,
    matched: integer,
    classified: integer,
    breaksOpened: integer,
    breaksResolved: integer,
    missing: integer,
    unlinked: integer,
    pending: integer,
  }),
  durationMs: integer.nullable(),
  error: z.string().nullable(),
  startedAt: timestamp,
  finishedAt: timestamp.nullable(),
});

export const startRun = route({
  ...base,
  name: 'startReconciliation',
  summary:
    'Goes over the account now: polls, matches, looks for what did not come. The one that runs, where one does.',
  method: 'POST',
  path: '/v1/reconciliations',
  idempotencyKey: 'accepted',
  successStatus: 202,
  body: z.strictObject({}).optional(),
  response: runView,
});

export const listRuns = route({
  ...base,
  name: 'listReconciliations',
  summary: 'Runs, newest first.',
  method: 'GET',
  path: '/v1/reconciliations',
  query: listQuery({ state: z.enum(runStates).optional() }),
  response: listOf(runView),
});

export const getRun = route({
  ...base,
  name: 'getReconciliation',
  summary: 'One run.',
  method: 'GET',
  path: '/v1/reconciliations/{id}',
  params: z.object({ id: text(100) }),
  response: runView,
});

const scheduleView = z.object({
  cron: z.string().nullable(),
  timezone: z.string(),
  nextRunAt: timestamp.nullable(),
});

export const getSchedule = route({
  ...base,
  name: 'getReconciliationSchedule',
  summary: 'When the account is gone over by itself.',
  method: 'GET',
  path: '/v1/reconciliation-schedule',
  response: scheduleView,
});

export const changeSchedule = route({
  ...base,
  name: 'changeReconciliationSchedule',
  summary: 'Says when the account is gone over by itself: five fields of cron, or null for never.',
  method: 'PUT',
  path: '/v1/reconciliation-schedule',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    cron: text(100).nullable(),
    timezone: text(64).default('America/Sao_Paulo'),
  }),
  response: scheduleView,
});
