// The routes by which an operator lets alarms stop an account. Before that, they show on which
// debits of the last days a stop would have acted.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  integer,
  nameSchemas,
  reais,
  text,
} from '../../bank-contract/wire.js';
import { debitRows } from '../../reconciliation/decide/debit-notice.js';
import { changedBy } from '../../outbound/payment-controls/payment-controls.schema.js';

const alarmStopView = z.object({
  stopsOnAlarm: z.boolean(),
  lines: integer.describe('On how many debits of the last 90 days a stop would have acted.'),
  preview: z
    .string()
    .describe('Names these debits. Whoever lets alarms stop the account sends it.'),
  data: z.array(
    z.object({
      nsu: bigInteger,
      amount: reais,
      occurredAt: instant,
      debit: z.enum(debitRows).describe('The row of the table that found the alarm.'),
    }),
  ),
});

const base = {
  chapter: 'Bank accounts',
  authentication: 'admin-key',
  path: '/v1/accounts/{slug}/alarm-stop',
  params: z.object({ slug: text(60) }),
  response: alarmStopView,
} as const;

export const getAlarmStop = route({
  ...base,
  name: 'getAlarmStop',
  summary:
    'Returns whether an alarm about a debit stops the account, and on which debits of the last 90 ' +
    'days it would have: at most 1000, the newest first.',
  method: 'GET',
});

export const changeAlarmStop = route({
  ...base,
  name: 'changeAlarmStop',
  summary:
    'Lets alarms stop the account, or not. 409 with the code `changed_meanwhile` for another ' +
    "preview. It stops the service, not someone who has the bank's credentials.",
  method: 'PUT',
  body: z
    .strictObject({
      stopsOnAlarm: z.boolean(),
      preview: text(100).optional().describe('Required to let alarms stop the account.'),
      ...changedBy,
    })
    .refine(({ stopsOnAlarm, preview }) => !stopsOnAlarm || preview !== undefined, {
      path: ['preview'],
      error: 'Must be the preview of the last 90 days.',
    }),
});

nameSchemas({ AlarmStop: alarmStopView });
