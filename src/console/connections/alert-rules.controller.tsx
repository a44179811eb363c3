// Alert rules: what people are alerted about, and by which channels.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import { AlertChannels } from '../../reporting/alerts/alert-channels.service.js';
import {
  AlertRules,
  channelIdsOf,
  type RuleWithChannels,
} from '../../reporting/alerts/alert-rules.service.js';
import { conditionKinds, readCondition } from '../../reporting/alerts/conditions.schema.js';
import type { AlertConditionKind } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { formatAmount } from '../formats.js';
import { Badge, Card, Hint, Muted } from '../kit/elements.js';
import { FormCard, Step } from '../kit/form.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { pathId, requireReason, useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import {
  alertRuleFields,
  conditionFields,
  readConditionKind,
  typedAlertRule,
  conditionValues,
} from './alert-rule-form.js';
import { AlertSeverityBadge, ConnectionDone, doneAt, plainText } from './connection-elements.js';

const needs = 'view';
const manage = 'manage connections';
/** More than an account may have. */
const all = { after: null, limit: 100 } as const;

const subject = 'alert-rule :id';

@Controller()
export class AlertRulePages {
  constructor(
    private readonly rules: AlertRules,
    private readonly channels: AlertChannels,
  ) {}

  @ConsolePage('alert-rules', needs, {
    title: 'alertRules.title',
    section: 'connections',
    place: 69,
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const rows = await this.rules.listPage(visit.accountId, all);
    const names = new Map(await this.channelsOf(visit));
    const body = (
      <>
        <ConnectionDone />
        <Muted>{t('alertRules.intro')}</Muted>
        <ListCard>
          <ListTable
            {...{ rows, name: 'alertRules.title', empty: 'alertRules.empty' }}
            columns={{
              'word.name': {
                wide: ({ id, name }) => (
                  <a href={visit.to(`alert-rules/${id}`)}>{plainText(name)}</a>
                ),
              },
              'alertRules.condition': {
                wide: ({ condition }) => describeCondition(visit, condition),
              },
              'word.severity': ({ severity }) => <AlertSeverityBadge state={severity} />,
              'alertRules.channels': {
                wide: ({ channels }) =>
                  channels.map(({ channelId }) => names.get(channelId)).join(', ') ||
                  t('alertRules.noChannel'),
              },
              'word.status': ({ isEnabled }) => <EnabledBadge isEnabled={isEnabled} />,
            }}
          />
        </ListCard>
        {visit.may(manage) && <Choice />}
      </>
    );
    return new Shown(t('alertRules.title'), body);
  }

  @ConsolePage('alert-rules/new/:kind', manage)
  async startNew(@Visiting() visit: Visit): Promise<PageAnswer> {
    const kind = readConditionKind(visit.params.kind);
    if (!kind) return new Redirect(visit.to('alert-rules'));
    return new Shown(visit.t('rules.new'), await this.formOf(visit, kind, null));
  }

  @ConsoleAction('alert-rules/new/:kind', manage, 'create alert rule', 'alert-rule new')
  @ShownAgainBy('startNew')
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id } = await this.rules.create(visit.accountId, ruleOf(visit, visit.params.kind));
    return new Redirect(doneAt(visit, `alert-rules/${id}`, 'saved'));
  }

  @ConsolePage('alert-rules/:id', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, time } = visit;
    const rule = await this.rules.get(visit.accountId, pathId(visit));
    const body = (
      <>
        <ConnectionDone />
        <p>
          <EnabledBadge isEnabled={rule.isEnabled} /> {describeCondition(visit, rule.condition)}
        </p>
        <p>
          <a href={`${visit.to('alerts')}?ruleId=${rule.id}`}>{t('alertRules.alerts')}</a>
        </p>
        {visit.may(manage) && (
          <>
            {await this.formOf(visit, rule.conditionKind, rule)}
            <Card title={t('word.actions')}>
              <Hint>
                {t('alertRules.evaluatedAt')}: {time(rule.evaluatedAt)}
              </Hint>
              <Step
                action={visit.to(`alert-rules/${rule.id}/remove`)}
                button="alertRules.remove"
                hint="alertRules.remove.hint"
                asksReason
              />
            </Card>
          </>
        )}
      </>
    );
    return new Shown(plainText(rule.name), body);
  }

  @ConsoleAction('alert-rules/:id', manage, 'change alert rule', subject)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    await this.rules.update(visit.accountId, id, ruleOf(visit, visit.form.get('kind')));
    return new Redirect(doneAt(visit, `alert-rules/${id}`, 'saved'));
  }

  @ConsoleAction('alert-rules/:id/remove', manage, 'remove alert rule', subject)
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.rules.remove(visit.accountId, pathId(visit));
    return new Redirect(doneAt(visit, 'alert-rules', 'ruleRemoved', count));
  }

  /** Of a new rule, with what the API takes where a parameter is left out. */
  private async formOf(
    visit: Visit,
    kind: AlertConditionKind,
    rule: RuleWithChannels | null,
  ): Promise<JSX.Element> {
    const fields = alertRuleFields(visit, kind, await this.channelsOf(visit));
    const condition = readCondition(rule?.condition ?? JSON.stringify({ kind }));
    const values = rule ?? {
      ...{
        name: visit.t(`alertRules.kind.${kind}`),
        severity: 'high',
        groupSeconds: kind === 'unrequested_debit' ? 0 : 60,
      },
      ...{
        channels: [],
        remindAfterHours: null,
        escalateAfterMinutes: null,
        notifiesCleared: true,
        isEnabled: true,
      },
    };
    const { name, severity, groupSeconds, remindAfterHours, notifiesCleared, isEnabled } = values;
    return (
      <FormCard
        {...{ fields, hidden: { kind } }}
        values={{
          ...{ name, severity, groupSeconds, remindAfterHours, notifiesCleared, isEnabled },
          ...conditionValues(condition),
          channelIds: channelIdsOf(values, false),
          escalationChannelIds: channelIdsOf(values, true),
        }}
        title={`alertRules.kind.${kind}`}
        intro={`alertRules.explain.${kind}`}
        action={visit.to(rule ? `alert-rules/${rule.id}` : `alert-rules/new/${kind}`)}
        shown={rule?.updatedAt.toISOString()}
        button={rule ? 'app.save' : 'alertRules.create'}
        asksReason={rule !== null}
      />
    );
  }

  private async channelsOf(visit: Visit) {
    const channels = await this.channels.listPage(visit.accountId, all);
    return channels.map(({ id, name }) => [id, plainText(name)] as const);
  }
}

