// The API of who works on breaks, and until when the list of work leaves them out.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { nameSchemas, plainDate } from '../../bank-contract/wire.js';
import { maxBulk } from './breaks.schema.js';

const base = {
  chapter: 'Breaks',
  authentication: 'api-key',
  method: 'POST',
  idempotencyKey: 'accepted',
} as const;

const ids = z.array(z.uuid()).min(1).max(maxBulk);
const plannedBreaks = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      assignee: z.string().nullable(),
      snoozedUntil: z.string().nullable(),
    }),
  ),
});

export const assignBreaks = route({
  ...base,
  name: 'assignBreaks',
  summary: 'Says which person works on breaks. No refund policy acts on them afterwards.',
  path: '/v1/breaks/assign',
  body: z.strictObject({
    ids,
    assignee: z.uuid().nullable().describe('The id of a person who may resolve breaks; or nobody.'),
  }),
  response: plannedBreaks,
});

export const snoozeBreaks = route({
  ...base,
  name: 'snoozeBreaks',
  summary:
    'Puts open breaks off until a day. A break that changes before is no longer put off. No ' +
    'refund policy acts on them afterwards.',
  path: '/v1/breaks/snooze',
  body: z.strictObject({
    ids,
    until: plainDate.nullable().describe('A day within a year after today; null ends it at once.'),
  }),
  response: plannedBreaks,
});

nameSchemas({ PlannedBreaks: plannedBreaks });
