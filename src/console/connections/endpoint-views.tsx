// How endpoints look: their state and why, their form, and what is delivered once more to them.
import type { JSX, VNode } from 'preact';
import type { WebhookEndpoint } from '../../generated/service/client.js';
import type {
  Backlog,
  DeliveryRow,
  EndpointFigures,
  ReplayedEvents,
} from '../../events/deliveries.queries.js';
import type { Replay } from '../../events/delivery-lists.service.js';
import type { TestResult } from '../../events/delivery.service.js';
import { eventTypes } from '../../events/event-types.js';
import { maxReplayed } from '../../events/events.schema.js';
import type { AppError } from '../../platform/errors.js';
import { Badge, Card, Empty, FactList, Pager } from '../kit/elements.js';
import { formatCount, formatDuration, formatTime } from '../formats.js';
import { DataTable, Field, Form, Message, StepUpNotice } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { callerOf, isAllowedTo, pathTo } from '../visit.js';
import { DeliveryRows } from './delivery-views.js';
import {
  Check,
  describeFailure,
  ConnectionDone,
  eventOptions,
  hostOf,
  nameOfEvent,
  plainText,
  ProblemMessage,
  Reason,
  Select,
} from './connection-elements.js';

type Endpoint = Omit<WebhookEndpoint, 'secret' | 'previousSecret'>;

const labels = {
  url: 'endpoints.url',
  description: 'endpoints.description',
  eventTypes: 'endpoints.eventTypes',
} as const;

/** The whole address may hold a token of the receiver. */
export function shownAddress(visit: Visit, { url }: Pick<Endpoint, 'url'>): string {
  return callerOf(visit).scopes.includes('webhooks') ? url : hostOf(url);
}

function EndpointState({
  visit: { t, language },
  endpoint: { isEnabled, pausedUntil },
  figures,
  now,
}: {
  visit: Visit;
  endpoint: Endpoint;
  figures: EndpointFigures | null;
  now: Date;
}) {
  if (!isEnabled)
    return (
      <>
        <Badge tone="bad" text={t('endpoints.state.disabled')} />{' '}
        {t(figures?.wasGone ? 'endpoints.why.gone' : 'endpoints.why.disabled')}
      </>
    );
  if (pausedUntil && pausedUntil > now)
    return (
      <>
        <Badge tone="warn" text={t('endpoints.state.paused')} />{' '}
        {t('endpoints.why.paused', { time: formatTime(pausedUntil, language) })}
      </>
    );
  return <Badge tone="good" text={t('endpoints.state.enabled')} />;
}

/** Of the newest deliveries that have ended. */
function successRate({ t }: Visit, figures: EndpointFigures | null): string {
  const { delivered = 0, dead = 0 } = figures ?? {};
  if (delivered + dead === 0) return t('app.none');
  const percent = ((delivered / (delivered + dead)) * 100).toFixed(1).replace('.', ',');
  return `${percent} %`;
}

export function EndpointList({
  visit,
  rows,
  figures,
  now,
}: {
  visit: Visit;
  rows: readonly Endpoint[];
  figures: ReadonlyMap<string, EndpointFigures>;
  now: Date;
}): JSX.Element {
  const { t } = visit;
  return (
    <>
      <ConnectionDone visit={visit} />
      <p class="muted">{t('endpoints.intro')}</p>
      <div class="card">
        <DataTable
          empty={t('endpoints.empty')}
          visit={visit}
          name={t('endpoints.title')}
          columns={[
            'endpoints.url',
            'endpoints.state',
            'endpoints.success',
            'endpoints.pending',
            'endpoints.dead',
          ]}
          numbers={['endpoints.success', 'endpoints.pending', 'endpoints.dead']}
        >
          {rows.map((endpoint) => {
            const found = figures.get(endpoint.id) ?? null;
            return (
              <tr>
                <td class="wide">
                  <a href={pathTo(visit, `endpoints/${endpoint.id}`)}>
                    {shownAddress(visit, endpoint)}
                  </a>
                  {endpoint.description && (
                    <div class="muted">{plainText(endpoint.description)}</div>
                  )}
                </td>
                <td>
                  <EndpointState {...{ visit, endpoint, now }} figures={found} />
                </td>
                <td class="number">{successRate(visit, found)}</td>
                <td class="number">{formatCount(found?.pending ?? 0)}</td>
                <td class="number">{formatCount(found?.dead ?? 0)}</td>
              </tr>
            );
          })}
        </DataTable>
        {rows.length > 0 && <p class="hint">{t('endpoints.newest')}</p>}
      </div>
    </>
  );
}