/** Throws `validation_failed` for a wrong field, and for a condition that does not exist. */
function ruleOf(visit: Visit, kindText: string | null | undefined) {
  const kind = readConditionKind(kindText);
  if (!kind) throw new AppError('validation_failed');
  return typedAlertRule(visit, kind);
}

/** A condition with its parameters, in words. */
function describeCondition(visit: Visit, text: string): string {
  const { t } = visit;
  const condition = readCondition(text);
  const values: Record<string, unknown> = condition;
  const parameters = Object.entries(conditionFields(visit, condition.kind)).flatMap(
    ([name, { label }]) => {
      const value = values[name];
      if (typeof value === 'bigint') return [`${t(label)}: ${formatAmount(value)}`];
      if (typeof value !== 'string' && typeof value !== 'number') return [];
      const key = findTextKey(`severity.${value}`);
      return [`${t(label)}: ${key ? t(key) : value}`];
    },
  );
  const kinds = condition.kind === 'break_open' ? condition.kinds : [];
  const named = kinds.map((kind) => t(`break.${kind}`));
  return [t(`alertRules.kind.${condition.kind}`), ...named, ...parameters].join(' · ');
}

function EnabledBadge({ isEnabled }: { isEnabled: boolean }) {
  const { t } = useVisit();
  const text = t(isEnabled ? 'alertRules.enabled' : 'alertRules.disabled');
  return <Badge tone={isEnabled ? 'good' : 'plain'} text={text} />;
}

/** What a new rule looks for. */
function Choice() {
  const { t, to } = useVisit();
  return (
    <Card title={t('rules.new')}>
      <Muted>{t('alertRules.choose')}</Muted>
      <ul>
        {conditionKinds.map((kind) => (
          <li>
            <a href={to(`alert-rules/new/${kind}`)}>{t(`alertRules.kind.${kind}`)}</a>
            <Hint isBlock>{t(`alertRules.explain.${kind}`)}</Hint>
          </li>
        ))}
      </ul>
    </Card>
  );
}
