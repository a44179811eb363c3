// The API of alerts and of the messages about them.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  integer,
  reais,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { AlertHistoryAction, AlertState, DeliveryState } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { reasonText } from '../../reconciliation/breaks/breaks.schema.js';
import { debitRows } from '../../reconciliation/decide/debit-notice.js';
import { severityValue } from './conditions.schema.js';

const base = { chapter: 'Alerts', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
export const ruleId = z.uuid('Must be the id of an alert rule.');

/** What is known about the subject of an alert: ids, times and counts, and no personal data. */
export const alertDetail = z
  .object({
    breakId: z.string(),
    breakKind: z.string(),
    openedAt: z.string(),
    expected: z.number().describe('Lines that webhooks should have reported.'),
    lost: z.number(),
    hours: z.number(),
    endpointId: z.string(),
    deliveries: z.number(),
    lastSyncAt: z.string().nullable().describe('Null if the account was never synced.'),
    notGuardedSince: z.string().describe('When the last complete read of a guarded account began.'),
    day: z.string(),
    operationId: z.string(),
    nsu: z.string().describe('Of a line.'),
    debit: z.enum(debitRows).describe('The row of the table of debits that holds for it.'),
    debits: z.number().describe('How many debits of an earlier time were recorded.'),
    month: z.string().describe('Which is not closed.'),
    operatorId: z.string().describe('Of the person who signed in with a password.'),
  })
  .partial();
export type AlertDetail = z.output<typeof alertDetail>;

export const alertView = z.object({
  id: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  subject: z.string().describe('`sync`, `webhooks`, or what it is about, as `break:` and its id.'),
  state: z.enum(AlertState),
  severity: severityValue,
  amount: reais.nullable(),
  detail: alertDetail,
  firedAt: instant,
  lastSeenAt: instant.describe('The last evaluation that found its cause.'),
  acknowledgedAt: instant.nullable(),
  clearedAt: instant.nullable(),
  notifiedAt: instant.nullable().describe('When the last message with it was made; null: none.'),
});

const alertWithHistory = alertView.extend({
  history: z.array(
    z.object({
      sequence: bigInteger,
      action: z.enum(AlertHistoryAction),
      actor: z.string().nullable().describe('The id of an API key; null for the service itself.'),
      reason: z.string().nullable(),
      at: instant,
    }),
  ),
});

export const listAlerts = route({
  ...base,
  name: 'listAlerts',
  summary: 'Lists alerts, newest first.',
  method: 'GET',
  path: '/v1/alerts',
  query: listQuery({
    state: z.enum(AlertState).optional(),
    ruleId: ruleId.optional(),
    severity: severityValue.optional(),
  }),
  response: listOf(alertView),
});

export const getAlert = route({
  ...base,
  name: 'getAlert',
  summary: 'Returns one alert with its history.',
  method: 'GET',
  path: '/v1/alerts/{id}',
  params,
  response: alertWithHistory,
});

export const acknowledgeAlert = route({
  ...base,
  name: 'acknowledgeAlert',
  summary:
    'Acknowledges an alert: nobody is reminded of it any more. 409 with the code ' +
    '`alert_not_firing` for an alert that is acknowledged or cleared.',
  method: 'POST',
  path: '/v1/alerts/{id}/acknowledge',
  idempotencyKey: 'accepted',
  params,
  body: z.strictObject({ reason: reasonText }),
  response: alertWithHistory,
});

export const acknowledgeAlerts = route({
  ...base,
  name: 'acknowledgeAlerts',
  summary: 'Acknowledges every firing alert of a rule.',
  method: 'POST',
  path: '/v1/alerts/acknowledge',
  idempotencyKey: 'accepted',
  body: z.strictObject({ ruleId, reason: reasonText }),
  response: z.object({ acknowledged: integer }),
});

const notificationView = z.object({
  id: z.string(),
  messageId: z.string(),
  channelId: z.string(),
  ruleId: z.string(),
  kind: z.enum(['fired', 'cleared', 'reminder', 'escalated']),
  alerts: integer.describe('How many alerts the message counts.'),
  state: z.enum(DeliveryState).describe('`dead`: no attempt is left.'),
  attempts: integer,
  nextAttemptAt: instant.nullable(),
  lastStatus: integer.nullable().describe('The status of HTTP, or of the mail server.'),
  lastError: z.string().nullable(),
  createdAt: instant,
  deliveredAt: instant.nullable(),
});

export const listNotifications = route({
  ...base,
  name: 'listAlertNotifications',
  summary: 'Lists the messages about alerts and whether each channel got them, newest first.',
  method: 'GET',
  path: '/v1/alert-notifications',
  query: listQuery({
    state: z.enum(DeliveryState).optional(),
    channelId: z.uuid('Must be the id of an alert channel.').optional(),
  }),
  response: listOf(notificationView),
});

export const replayNotification = route({
  ...base,
  name: 'replayAlertNotification',
  summary: 'Sends a message once more, whether it was delivered or is dead.',
  method: 'POST',
  path: '/v1/alert-notifications/{id}/replay',
  idempotencyKey: 'accepted',
  successStatus: 202,
  params,
  response: notificationView,
});

nameSchemas({
  Alert: alertView,
  AlertWithHistory: alertWithHistory,
  AlertNotification: notificationView,
});
