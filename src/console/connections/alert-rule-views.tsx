// How alert rules look: the list, the choice of a condition, and the form, which explains each.
import type { JSX } from 'preact';
import type { RuleWithChannels } from '../../reporting/alerts/alert-rules.service.js';
import {
  conditionKinds,
  readCondition,
  type Condition,
} from '../../reporting/alerts/conditions.schema.js';
import type { AlertConditionKind } from '../../generated/service/enums.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import type { AppError } from '../../platform/errors.js';
import { severities } from '../../reconciliation/breaks/severity.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { Badge, Card } from '../kit/elements.js';
import { formatAmount, formatTime } from '../formats.js';
import { DataTable, Field, Form, StepUpNotice } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { conditionFields, type ConditionField } from './alert-rule-form.js';
import { AlertSeverityBadge } from './alert-views.js';
import {
  Check,
  ConnectionDone,
  plainText,
  ProblemMessage,
  Reason,
  Select,
} from './connection-elements.js';

export interface NamedChannel {
  id: string;
  name: string;
}

/** The parameters of a condition, in words. */
function describeCondition({ t }: Visit, text: string): string {
  const condition = readCondition(text);
  const parameters = conditionFields[condition.kind].flatMap((field) => {
    const value = valueOf(condition, field);
    if (value === '') return [];
    const key = findTextKey(`alerts.severity.${value}`);
    const amount = 'minAmount' in condition ? condition.minAmount : undefined;
    const shown = field === 'minAmount' && amount !== undefined ? formatAmount(amount) : value;
    return [`${t(`alertRules.field.${field}`)}: ${key ? t(key) : shown}`];
  });
  const kinds = condition.kind === 'break_open' ? condition.kinds : [];
  const named = kinds.map((kind) => t(`break.${kind}`));
  return [t(`alertRules.kind.${condition.kind}`), ...named, ...parameters].join(' · ');
}

/** As the form shows it; '' for a parameter that is left out. */
function valueOf(condition: Condition, field: ConditionField): string {
  const value = (condition as Partial<Record<ConditionField, string | number | bigint>>)[field];
  if (value === undefined) return '';
  return typeof value === 'bigint'
    ? formatReaisWithTwoDecimals(value).replace('.', ',')
    : String(value);
}

export function RuleList({
  visit,
  rules,
  channels,
}: {
  visit: Visit;
  rules: readonly RuleWithChannels[];
  channels: readonly NamedChannel[];
}): JSX.Element {
  const { t } = visit;
  const names = new Map(channels.map(({ id, name }) => [id, plainText(name)]));
  return (
    <>
      <ConnectionDone visit={visit} />
      <p class="muted">{t('alertRules.intro')}</p>
      <div class="card">
        <DataTable
          empty={t('alertRules.empty')}
          visit={visit}
          name={t('alertRules.title')}
          columns={[
            'alertRules.name',
            'alertRules.condition',
            'alerts.severity',
            'alertRules.channels',
            'alertRules.state',
          ]}
        >
          {rules.map((rule) => (
            <tr>
              <td class="wide">
                <a href={pathTo(visit, `alert-rules/${rule.id}`)}>{plainText(rule.name)}</a>
              </td>
              <td class="wide">{describeCondition(visit, rule.condition)}</td>
              <td>
                <AlertSeverityBadge visit={visit} severity={rule.severity} />
              </td>
              <td class="wide">
                {rule.channels.map(({ channelId }) => names.get(channelId)).join(', ') ||
                  t('alertRules.noChannel')}
              </td>
              <td>
                <EnabledBadge visit={visit} isEnabled={rule.isEnabled} />
              </td>
            </tr>
          ))}
        </DataTable>
      </div>
      {isAllowedTo(visit, 'manage connections') && <Choice visit={visit} />}
    </>
  );
}

export function EnabledBadge({ visit: { t }, isEnabled }: { visit: Visit; isEnabled: boolean }) {
  const text = t(isEnabled ? 'alertRules.enabled' : 'alertRules.disabled');
  return <Badge tone={isEnabled ? 'good' : 'plain'} text={text} />;
}

