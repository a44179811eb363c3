// Alerts: what fires, what was acknowledged by whom and why, and what is cleared.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import { AlertRules } from '../../reporting/alerts/alert-rules.service.js';
import { listAlerts } from '../../reporting/alerts/alerts.schema.js';
import { Alerts, describeAlert } from '../../reporting/alerts/alerts.service.js';
import { describeSubject, linkOf } from '../../reporting/alerts/alert-subject.js';
import { AlertSeverity, AlertState } from '../../generated/service/enums.js';
import { toList } from '../../platform/http/listing.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ActorNames } from '../actor-names.service.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { badgeOf, Amount, Card, FactList, Timeline, Cards, Muted } from '../kit/elements.js';
import { FormCard, FormProblem } from '../kit/form.js';
import { listPage } from '../kit/list-page.js';
import type { ListColumns } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import { AlertSeverityBadge, ConnectionDone, doneAt, plainText } from './connection-elements.js';

const needs = 'view';
const acknowledge = 'acknowledge alerts';
const allRules = { after: null, limit: 50 } as const;

@Controller()
export class AlertPages {
  constructor(
    private readonly alerts: Alerts,
    private readonly rules: AlertRules,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('alerts', needs, { title: 'word.alerts', section: 'connections', place: 68 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const rules = await this.rules.listPage(accountId, allRules);
    return listPage({
      visit,
      title: 'word.alerts',
      empty: rules.length === 0 ? 'alerts.empty.noRules' : 'alerts.empty',
      before: (
        <>
          <ConnectionDone />
          <Muted>{visit.t('alerts.intro')}</Muted>
        </>
      ),
      query: listAlerts.query,
      filters: {
        state: { label: 'word.status', options: Object.values(AlertState), of: 'alerts.state' },
        severity: {
          label: 'word.severity',
          options: Object.values(AlertSeverity),
          of: 'severity',
        },
        ruleId: {
          label: 'word.rule',
          options: rules.map(({ id, name }) => [id, plainText(name)] as const),
        },
      },
      read: async (page, filters) =>
        toList(
          await this.alerts.listPage(accountId, filters, page),
          page,
          ({ id }) => id,
          describeAlert,
        ),
      columns: () => columnsOf(visit),
      afterRows: (rows) => acknowledgingAll(visit, rows),
    });
  }

  @ConsolePage('alerts/:id', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const alert = await this.alerts.get(visit.accountId, pathId(visit));
    const isFiring = alert.state === 'firing';
    const actors = alert.history.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const body = (
      <>
        <ConnectionDone />
        {!isFiring && <FormProblem />}
        <p>
          <strong>{describeSubject(alert.detail, visit.language)}</strong>{' '}
          <a href={pageAbout(visit, alert)}>{t('alerts.open')}</a>
        </p>
        <Cards>
          <AlertFacts alert={alert} />
          <Card title={t('word.history')}>
            <History {...{ alert, nameOf }} />
          </Card>
        </Cards>
        {isFiring && visit.may(acknowledge) && (
          <FormCard
            fields={{}}
            title="alerts.acknowledge"
            intro="alerts.acknowledge.hint"
            action={visit.to(`alerts/${alert.id}/acknowledge`)}
            shown={`${alert.state} ${alert.severity}`}
            button="alerts.acknowledge"
            asksReason
          />
        )}
      </>
    );
    return new Shown(t('alerts.one'), body);
  }

  @ConsoleAction('alerts/:id/acknowledge', acknowledge, 'acknowledge alert', 'alert :id')
  @ShownAgainBy('show')
  async acknowledge(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const by = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    await this.alerts.acknowledge(visit.accountId, id, by);
    return new Redirect(doneAt(visit, `alerts/${id}`, 'acknowledged', 1));
  }

  @ConsoleAction('alert-rules/:id/acknowledge', acknowledge, 'acknowledge alerts', 'alert-rule :id')
  async acknowledgeAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const by = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    const count = await this.alerts.acknowledgeAll(visit.accountId, id, by);
    return new Redirect(`${doneAt(visit, 'alerts', 'acknowledged', count)}&ruleId=${id}`);
  }
}

type AlertView = ReturnType<typeof describeAlert>;
type Found = Awaited<ReturnType<Alerts['get']>>;

const StateBadge = badgeOf('alerts.state', {
  ...{ firing: 'bad', acknowledged: 'warn', cleared: 'good' },
});

/** The page about what the alert found. */
function pageAbout(visit: Visit, { detail }: Pick<AlertView, 'detail'>): string {
  return linkOf(detail, visit.to('').replace(/\/$/, ''));
}

/** A rule that was removed has no page, and still has its alerts. */
function RuleLink({
  alert: { ruleId, ruleName },
}: {
  alert: Pick<AlertView, 'ruleId' | 'ruleName'>;
}) {
  const { to } = useVisit();
  return <a href={`${to('alerts')}?ruleId=${ruleId}`}>{plainText(ruleName)}</a>;
}

function columnsOf(visit: Visit): ListColumns<AlertView> {
  const { time } = visit;
  return {
    'word.since': ({ id, firedAt }) => <a href={visit.to(`alerts/${id}`)}>{time(firedAt)}</a>,
    'word.severity': ({ severity }) => <AlertSeverityBadge state={severity} />,
    'alerts.subject': {
      wide: (alert) => (
        <a href={pageAbout(visit, alert)}>{describeSubject(alert.detail, visit.language)}</a>
      ),
    },
    'word.amount': {
      is: 'number',
      cell: ({ amount }) => (amount === null ? null : <Amount cents={amount} />),
    },
    'word.rule': { wide: (alert) => <RuleLink alert={alert} /> },
    'word.status': ({ state }) => <StateBadge state={state} />,
  };
}

/** Where the list is of one rule: acknowledges all of its alerts that fire. */
function acknowledgingAll(visit: Visit, rows: readonly AlertView[]): JSX.Element | null {
  const ruleId = visit.query.get('ruleId') ?? '';
  const firing = rows.find((row) => row.state === 'firing' && row.ruleId === ruleId);
  if (!firing || !visit.may(acknowledge)) return null;
  return (
    <FormCard
      fields={{}}
      title="alerts.acknowledgeAll"
      intro="alerts.acknowledge.hint"
      action={visit.to(`alert-rules/${ruleId}/acknowledge`)}
      button="alerts.acknowledgeAll"
      asksReason
    />
  );
}

function AlertFacts({ alert }: { alert: Found }) {
  const { t, time } = useVisit();
  const { state, severity, amount } = alert;
  return (
    <FactList
      title="word.facts"
      facts={[
        ['word.status', <StateBadge state={state} />],
        ['word.severity', <AlertSeverityBadge state={severity} />],
        ['word.amount', amount === null ? t('app.none') : <Amount cents={amount} />],
        ['word.rule', <RuleLink alert={alert} />],
        ['word.since', time(alert.firedAt)],
        ['alerts.lastSeenAt', time(alert.lastSeenAt)],
        ['alerts.notifiedAt', time(alert.notifiedAt)],
        ['alerts.clearedAt', time(alert.clearedAt)],
      ]}
    />
  );
}

interface HistoryProps {
  alert: Found;
  nameOf: NameOfActor;
}

function History({ alert, nameOf }: HistoryProps) {
  const { t } = useVisit();
  const tones = { fired: 'bad', acknowledged: 'warn', cleared: 'good' } as const;
  const reasonOf = (reason: string | null) => {
    const key = findTextKey(`alerts.reason.${reason}`);
    return key ? t(key) : plainText(reason ?? '');
  };
  return (
    <Timeline
      entries={alert.history.map(({ action, actor, reason, at }) => ({
        ...{ at, tone: tones[action], title: t(`alerts.action.${action}`) },
        detail: [actor === null ? '' : nameOf(actor), reasonOf(reason)]
          .filter((text) => text !== '')
          .join(': '),
      }))}
    />
  );
}
