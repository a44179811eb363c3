// The API of alert rules.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { instant, integer, text, integerBetween, nameSchemas } from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { nameText } from './channels.schema.js';
import { condition, severityValue } from './conditions.schema.js';

const base = { chapter: 'Alerts', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const maxChannels = 20;
const maxGroupSeconds = 3_600;
const maxRemindAfterHours = 720;
const maxEscalateAfterMinutes = 1_440;

const isOn = z.boolean();
const channelIds = z
  .array(z.uuid('Must be the id of an alert channel.'))
  .max(maxChannels)
  .refine((ids) => new Set(ids).size === ids.length, 'Must have each channel at most once.');
const groupSeconds = integerBetween(0, maxGroupSeconds);
const remindAfterHours = integerBetween(1, maxRemindAfterHours);
const escalateAfterMinutes = integerBetween(1, maxEscalateAfterMinutes);

export const alertRuleView = z.object({
  id: z.string(),
  name: z.string(),
  condition,
  severity: severityValue.describe(
    'Of its alerts; the alert of a break has the severity of the break.',
  ),
  channelIds: z.array(z.string()),
  groupSeconds: integer.describe('For how long alerts are gathered in one message.'),
  notifiesCleared: z.boolean(),
  remindAfterHours: integer.nullable().describe('Null: it is announced only once.'),
  escalateAfterMinutes: integer
    .nullable()
    .describe('When an alert that nobody acknowledged goes to `escalationChannelIds`.'),
  escalationChannelIds: z.array(z.string()),
  isEnabled: z.boolean(),
  evaluatedAt: instant.nullable().describe('When its condition was last evaluated.'),
  createdAt: instant,
  updatedAt: instant,
});

export const createAlertRule = route({
  ...base,
  name: 'createAlertRule',
  summary:
    'Creates an alert rule. Each subject that its condition finds has an alert until the cause is ' +
    'gone. 409 with the code `alert_rule_limit` at 50 rules.',
  method: 'POST',
  path: '/v1/alert-rules',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.strictObject({
    name: nameText,
    condition,
    severity: severityValue.default('high'),
    channelIds: channelIds.default([]),
    groupSeconds: groupSeconds.optional().describe('60 without it; 0 for alarms about debits.'),
    notifiesCleared: isOn.default(true),
    remindAfterHours: remindAfterHours.nullish().transform((hours) => hours ?? null),
    escalateAfterMinutes: escalateAfterMinutes.nullish().transform((minutes) => minutes ?? null),
    escalationChannelIds: channelIds.default([]),
    isEnabled: isOn.default(true),
  }),
  response: alertRuleView,
});
export type NewAlertRule = z.output<typeof createAlertRule.body>;

export const listAlertRules = route({
  ...base,
  name: 'listAlertRules',
  summary: 'Lists alert rules, newest first.',
  method: 'GET',
  path: '/v1/alert-rules',
  query: listQuery({}),
  response: listOf(alertRuleView),
});

export const getAlertRule = route({
  ...base,
  name: 'getAlertRule',
  summary: 'Returns one alert rule.',
  method: 'GET',
  path: '/v1/alert-rules/{id}',
  params,
  response: alertRuleView,
});

export const updateAlertRule = route({
  ...base,
  name: 'updateAlertRule',
  summary:
    'Changes an alert rule. Omitted fields stay unchanged; a condition is replaced as a whole. ' +
    'Alerts that it no longer finds are cleared, and so are all of a rule that is disabled, the ' +
    'latter without a message.',
  method: 'PATCH',
  path: '/v1/alert-rules/{id}',
  idempotencyKey: 'accepted',
  params,
  body: z.strictObject({
    name: nameText.optional(),
    condition: condition.optional(),
    severity: severityValue.optional(),
    channelIds: channelIds.optional(),
    groupSeconds: groupSeconds.optional(),
    notifiesCleared: isOn.optional(),
    remindAfterHours: remindAfterHours.nullable().optional(),
    escalateAfterMinutes: escalateAfterMinutes.nullable().optional(),
    escalationChannelIds: channelIds.optional(),
    isEnabled: isOn.optional(),
  }),
  response: alertRuleView,
});
export type AlertRuleChanges = z.output<typeof updateAlertRule.body>;

export const deleteAlertRule = route({
  ...base,
  name: 'deleteAlertRule',
  summary: 'Removes an alert rule. Its alerts are cleared, without a message.',
  method: 'DELETE',
  path: '/v1/alert-rules/{id}',
  idempotencyKey: 'accepted',
  params,
  response: z.object({
    id: z.string(),
    clearedAlerts: integer.describe('How many alerts were open, and are cleared now.'),
  }),
});

nameSchemas({ AlertRule: alertRuleView });