/** Creates an endpoint, or changes one. */
export function EndpointForm({
  visit,
  action,
  problem,
  endpoint,
}: {
  visit: Visit;
  action: string;
  problem: AppError | null;
  endpoint?: Endpoint;
}): JSX.Element {
  const { t, form } = visit;
  const value = (name: 'url' | 'description') =>
    problem ? (form.get(name) ?? '') : (endpoint?.[name] ?? '');
  const chosen = problem ? form.getAll('eventTypes') : (endpoint?.eventTypes ?? []);
  return (
    <Card title={t(endpoint ? 'endpoints.change' : 'endpoints.create')}>
      <StepUpNotice visit={visit} />
      <ProblemMessage {...{ visit, problem, labels }} />
      <Form
        visit={visit}
        action={action}
        {...(endpoint ? { shown: endpoint.updatedAt.toISOString() } : {})}
      >
        <Field
          label={t('endpoints.url')}
          hint={t('endpoints.url.hint')}
          {...{ name: 'url', type: 'url', required: true, maxLength: 2000, value: value('url') }}
        />
        <Field
          label={t('endpoints.description')}
          {...{ name: 'description', maxLength: 200, value: value('description') }}
        />
        <details open={chosen.length > 0}>
          <summary>{t('endpoints.eventTypes')}</summary>
          <fieldset class="checks">
            <legend class="hint">{t('endpoints.eventTypes.hint')}</legend>
            {eventTypes.map((type) => (
              <Check
                label={t(`event.${type}`)}
                {...{ name: 'eventTypes', value: type, checked: chosen.includes(type) }}
              />
            ))}
          </fieldset>
        </details>
        <Check
          label={t('endpoints.personalData')}
          hint={t('endpoints.personalData.hint')}
          name="includesPersonalData"
          checked={endpoint?.includesPersonalData ?? false}
        />
        <Check
          label={t('endpoints.isEnabled')}
          name="isEnabled"
          checked={endpoint?.isEnabled ?? true}
        />
        {endpoint && <Reason visit={visit} />}
        <button>{t(endpoint ? 'app.save' : 'endpoints.create')}</button>
      </Form>
    </Card>
  );
}

/** A secret that is shown this once. */
export function SecretOnce({
  visit: { t },
  secret,
  back,
}: {
  visit: Visit;
  secret: string;
  back: string;
}): JSX.Element {
  return (
    <>
      <Message kind="good">{t('connections.secret.hint')}</Message>
      <p class="card">
        <code>{secret}</code>
      </p>
      <p>
        <a class="button" href={back}>
          {t('app.continue')}
        </a>
      </p>
    </>
  );
}

export function TestResultMessage({
  visit: { t },
  result,
}: {
  visit: Visit;
  result: Pick<TestResult, 'status' | 'error' | 'durationMs'> | null;
}): JSX.Element | null {
  if (!result) return null;
  const duration = formatDuration(result.durationMs);
  if (result.error === null)
    return <Message kind="good">{t('connections.test.good', { duration })}</Message>;
  return (
    <Message kind="bad">
      {t('connections.test.bad', { duration, error: describeFailure(t, result.error) })}
    </Message>
  );
}

