// The API of reconciliation runs and their schedule.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { instant, integer, text, nameSchemas } from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;

const runStates = ['running', 'finished', 'failed'] as const;

export const runView = z.object({
  id: z.string(),
  trigger: z.enum(['request', 'schedule']),
  state: z.enum(runStates),
  /** Bank time: from the end of the last finished run to the start of this run's sync. */
  window: z.object({ from: instant.nullable(), until: instant.nullable() }),
  /** What changed during the run; `pending`: lines without an outcome at its end. */
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
  startedAt: instant,
  finishedAt: instant.nullable(),
});

export type RunCounts = z.output<typeof runView>['counts'];

export const startRun = route({
  ...base,
  name: 'startReconciliation',
  summary: 'Starts a run: syncs, decides lines, checks deadlines. Or returns the run in progress.',
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
  summary: 'Lists reconciliation runs, newest first.',
  method: 'GET',
  path: '/v1/reconciliations',
  query: listQuery({ state: z.enum(runStates).optional() }),
  response: listOf(runView),
});

export const getRun = route({
  ...base,
  name: 'getReconciliation',
  summary: 'Returns one reconciliation run.',
  method: 'GET',
  path: '/v1/reconciliations/{id}',
  params: z.object({ id: text(100) }),
  response: runView,
});

const scheduleView = z.object({
  cron: z.string().nullable(),
  timezone: z.string(),
  nextRunAt: instant.nullable(),
});

export const getSchedule = route({
  ...base,
  name: 'getReconciliationSchedule',
  summary: 'Returns the schedule of automatic reconciliation runs.',
  method: 'GET',
  path: '/v1/reconciliation-schedule',
  response: scheduleView,
});

export const changeSchedule = route({
  ...base,
  name: 'changeReconciliationSchedule',
  summary: 'Sets the schedule of automatic runs: five cron fields, or null for none.',
  method: 'PUT',
  path: '/v1/reconciliation-schedule',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    cron: text(100).nullable(),
    timezone: text(64).default('America/Sao_Paulo'),
  }),
  response: scheduleView,
});

nameSchemas({ ReconciliationRun: runView, ReconciliationSchedule: scheduleView });
