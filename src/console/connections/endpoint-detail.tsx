// One endpoint: its state and why, its form, and what is delivered once more to it.
import type { JSX } from 'preact';
import type { RouteInput } from '../../bank-contract/route.js';
import type { WebhookEndpoint } from '../../generated/service/client.js';
import type {
  Backlog,
  DeliveryRow,
  EndpointFigures,
  ReplayedEvents,
} from '../../events/deliveries.queries.js';
import type { Replay } from '../../events/delivery-lists.service.js';
import { eventTypes } from '../../events/event-types.js';
import {
  isDeliveryPlace,
  listDeliveries,
  maxReplayed,
  placeOf,
} from '../../events/events.schema.js';
import { readPage, toList, type FoundRows, type Page } from '../../platform/http/listing.js';
import { Badge, Card, FactList, Pager, Message, Cards, Hint, Muted } from '../kit/elements.js';
import {
  AskingForm,
  Fields,
  FormCard,
  FormProblem,
  Hidden,
  Step,
  type FormFields,
} from '../kit/form.js';
import { formatCount } from '../formats.js';
import { TableCard } from '../kit/table.js';
import { readFilters } from '../list-query.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import { ConnectionDone, deliveryColumns, hostOf, plainText } from './connection-elements.js';
import { wordOf } from '../texts.js';

type Endpoint = Omit<WebhookEndpoint, 'secret' | 'previousSecret'>;

const shownDeliveries = 20;

const eventOptions = (visit: Visit) =>
  eventTypes.map((type) => [type, wordOf(visit.t, 'event', type)] as const);

export function endpointFields(visit: Visit): FormFields {
  return {
    url: {
      ...{ label: 'word.address', hint: 'endpoints.url.hint', is: 'url' },
      ...{ required: true, maxLength: 2000 },
    },
    description: { label: 'word.description', maxLength: 200 },
    eventTypes: {
      ...{ label: 'endpoints.eventTypes', hint: 'endpoints.eventTypes.hint', is: 'choices' },
      ...{ options: eventOptions(visit), isFolded: true },
    },
    includesPersonalData: {
      ...{ label: 'endpoints.personalData', hint: 'endpoints.personalData.hint', is: 'check' },
    },
    isEnabled: { label: 'endpoints.state.enabled', is: 'check' },
  };
}

/** The filters and the place of the deliveries that the address asks for. */
export function readDeliveryPage(query: URLSearchParams): {
  filters: RouteInput<typeof listDeliveries>['query'];
  page: Page;
} {
  const { filters } = readFilters(listDeliveries.query, query);
  return { filters, page: readPage({ limit: shownDeliveries, ...filters }, isDeliveryPlace) };
}

/** The whole address may hold a token of the receiver. */
export function shownAddress(visit: Visit, { url }: Pick<Endpoint, 'url'>): string {
  return callerOf(visit).scopes.includes('webhooks') ? url : hostOf(url);
}

export function EndpointState({
  endpoint: { isEnabled, pausedUntil },
  figures,
  now,
}: Pick<DetailProps, 'endpoint' | 'figures' | 'now'>) {
  const { t, time } = useVisit();
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
        {t('endpoints.why.paused', { time: time(pausedUntil) })}
      </>
    );
  return <Badge tone="good" text={t('endpoints.state.enabled')} />;
}

/** Of the newest deliveries that have ended. */
export function successRate({ t }: Visit, figures: EndpointFigures | null): string {
  const { delivered = 0, dead = 0 } = figures ?? {};
  if (delivered + dead === 0) return t('app.none');
  const percent = ((delivered / (delivered + dead)) * 100).toFixed(1).replace('.', ',');
  return `${percent} %`;
}

/** What waits at the endpoint. It refreshes itself while something is pending. */
export function EndpointBacklog({ id, pending, dead }: Backlog & { id: string }) {
  const { t, to } = useVisit();
  const refresh =
    pending > 0
      ? {
          'hx-get': to(`endpoints/${id}`),
          'hx-trigger': 'every 5s',
          'hx-swap': 'outerHTML',
          'hx-select': '#backlog',
        }
      : {};
  const link = (state: 'pending' | 'dead', number: number) => (
    <a href={`${to('deliveries')}?state=${state}&endpointId=${id}`}>
      {`${formatCount(number)}${number === maxReplayed ? '+' : ''}`}
    </a>
  );
  return (
    <div id="backlog" {...refresh} role="status">
      <dl>
        <dt>{t('endpoints.pending')}</dt>
        <dd>{link('pending', pending)}</dd>
        <dt>{t('deliveries.state.dead')}</dt>
        <dd>{link('dead', dead)}</dd>
      </dl>
    </div>
  );
}

interface DetailProps {
  endpoint: Endpoint;
  figures: EndpointFigures | null;
  found: FoundRows<DeliveryRow>;
  page: Page;
  message: JSX.Element | null;
  backlog: JSX.Element;
  preview: (ReplayedEvents & { replay: Replay }) | null;
  now: Date;
}