/** What waits at the endpoint. It refreshes itself while something is pending. */
export function BacklogView({
  visit,
  id,
  backlog: { pending, dead },
}: {
  visit: Visit;
  id: string;
  backlog: Backlog;
}): JSX.Element {
  const { t } = visit;
  const path = pathTo(visit, `endpoints/${id}`);
  const count = (number: number) => `${formatCount(number)}${number === maxReplayed ? '+' : ''}`;
  const refresh =
    pending > 0
      ? {
          'hx-get': path,
          'hx-trigger': 'every 5s',
          'hx-swap': 'outerHTML',
          'hx-select': '#backlog',
        }
      : {};
  const link = (state: 'pending' | 'dead', number: number) => (
    <a href={`${pathTo(visit, 'deliveries')}?state=${state}&endpointId=${id}`}>{count(number)}</a>
  );
  return (
    <div id="backlog" {...refresh} role="status">
      <dl>
        <dt>{t('endpoints.pending')}</dt>
        <dd>{link('pending', pending)}</dd>
        <dt>{t('endpoints.dead')}</dt>
        <dd>{link('dead', dead)}</dd>
      </dl>
    </div>
  );
}

interface DetailProps {
  visit: Visit;
  endpoint: Endpoint;
  figures: EndpointFigures | null;
  rows: readonly DeliveryRow[];
  next: string | null;
  problem: AppError | null;
  message: VNode | null;
  backlog: VNode;
  preview: (ReplayedEvents & { replay: Replay }) | null;
  now: Date;
}

export function EndpointDetail(props: DetailProps): JSX.Element {
  const { visit, endpoint, figures, rows, next, problem, message, backlog, now } = props;
  const { t, language } = visit;
  const { id, isEnabled, previousSecretUntil, createdAt, includesPersonalData } = endpoint;
  const types =
    endpoint.eventTypes.length === 0
      ? t('endpoints.allTypes')
      : endpoint.eventTypes.map((type) => nameOfEvent(t, type)).join(', ');
  const isChange = problem !== null && !visit.path.endsWith('/test');
  return (
    <>
      <ConnectionDone visit={visit} />
      {message}
      {!isChange && <ProblemMessage {...{ visit, problem, labels }} />}
      <p class="wide">
        <code>{shownAddress(visit, endpoint)}</code>{' '}
        {endpoint.description && <span class="muted">{plainText(endpoint.description)}</span>}
      </p>
      <div class="cards">
        <FactList
          visit={visit}
          title="endpoints.facts"
          facts={[
            ['endpoints.state', <EndpointState {...{ visit, endpoint, figures, now }} />],
            ['endpoints.success', successRate(visit, figures)],
            ['endpoints.eventTypes', types],
            ['endpoints.personalData', t(includesPersonalData ? 'app.yes' : 'app.no')],
            ['endpoints.overlap', formatTime(previousSecretUntil, language)],
            ['connections.createdAt', formatTime(createdAt, language)],
          ]}
        />
        <Card title={t('endpoints.waiting')}>{backlog}</Card>
      </div>
      {isAllowedTo(visit, 'send again') && <SendAgain {...props} />}
      <Card title={t('deliveries.title')}>
        {rows.length === 0 ? (
          <Empty>{t(next === null ? 'deliveries.empty' : 'connections.examined')}</Empty>
        ) : (
          <DeliveryRows visit={visit} rows={rows} endpoints={[endpoint]} />
        )}
        <Pager visit={visit} next={next} />
      </Card>
      {isAllowedTo(visit, 'manage connections') && (
        <>
          <EndpointForm
            {...{ visit, endpoint, problem: isChange ? problem : null }}
            action={pathTo(visit, `endpoints/${id}`)}
          />
          <Changes visit={visit} id={id} isEnabled={isEnabled} />
        </>
      )}
    </>
  );
}

