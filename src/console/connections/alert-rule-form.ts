// The form of an alert rule: the fields of each condition, and the body of the request that the
// API has for the same.
import { createAlertRule } from '../../reporting/alerts/rules.schema.js';
import {
  conditionKinds,
  debitLevels,
  type Condition,
} from '../../reporting/alerts/conditions.schema.js';
import type { AlertConditionKind } from '../../generated/service/enums.js';
import { severities } from '../../reconciliation/breaks/severity.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import {
  readBody,
  typedBody,
  type FormField,
  type FormFields,
  type FormValues,
} from '../kit/form.js';
import type { Visit } from '../visit.js';
import { writeTypedAmount } from '../typed-amount.js';

export function readConditionKind(text: string | null | undefined): AlertConditionKind | null {
  return conditionKinds.find((kind) => kind === text) ?? null;
}

const severityOptions = ({ t }: Pick<Visit, 't'>) =>
  severities.map((one) => [one, t(`severity.${one}`)] as const);

const minutes = { label: 'alertRules.field.minutes', is: 'number', min: 1, max: 10_080 } as const;

/** In the order in which the form shows them. */
export function conditionFields(visit: Pick<Visit, 't'>, kind: AlertConditionKind): FormFields {
  const ofKinds: Record<AlertConditionKind, FormFields> = {
    break_open: {
      minSeverity: {
        ...{ label: 'alertRules.field.minSeverity', is: 'choice' },
        options: [['', visit.t('app.any')], ...severityOptions(visit)],
      },
      minAmount: {
        ...{ label: 'alertRules.field.minAmount', hint: 'alertRules.field.minAmount.hint' },
        ...{ is: 'amount', maxLength: 30 },
      },
      minAgeHours: { label: 'alertRules.field.minAgeHours', is: 'number', min: 1, max: 8_760 },
      deadlineWithinHours: {
        ...{ label: 'alertRules.field.deadlineWithinHours', is: 'number', min: 1, max: 720 },
      },
      kinds: {
        ...{ label: 'alertRules.field.kinds', hint: 'alertRules.field.kinds.hint' },
        ...{ is: 'choices', isFolded: true },
        options: (Object.keys(breakKinds) as (keyof typeof breakKinds)[]).map((one) => [
          one,
          visit.t(`break.${one}`),
        ]),
      },
    },
    webhook_loss: {
      minPercent: { label: 'alertRules.field.minPercent', is: 'number', min: 1, max: 100 },
      minLines: { label: 'alertRules.field.minLines', is: 'number', min: 1, max: 1_000_000 },
      hours: { label: 'alertRules.field.hours', is: 'number', min: 1, max: 168 },
    },
    deliveries_dead: {
      minDeliveries: { label: 'alertRules.field.minDeliveries', is: 'number', min: 1, max: 10_000 },
    },
    no_sync: { minutes },
    day_not_certified: { by: { label: 'alertRules.field.by', is: 'time' } },
    approval_waiting: { minutes },
    debit_waiting: {
      seconds: { label: 'alertRules.field.seconds', is: 'number', min: 1, max: 86_400 },
    },
    unrequested_debit: {
      level: {
        ...{ label: 'alertRules.field.level', is: 'choice' },
        options: debitLevels.map((one) => [one, visit.t(`alertRules.level.${one}`)]),
      },
    },
    not_guarded: {},
    local_sign_in: {
      hours: { label: 'alertRules.field.hours', is: 'number', min: 1, max: 720 },
    },
    month_close_overdue: {
      days: { label: 'alertRules.field.days', is: 'number', min: 1, max: 90 },
    },
  };
  return ofKinds[kind];
}

/** As its fields show them. */
export function conditionValues(condition: Condition): FormValues {
  const amount = 'minAmount' in condition ? condition.minAmount : undefined;
  return { ...condition, ...(amount === undefined ? {} : { minAmount: writeTypedAmount(amount) }) };
}

/** The alert of a break has the severity of the break. */
export function alertRuleFields(
  visit: Pick<Visit, 't'>,
  kind: AlertConditionKind,
  channels: readonly (readonly [id: string, name: string])[],
): FormFields {
  const severity: FormField = {
    ...{ label: 'word.severity', is: 'choice', options: severityOptions(visit) },
  };
  return {
    name: { label: 'word.name', required: true, maxLength: 100 },
    ...conditionFields(visit, kind),
    ...(kind === 'break_open' ? {} : { severity }),
    channelIds: {
      ...{ label: 'alertRules.channels', is: 'choices', options: channels },
      ...(channels.length === 0 ? { hint: 'alertRules.channels.none' } : {}),
    },
    groupSeconds: {
      ...{ label: 'alertRules.groupSeconds', hint: 'alertRules.groupSeconds.hint' },
      ...{ is: 'number', min: 0, max: 3600, required: true },
    },
    remindAfterHours: {
      ...{ label: 'alertRules.remindAfterHours', hint: 'alertRules.remindAfterHours.hint' },
      ...{ is: 'number', min: 1, max: 720 },
    },
    escalateAfterMinutes: {
      ...{ label: 'alertRules.escalateAfterMinutes', hint: 'alertRules.remindAfterHours.hint' },
      ...{ is: 'number', min: 1, max: 1_440 },
    },
    escalationChannelIds: {
      ...{ label: 'alertRules.escalationChannels', is: 'choices', options: channels },
    },
    notifiesCleared: { label: 'alertRules.notifiesCleared', is: 'check' },
    isEnabled: { label: 'alertRules.enabled', is: 'check' },
  };
}

/** Throws `validation_failed`, with its fields' errors. */
export function typedAlertRule(visit: Visit, kind: AlertConditionKind) {
  const condition = typedBody(visit, conditionFields(visit, kind));
  const given = Object.entries(typedBody(visit, alertRuleFields(visit, kind, [])));
  const others = Object.fromEntries(given.filter(([name]) => !(name in condition)));
  return readBody(createAlertRule.body, { ...others, condition: { kind, ...condition } });
}
