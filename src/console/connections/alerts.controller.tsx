// Alerts: what fires, what was acknowledged by whom and why, and what is cleared.
import { Controller } from '@nestjs/common';
import { AlertRules } from '../../reporting/alerts/alert-rules.service.js';
import { listAlerts } from '../../reporting/alerts/alerts.schema.js';
import { Alerts, describeAlert } from '../../reporting/alerts/alerts.service.js';
import { AlertSeverity, AlertState } from '../../generated/service/enums.js';
import type { AppError } from '../../platform/errors.js';
import { isUuid, toList } from '../../platform/http/listing.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Empty, Filters, Pager } from '../kit/elements.js';
import { readFilters } from '../list-query.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, callerOf, isAllowedTo, pathId, requireReason } from '../visit.js';
import { AcknowledgeAll, AlertDetailView, AlertRows } from './alert-views.js';
import { doneAt, ConnectionDone, findProblem, plainText } from './connection-elements.js';
import { statusOf } from '../kit/form.js';
import { readCursor } from './list-address.js';

const alerts = '/console/accounts/:account/alerts';
const needs = 'view';
const acknowledge = 'acknowledge alerts';
const pageSize = 50;
const maxRules = 50;

@Controller()
export class AlertPages {
  constructor(
    private readonly alerts: Alerts,
    private readonly rules: AlertRules,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage({
    path: alerts,
    needs,
    menu: { title: 'alerts.title', section: 'connections', place: 68 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const { id } = accountOf(visit);
    const given = new URLSearchParams(query);
    for (const name of ['limit', 'cursor']) given.delete(name);
    const { filters, wrong } = readFilters(listAlerts.query, given);
    const page = readCursor(query, isUuid, pageSize);
    const [found, rules] = await Promise.all([
      this.alerts.listPage(id, filters, page),
      this.rules.listPage(id, { after: null, limit: maxRules }),
    ]);
    const { data: rows, next } = toList(found, page, (alert) => alert.id, describeAlert);
    const hasFiring = rows.some(({ state }) => state === 'firing');
    const mayAcknowledge = hasFiring && isAllowedTo(visit, acknowledge);
    const empty = rules.length === 0 ? 'alerts.empty.noRules' : 'alerts.empty';
    const body = (
      <>
        <ConnectionDone visit={visit} />
        <p class="muted">{t('alerts.intro')}</p>
        <Filters visit={visit} wrong={wrong} fields={filterFields(visit, rules)} />
        <div class="card">
          {rows.length === 0 ? (
            <Empty>{t(next === null ? empty : 'connections.examined')}</Empty>
          ) : (
            <AlertRows visit={visit} rows={rows} />
          )}
          <Pager visit={visit} next={next} />
        </div>
        {filters.ruleId && mayAcknowledge && (
          <AcknowledgeAll visit={visit} ruleId={filters.ruleId} />
        )}
      </>
    );
    return new Shown(t('alerts.title'), body);
  }

  @ConsolePage({ path: `${alerts}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, null);
  }

  @ConsoleAction({
    path: `${alerts}/:id/acknowledge`,
    needs: acknowledge,
    audit: { action: 'acknowledge alert', subject: (visit) => `alert ${pathId(visit)}` },
  })
  async acknowledge(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const by = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    const problem = await findProblem(() => this.alerts.acknowledge(accountOf(visit).id, id, by));
    if (problem) return this.detail(visit, problem);
    return new Redirect(doneAt(visit, `alerts/${id}`, 'acknowledged', 1));
  }

  @ConsoleAction({
    path: '/console/accounts/:account/alert-rules/:id/acknowledge',
    needs: acknowledge,
    audit: { action: 'acknowledge alerts', subject: (visit) => `alert-rule ${pathId(visit)}` },
  })
  async acknowledgeAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const by = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    const count = await this.alerts.acknowledgeAll(accountOf(visit).id, id, by);
    return new Redirect(`${doneAt(visit, 'alerts', 'acknowledged', count)}&ruleId=${id}`);
  }

  private async detail(visit: Visit, problem: AppError | null): Promise<Shown> {
    const alert = await this.alerts.get(accountOf(visit).id, pathId(visit));
    const actors = alert.history.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const body = <AlertDetailView {...{ visit, alert, nameOf, problem }} />;
    return new Shown(visit.t('alerts.one'), body, statusOf(problem));
  }
}

function filterFields({ t }: Visit, rules: readonly { id: string; name: string }[]) {
  return [
    {
      ...{ name: 'state', label: 'alerts.state' as const },
      options: Object.values(AlertState).map((one) => [one, t(`alerts.state.${one}`)] as const),
    },
    {
      ...{ name: 'severity', label: 'alerts.severity' as const },
      options: Object.values(AlertSeverity).map(
        (one) => [one, t(`alerts.severity.${one}`)] as const,
      ),
    },
    {
      ...{ name: 'ruleId', label: 'alerts.rule' as const },
      options: rules.map(({ id, name }) => [id, plainText(name)] as const),
    },
  ];
}