function SendAgain({ visit, endpoint: { id }, preview }: DetailProps) {
  const { t, query } = visit;
  const path = pathTo(visit, `endpoints/${id}`);
  return (
    <section class="card" id="replay">
      <h2>{t('endpoints.sendAgain')}</h2>
      <Form visit={visit} action={`${path}/test`}>
        <button class="plain">{t('endpoints.test')}</button>{' '}
        <span class="hint">{t('endpoints.test.hint')}</span>
      </Form>
      <h3>{t('endpoints.replay')}</h3>
      <p class="muted">{t('endpoints.replay.hint')}</p>
      <form class="row" method="get" action={`${path}#replay`}>
        <input type="hidden" name="preview" value="1" />
        <Select
          label={t('endpoints.replay.what')}
          {...{ name: 'what', value: query.get('what') ?? 'dead' }}
          options={[
            ['dead', t('endpoints.replay.dead')],
            ['since', t('endpoints.replay.since')],
          ]}
        />
        <Field
          label={t('endpoints.replay.time')}
          {...{ name: 'since', type: 'datetime-local', value: query.get('since') ?? '' }}
        />
        <Select
          label={t('deliveries.type')}
          {...{ name: 'eventType', value: query.get('eventType') ?? '' }}
          options={[['', t('app.any')], ...eventOptions(t)]}
        />
        <button>{t('connections.preview')}</button>
      </form>
      {query.has('preview') && <ReplayPreview visit={visit} path={path} preview={preview} />}
    </section>
  );
}

function ReplayPreview({
  visit,
  path,
  preview,
}: Pick<DetailProps, 'visit' | 'preview'> & { path: string }) {
  const { t } = visit;
  if (!preview) return <Message kind="bad">{t('endpoints.replay.noTime')}</Message>;
  const { count, isComplete, replay } = preview;
  const shown = formatCount(count);
  if (count === 0 && isComplete) return <Message kind="good">{t('endpoints.replay.none')}</Message>;
  return (
    <Form visit={visit} action={`${path}/replay`} shown={`${count} deliveries`}>
      <input type="hidden" name="what" value={replay.after === null ? 'dead' : 'since'} />
      {replay.after !== null && (
        <input type="hidden" name="after" value={replay.after.toString()} />
      )}
      {replay.eventType && <input type="hidden" name="eventType" value={replay.eventType} />}
      <Message kind="warn">
        {t('endpoints.replay.count', { count: shown })}
        {!isComplete && ` ${t('endpoints.replay.more', { count: formatCount(maxReplayed) })}`}
      </Message>
      <div class="row">
        <Reason visit={visit} />
        <button>{t('endpoints.replay.send', { count: shown })}</button>
      </div>
    </Form>
  );
}

function Changes({ visit, id, isEnabled }: { visit: Visit; id: string; isEnabled: boolean }) {
  const { t } = visit;
  const path = pathTo(visit, `endpoints/${id}`);
  const toggle = isEnabled ? 'disable' : 'enable';
  return (
    <Card title={t('connections.actions')}>
      <Form visit={visit} action={`${path}/${toggle}`}>
        <div class="row">
          <Reason visit={visit} />
          <button class="plain">{t(`endpoints.${toggle}`)}</button>
        </div>
        <p class="hint">{t(`endpoints.${toggle}.hint`)}</p>
      </Form>
      <Form visit={visit} action={`${path}/secret`}>
        <Check label={t('endpoints.rotate.atOnce')} name="atOnce" />
        <div class="row">
          <Reason visit={visit} />
          <button class="plain">{t('endpoints.rotate')}</button>
        </div>
        <p class="hint">{t('endpoints.rotate.hint')}</p>
      </Form>
      <Form visit={visit} action={`${path}/remove`}>
        <div class="row">
          <Reason visit={visit} />
          <button class="plain">{t('endpoints.remove')}</button>
        </div>
        <p class="hint">{t('endpoints.remove.hint')}</p>
      </Form>
    </Card>
  );
}