export function EndpointDetail(props: DetailProps) {
  const visit = useVisit();
  const { endpoint, found, page, message, backlog } = props;
  const { t, path } = visit;
  const { data: rows, next } = toList(found, page, placeOf);
  return (
    <>
      <ConnectionDone />
      {message}
      {path.endsWith('/test') && <FormProblem area="connections.problem" />}
      <p>
        <code>{shownAddress(visit, endpoint)}</code>{' '}
        {endpoint.description && <Hint>{plainText(endpoint.description)}</Hint>}
      </p>
      <Cards>
        <EndpointFacts {...props} />
        <Card title={t('endpoints.waiting')}>{backlog}</Card>
      </Cards>
      {visit.may('send again') && <SendAgain {...props} />}
      <TableCard
        {...{ rows, title: 'deliveries.title' }}
        columns={deliveryColumns(visit, [endpoint])}
        empty={next === null ? 'deliveries.empty' : 'list.searchedOn'}
      >
        <Pager next={next} />
      </TableCard>
      {visit.may('manage connections') && <Changes {...props} />}
    </>
  );
}

function EndpointFacts(props: DetailProps) {
  const visit = useVisit();
  const { endpoint, figures } = props;
  const { t, time } = visit;
  const { includesPersonalData, previousSecretUntil, createdAt } = endpoint;
  const types = endpoint.eventTypes.map((type) => wordOf(visit.t, 'event', type));
  return (
    <FactList
      title="word.facts"
      facts={[
        ['word.status', <EndpointState {...props} />],
        ['endpoints.success', successRate(visit, figures)],
        ['endpoints.eventTypes', types.join(', ') || t('endpoints.allTypes')],
        ['endpoints.personalData', t(includesPersonalData ? 'app.yes' : 'app.no')],
        ['endpoints.overlap', time(previousSecretUntil)],
        ['word.createdAt', time(createdAt)],
      ]}
    />
  );
}

function SendAgain({ endpoint: { id }, preview }: DetailProps) {
  const visit = useVisit();
  const { t, query } = visit;
  const path = visit.to(`endpoints/${id}`);
  return (
    <Card title={t('app.send')} id="replay">
      <Step {...{ action: `${path}/test`, button: 'endpoints.test' }} hint="endpoints.test.hint" />
      <h3>{t('endpoints.replay')}</h3>
      <Muted>{t('endpoints.replay.hint')}</Muted>
      <AskingForm action={`${path}#replay`}>
        <Hidden values={{ preview: '1' }} />
        <Fields
          fields={{
            what: {
              ...{ label: 'endpoints.replay.what', is: 'choice' },
              options: [
                ['dead', t('endpoints.replay.dead')],
                ['since', t('endpoints.replay.since')],
              ],
            },
            since: { label: 'endpoints.replay.time', is: 'datetime' },
            eventType: {
              ...{ label: 'deliveries.type', is: 'choice' },
              options: [['', t('app.any')], ...eventOptions(visit)],
            },
          }}
          values={Object.fromEntries(query)}
        />
        <button>{t('connections.preview')}</button>
      </AskingForm>
      {query.has('preview') && <ReplayPreview {...{ path, preview }} />}
    </Card>
  );
}

function ReplayPreview({ path, preview }: Pick<DetailProps, 'preview'> & { path: string }) {
  const { t } = useVisit();
  if (!preview) return <Message kind="bad">{t('endpoints.replay.noTime')}</Message>;
  const { count, isComplete, replay } = preview;
  const { after, eventType } = replay;
  const shown = formatCount(count);
  if (count === 0 && isComplete) return <Message kind="good">{t('endpoints.replay.none')}</Message>;
  return (
    <>
      <Message kind="warn">
        {t('endpoints.replay.count', { count: shown })}
        {!isComplete && ` ${t('endpoints.replay.more', { count: formatCount(maxReplayed) })}`}
      </Message>
      <Step
        {...{ action: `${path}/replay`, button: 'endpoints.replay.send', count: shown }}
        shown={`${count} deliveries`}
        hidden={{
          ...(after === null ? { what: 'dead' } : { what: 'since', after: `${after}` }),
          ...(eventType ? { eventType } : {}),
        }}
        asksReason
      />
    </>
  );
}

function Changes({ endpoint }: DetailProps) {
  const visit = useVisit();
  const { id, url, description, includesPersonalData, isEnabled, eventTypes } = endpoint;
  const path = visit.to(`endpoints/${id}`);
  const toggle = isEnabled ? 'disable' : 'enable';
  return (
    <>
      <FormCard
        {...{ action: path, fields: endpointFields(visit) }}
        values={{ url, description, includesPersonalData, isEnabled, eventTypes }}
        title="word.change"
        shown={endpoint.updatedAt.toISOString()}
        button="app.save"
        asksReason
      />
      <FormCard
        action={`${path}/secret`}
        fields={{ atOnce: { label: 'endpoints.rotate.atOnce', is: 'check' } }}
        title="endpoints.rotate"
        intro="endpoints.rotate.hint"
        button="endpoints.rotate"
        asksReason
      />
      <Card title={visit.t('word.actions')}>
        <Step
          {...{ action: `${path}/${toggle}`, button: `endpoints.${toggle}` }}
          hint={`endpoints.${toggle}.hint`}
          asksReason
        />
        <Step
          {...{ action: `${path}/remove`, button: 'word.remove' }}
          hint="endpoints.remove.hint"
          asksReason
        />
      </Card>
    </>
  );
}
