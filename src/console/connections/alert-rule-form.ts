// Reads the form of an alert rule into what the API's schema reads: a field that is empty is left
// out, and a number or an amount is exact.
import { LosslessNumber } from 'lossless-json';
import { conditionKinds } from '../../reporting/alerts/conditions.schema.js';
import type { AlertConditionKind } from '../../generated/service/enums.js';

/** The fields of each condition, in the order in which the form shows them. */
export const conditionFields = {
  break_open: ['minSeverity', 'minAmount', 'minAgeHours'],
  webhook_loss: ['minPercent', 'minLines', 'hours'],
  deliveries_dead: ['minDeliveries'],
  no_sync: ['minutes'],
  day_not_certified: ['by'],
  approval_waiting: ['minutes'],
  debit_waiting: ['seconds'],
} as const satisfies Record<AlertConditionKind, readonly string[]>;
export type ConditionField = (typeof conditionFields)[AlertConditionKind][number];

const texts: ReadonlySet<string> = new Set<ConditionField>(['by', 'minSeverity']);

export function readConditionKind(text: string | null | undefined): AlertConditionKind | null {
  return conditionKinds.find((kind) => kind === text) ?? null;
}

/** Wrong texts stay texts: the schema refuses them, and names their field. */
export function readAlertRuleForm(form: URLSearchParams, kind: AlertConditionKind) {
  const parameters = conditionFields[kind].flatMap((name) => {
    const text = fieldOf(form, name);
    if (text === '') return [];
    if (name === 'minAmount') return [[name, amountOf(text)]];
    return [[name, texts.has(name) ? text : numberOf(text)]];
  });
  const remind = fieldOf(form, 'remindAfterHours');
  const group = fieldOf(form, 'groupSeconds');
  return {
    name: fieldOf(form, 'name'),
    condition: {
      ...{ kind, ...Object.fromEntries(parameters) },
      ...(kind === 'break_open' ? { kinds: form.getAll('kinds') } : {}),
    },
    severity: fieldOf(form, 'severity') || undefined,
    channelIds: form.getAll('channelIds'),
    ...(group === '' ? {} : { groupSeconds: numberOf(group) }),
    remindAfterHours: remind === '' ? null : numberOf(remind),
    notifiesCleared: form.has('notifiesCleared'),
    isEnabled: form.has('isEnabled'),
  };
}

function fieldOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replace(/\p{Cc}/gu, ' ').trim();
}

function numberOf(text: string): LosslessNumber | string {
  return /^\d{1,9}$/.test(text) ? new LosslessNumber(String(Number(text))) : text;
}

/** `1.234,56`, `1234,56` and `1234.56`: a dot before three digits separates thousands. */
function amountOf(text: string): LosslessNumber | string {
  const plain = text.replace(/^R\$\s*/, '');
  const isBrazilian = /^\d{1,3}(\.\d{3})+(,\d{1,2})?$|^\d+,\d{1,2}$/.test(plain);
  const number = isBrazilian ? plain.replaceAll('.', '').replace(',', '.') : plain;
  return /^(0|[1-9]\d{0,11})(\.\d{1,2})?$/.test(number) ? new LosslessNumber(number) : text;
}