/** What a new rule looks for. */
function Choice({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('alertRules.new')}>
      <p class="muted">{t('alertRules.choose')}</p>
      <ul>
        {conditionKinds.map((kind) => (
          <li>
            <a href={pathTo(visit, `alert-rules/new/${kind}`)}>{t(`alertRules.kind.${kind}`)}</a>
            <div class="muted">{t(`alertRules.explain.${kind}`)}</div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export const ruleLabels: Record<string, TextKey> = {
  name: 'alertRules.name',
  minSeverity: 'alertRules.field.minSeverity',
  minAmount: 'alertRules.field.minAmount',
  minAgeHours: 'alertRules.field.minAgeHours',
  minPercent: 'alertRules.field.minPercent',
  minLines: 'alertRules.field.minLines',
  hours: 'alertRules.field.hours',
  minDeliveries: 'alertRules.field.minDeliveries',
  minutes: 'alertRules.field.minutes',
  seconds: 'alertRules.field.seconds',
  by: 'alertRules.field.by',
  kinds: 'alertRules.field.kinds',
  groupSeconds: 'alertRules.groupSeconds',
  remindAfterHours: 'alertRules.remindAfterHours',
  channelIds: 'alertRules.channels',
};

interface FormProps {
  visit: Visit;
  kind: AlertConditionKind;
  rule: RuleWithChannels | null;
  channels: readonly NamedChannel[];
  problem: AppError | null;
}

export function AlertRuleForm({ visit, kind, rule, channels, problem }: FormProps): JSX.Element {
  const { t, form } = visit;
  const isSent = problem !== null;
  const given = (name: string, stored: string) => (isSent ? (form.get(name) ?? '') : stored);
  const isOn = (name: string, stored: boolean) => (isSent ? form.has(name) : stored);
  const action = pathTo(visit, rule ? `alert-rules/${rule.id}` : `alert-rules/new/${kind}`);
  const chosen = isSent
    ? form.getAll('channelIds')
    : (rule?.channels ?? []).map(({ channelId }) => channelId);
  const shown = rule ? { shown: rule.updatedAt.toISOString() } : {};
  return (
    <Card title={t(`alertRules.kind.${kind}`)}>
      <p class="muted">{t(`alertRules.explain.${kind}`)}</p>
      <StepUpNotice visit={visit} />
      <ProblemMessage visit={visit} problem={problem} labels={ruleLabels} />
      <Form visit={visit} action={action} {...shown}>
        <input type="hidden" name="kind" value={kind} />
        <Field
          label={t('alertRules.name')}
          {...{ name: 'name', required: true, maxLength: 100 }}
          value={given('name', rule?.name ?? t(`alertRules.kind.${kind}`))}
        />
        <ConditionForm {...{ visit, kind, rule, given, isSent }} />
        {kind !== 'break_open' && (
          <Select
            label={t('alerts.severity')}
            {...{ name: 'severity', value: given('severity', rule?.severity ?? 'high') }}
            options={severityOptions(visit)}
          />
        )}
        <ChannelChoice visit={visit} channels={channels} chosen={chosen} />
        <Field
          label={t('alertRules.groupSeconds')}
          hint={t('alertRules.groupSeconds.hint')}
          {...{ name: 'groupSeconds', type: 'number', min: 0, max: 3600, required: true }}
          value={given('groupSeconds', String(rule?.groupSeconds ?? 60))}
        />
        <Field
          label={t('alertRules.remindAfterHours')}
          hint={t('alertRules.remindAfterHours.hint')}
          {...{ name: 'remindAfterHours', type: 'number', min: 1, max: 720 }}
          value={given('remindAfterHours', rule?.remindAfterHours?.toString() ?? '')}
        />
        <Check
          label={t('alertRules.notifiesCleared')}
          name="notifiesCleared"
          checked={isOn('notifiesCleared', rule?.notifiesCleared ?? true)}
        />
        <Check
          label={t('alertRules.isEnabled')}
          name="isEnabled"
          checked={isOn('isEnabled', rule?.isEnabled ?? true)}
        />
        {rule && <Reason visit={visit} />}
        <button>{t(rule ? 'app.save' : 'alertRules.create')}</button>
      </Form>
    </Card>
  );
}

const severityOptions = ({ t }: Visit) =>
  severities.map((one) => [one, t(`alerts.severity.${one}`)] as const);

function ChannelChoice({
  visit: { t },
  channels,
  chosen,
}: {
  visit: Visit;
  channels: readonly NamedChannel[];
  chosen: readonly string[];
}) {
  return (
    <fieldset class="checks">
      <legend>{t('alertRules.channels')}</legend>
      {channels.length === 0 && <p class="hint">{t('alertRules.channels.none')}</p>}
      {channels.map(({ id, name }) => (
        <Check
          label={plainText(name)}
          {...{ name: 'channelIds', value: id, checked: chosen.includes(id) }}
        />
      ))}
    </fieldset>
  );
}

const numberRanges: Partial<Record<ConditionField, readonly [least: number, most: number]>> = {
  minAgeHours: [1, 8_760],
  minPercent: [1, 100],
  minLines: [1, 1_000_000],
  hours: [1, 168],
  minDeliveries: [1, 10_000],
  minutes: [1, 10_080],
  seconds: [1, 86_400],
};

/** What the API takes where a parameter is left out. */
const defaults: Partial<Record<AlertConditionKind, Partial<Record<ConditionField, string>>>> = {
  webhook_loss: { minPercent: '5', minLines: '10', hours: '1' },
  deliveries_dead: { minDeliveries: '1' },
  no_sync: { minutes: '15' },
  day_not_certified: { by: '09:00' },
  approval_waiting: { minutes: '30' },
  debit_waiting: { seconds: '60' },
};

function ConditionForm({
  visit,
  kind,
  rule,
  given,
  isSent,
}: Omit<FormProps, 'channels' | 'problem'> & {
  given: (name: string, stored: string) => string;
  isSent: boolean;
}) {
  const { t, form } = visit;
  const condition = rule ? readCondition(rule.condition) : null;
  const stored = (field: ConditionField) =>
    condition ? valueOf(condition, field) : (defaults[kind]?.[field] ?? '');
  const storedKinds = condition?.kind === 'break_open' ? condition.kinds : [];
  const kinds: readonly string[] = isSent ? form.getAll('kinds') : storedKinds;
  return (
    <>
      {conditionFields[kind].map((field) => (
        <ConditionInput visit={visit} field={field} value={given(field, stored(field))} />
      ))}
      {kind === 'break_open' && (
        <details open={kinds.length > 0}>
          <summary>{t('alertRules.field.kinds')}</summary>
          <fieldset class="checks">
            <legend class="hint">{t('alertRules.field.kinds.hint')}</legend>
            {(Object.keys(breakKinds) as (keyof typeof breakKinds)[]).map((one) => (
              <Check
                label={t(`break.${one}`)}
                {...{ name: 'kinds', value: one, checked: kinds.includes(one) }}
              />
            ))}
          </fieldset>
        </details>
      )}
    </>
  );
}

function ConditionInput({
  visit,
  field,
  value,
}: {
  visit: Visit;
  field: ConditionField;
  value: string;
}) {
  const { t } = visit;
  const label = t(`alertRules.field.${field}`);
  if (field === 'minSeverity')
    return (
      <Select
        {...{ label, name: field, value }}
        options={[['', t('app.any')], ...severityOptions(visit)]}
      />
    );
  const range = numberRanges[field];
  if (field === 'by') return <Field {...{ label, name: field, type: 'time', value }} />;
  if (!range)
    return (
      <Field
        {...{ label, name: field, value, inputMode: 'decimal' as const, maxLength: 30 }}
        hint={t('alertRules.field.minAmount.hint')}
      />
    );
  const [min, max] = range;
  return <Field {...{ label, name: field, type: 'number', min, max, value }} />;
}

export function AlertRuleSteps({ visit, rule }: { visit: Visit; rule: RuleWithChannels }) {
  const { t, language } = visit;
  const path = pathTo(visit, `alert-rules/${rule.id}`);
  return (
    <Card title={t('connections.actions')}>
      <p class="hint">
        {t('alertRules.evaluatedAt')}: {formatTime(rule.evaluatedAt, language)}
      </p>
      <Form visit={visit} action={`${path}/remove`}>
        <div class="row">
          <Reason visit={visit} />
          <button class="plain">{t('alertRules.remove')}</button>
        </div>
        <p class="hint">{t('alertRules.remove.hint')}</p>
      </Form>
    </Card>
  );
}

/** A rule as a person sees it who may not change it. */
export function RuleFacts({ visit, rule }: { visit: Visit; rule: RuleWithChannels }): JSX.Element {
  const { t } = visit;
  return (
    <>
      <p>
        <EnabledBadge visit={visit} isEnabled={rule.isEnabled} />{' '}
        {describeCondition(visit, rule.condition)}
      </p>
      <p>
        <a href={`${pathTo(visit, 'alerts')}?ruleId=${rule.id}`}>{t('alertRules.alerts')}</a>
      </p>
    </>
  );
}
