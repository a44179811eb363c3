// How alerts look: the list, one with its history, and what each is about in words.
import type { JSX } from 'preact';
import type { AlertDetail } from '../../reporting/alerts/alerts.schema.js';
import type { Alerts, describeAlert } from '../../reporting/alerts/alerts.service.js';
import { linkOf } from '../../reporting/alerts/message-text.js';
import { parsePlainDate } from '../../brazil/calendar.js';
import { printDay } from '../../brazil/printed-text.js';
import type { AlertSeverity, AlertState } from '../../generated/service/enums.js';
import type { AppError } from '../../platform/errors.js';
import type { NameOfActor } from '../actor-names.service.js';
import { Amount, Badge, Card, FactList, Timeline, type Tone } from '../kit/elements.js';
import { formatCount, formatTime } from '../formats.js';
import { DataTable, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { ConnectionDone, plainText, ProblemMessage, Reason } from './connection-elements.js';

export type AlertView = ReturnType<typeof describeAlert>;

const severityTones: Record<AlertSeverity, Tone> = {
  low: 'plain',
  medium: 'warn',
  high: 'bad',
  critical: 'bad',
};
const stateTones: Record<AlertState, Tone> = {
  firing: 'bad',
  acknowledged: 'warn',
  cleared: 'good',
};

export function AlertSeverityBadge({
  visit: { t },
  severity,
}: {
  visit: Visit;
  severity: AlertSeverity;
}) {
  return <Badge tone={severityTones[severity]} text={t(`alerts.severity.${severity}`)} />;
}

function StateBadge({ visit: { t }, state }: { visit: Visit; state: AlertState }) {
  return <Badge tone={stateTones[state]} text={t(`alerts.state.${state}`)} />;
}

/** What an alert is about, in words. */
export function describeSubject({ t, language }: Visit, detail: AlertDetail): string {
  const { breakKind, endpointId, deliveries = 0, day, lost, lastSyncAt } = detail;
  if (breakKind !== undefined) {
    const key = findTextKey(`break.${breakKind}`);
    return key ? t(key) : t('alerts.subject.break');
  }
  if (detail.operationId !== undefined) return t('alerts.subject.operation');
  if (endpointId !== undefined)
    return t('alerts.subject.endpoint', { count: formatCount(deliveries) });
  const date = day === undefined ? null : parsePlainDate(day);
  if (date !== null) return t('alerts.subject.day', { day: printDay(date) });
  if (lost !== undefined) {
    const { expected = 0, hours = 0 } = detail;
    const values = { lost: formatCount(lost), expected: formatCount(expected), hours };
    return t('alerts.subject.webhooks', values);
  }
  if (!lastSyncAt) return t('alerts.subject.neverSynced');
  return t('alerts.subject.sync', { time: formatTime(new Date(lastSyncAt), language) });
}

/** The page about what the alert found. */
function pageAbout(visit: Visit, { detail }: Pick<AlertView, 'detail'>): string {
  return linkOf({ detail }, pathTo(visit, '').replace(/\/$/, ''));
}

/** A rule that was removed has no page, and still has its alerts. */
function alertsOfRule(visit: Visit, { ruleId }: Pick<AlertView, 'ruleId'>): string {
  return `${pathTo(visit, 'alerts')}?ruleId=${ruleId}`;
}

export function AlertRows({
  visit,
  rows,
}: {
  visit: Visit;
  rows: readonly AlertView[];
}): JSX.Element {
  const { t, language } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('alerts.title')}
      columns={[
        'alerts.firedAt',
        'alerts.severity',
        'alerts.subject',
        'alerts.amount',
        'alerts.rule',
        'alerts.state',
      ]}
      numbers={['alerts.amount']}
    >
      {rows.map((alert) => (
        <tr>
          <td>
            <a href={pathTo(visit, `alerts/${alert.id}`)}>{formatTime(alert.firedAt, language)}</a>
          </td>
          <td>
            <AlertSeverityBadge visit={visit} severity={alert.severity} />
          </td>
          <td class="wide">
            <a href={pageAbout(visit, alert)}>{describeSubject(visit, alert.detail)}</a>
          </td>
          <td class="number">
            {alert.amount === null ? t('app.none') : <Amount cents={alert.amount} />}
          </td>
          <td class="wide">
            <a href={alertsOfRule(visit, alert)}>{plainText(alert.ruleName)}</a>
          </td>
          <td>
            <StateBadge visit={visit} state={alert.state} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

/** Acknowledges every firing alert of a rule. */
export function AcknowledgeAll({ visit, ruleId }: { visit: Visit; ruleId: string }): JSX.Element {
  const { t } = visit;
  return (
    <Card title={t('alerts.acknowledgeAll')}>
      <p class="muted">{t('alerts.acknowledge.hint')}</p>
      <Form visit={visit} action={pathTo(visit, `alert-rules/${ruleId}/acknowledge`)}>
        <div class="row">
          <Reason visit={visit} />
          <button>{t('alerts.acknowledgeAll')}</button>
        </div>
      </Form>
    </Card>
  );
}

type Found = Awaited<ReturnType<Alerts['get']>>;

interface DetailProps {
  visit: Visit;
  alert: Found;
  nameOf: NameOfActor;
  problem: AppError | null;
}

export function AlertDetailView({ visit, alert, nameOf, problem }: DetailProps): JSX.Element {
  const { t } = visit;
  const mayAcknowledge = alert.state === 'firing' && isAllowedTo(visit, 'acknowledge alerts');
  return (
    <>
      <ConnectionDone visit={visit} />
      <ProblemMessage visit={visit} problem={problem} />
      <p>
        <strong>{describeSubject(visit, alert.detail)}</strong>{' '}
        <a href={pageAbout(visit, alert)}>{t('alerts.open')}</a>
      </p>
      <div class="cards">
        <AlertFacts visit={visit} alert={alert} />
        <Card title={t('alerts.history')}>
          <History visit={visit} alert={alert} nameOf={nameOf} />
        </Card>
      </div>
      {mayAcknowledge && (
        <Card title={t('alerts.acknowledge')}>
          <p class="muted">{t('alerts.acknowledge.hint')}</p>
          <Form
            visit={visit}
            action={pathTo(visit, `alerts/${alert.id}/acknowledge`)}
            shown={`${alert.state} ${alert.severity}`}
          >
            <div class="row">
              <Reason visit={visit} />
              <button>{t('alerts.acknowledge')}</button>
            </div>
          </Form>
        </Card>
      )}
    </>
  );
}

function AlertFacts({ visit, alert }: Pick<DetailProps, 'visit' | 'alert'>) {
  const { t, language } = visit;
  return (
    <FactList
      visit={visit}
      title="alerts.facts"
      facts={[
        ['alerts.state', <StateBadge visit={visit} state={alert.state} />],
        ['alerts.severity', <AlertSeverityBadge visit={visit} severity={alert.severity} />],
        ['alerts.amount', alert.amount === null ? t('app.none') : <Amount cents={alert.amount} />],
        ['alerts.rule', <a href={alertsOfRule(visit, alert)}>{plainText(alert.ruleName)}</a>],
        ['alerts.firedAt', formatTime(alert.firedAt, language)],
        ['alerts.lastSeenAt', formatTime(alert.lastSeenAt, language)],
        ['alerts.notifiedAt', formatTime(alert.notifiedAt, language)],
        ['alerts.clearedAt', formatTime(alert.clearedAt, language)],
      ]}
    />
  );
}

function History({ visit, alert, nameOf }: Omit<DetailProps, 'problem'>) {
  const { t } = visit;
  const tones = { fired: 'bad', acknowledged: 'warn', cleared: 'good' } as const;
  const reasonOf = (reason: string | null) => {
    const key = findTextKey(`alerts.reason.${reason}`);
    return key ? t(key) : plainText(reason ?? '');
  };
  return (
    <Timeline
      visit={visit}
      entries={alert.history.map(({ action, actor, reason, at }) => ({
        ...{ at, tone: tones[action], title: t(`alerts.action.${action}`) },
        detail: [actor === null ? '' : nameOf(actor), reasonOf(reason)]
          .filter((text) => text !== '')
          .join(': '),
      }))}
    />
  );
}
