// The conditions of alert rules: what a caller declares is stored as exact JSON, and read from it.
import { z } from 'zod';
import {
  patternText,
  positiveReais,
  integerBetween,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { AlertConditionKind, AlertSeverity } from '../../generated/service/enums.js';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { breakKinds, type BreakKind } from '../../reconciliation/decide/break-kind-declarations.js';

const wholeNumber = (least: number, most: number) => integerBetween(least, most);

export const conditionKinds = Object.values(AlertConditionKind);

const kinds = Object.keys(breakKinds) as [BreakKind, ...BreakKind[]];
export const severityValue = z.enum(AlertSeverity);

export const debitLevels = ['alarm', 'alert'] as const;
export type DebitLevel = (typeof debitLevels)[number];

export const condition = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('break_open'),
      kinds: z.array(z.enum(kinds)).max(kinds.length).default([]).describe('Empty for all kinds.'),
      minAmount: positiveReais.optional().describe('Leaves out breaks of an unknown amount.'),
      minAgeHours: wholeNumber(1, 8_760).optional().describe('Since the break was opened.'),
      minSeverity: severityValue.optional(),
      deadlineWithinHours: wholeNumber(1, 720)
        .optional()
        .describe('Only disputes that the bank must have an answer to within so many hours.'),
    }),
    z.strictObject({
      kind: z.literal('webhook_loss'),
      minPercent: wholeNumber(1, 100)
        .default(5)
        .describe('Of the lines that webhooks should have reported.'),
      minLines: wholeNumber(1, 1_000_000).default(10),
      hours: wholeNumber(1, 168).default(1),
    }),
    z.strictObject({
      kind: z.literal('deliveries_dead'),
      minDeliveries: wholeNumber(1, 10_000).default(1).describe('Of one webhook endpoint.'),
    }),
    z.strictObject({
      kind: z.literal('no_sync'),
      minutes: wholeNumber(1, 10_080).default(15),
    }),
    z.strictObject({
      kind: z.literal('day_not_certified'),
      /** The time in São Paulo by which the day before must have its certificate. */
      by: patternText(5, /^([01]\d|2[0-3]):[0-5]\d$/, 'Must be a time such as 09:00.').default(
        '09:00',
      ),
    }),
    z.strictObject({
      kind: z.literal('approval_waiting'),
      minutes: wholeNumber(1, 10_080).default(30).describe('Since the operation was requested.'),
    }),
    z.strictObject({
      kind: z.literal('debit_waiting'),
      seconds: wholeNumber(1, 86_400).default(60).describe('Since the line was stored.'),
    }),
    z.strictObject({
      kind: z.literal('unrequested_debit'),
      level: z.enum(debitLevels).default('alarm').describe('Which debits of the table it finds.'),
    }),
    z.strictObject({ kind: z.literal('not_guarded') }),
    z.strictObject({
      kind: z.literal('local_sign_in'),
      hours: wholeNumber(1, 720).default(24).describe('Since the sign-in.'),
    }),
    z.strictObject({
      kind: z.literal('month_close_overdue'),
      days: wholeNumber(1, 90).default(5).describe('After the end of the month.'),
    }),
  ],
  { error: `Must have a kind: one of ${Object.keys(AlertConditionKind).join(', ')}.` },
);

export type Condition = z.output<typeof condition>;
export type ConditionOf<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

/** Whether it finds alarms, which wait for nothing. */
export const isOfAlarms = (one: Condition): boolean =>
  one.kind === 'unrequested_debit' && one.level === 'alarm';

export function conditionText(value: Condition): string {
  return stringifyJson(z.encode(condition, value));
}

export function readCondition(text: string): Condition {
  return z.decode(condition, parseJson(text) as z.input<typeof condition>);
}

nameSchemas({ AlertCondition: condition });
