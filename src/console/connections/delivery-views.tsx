// How deliveries look: the list, and one with the body of its event.
import type { JSX } from 'preact';
import type { DeliveryRow } from '../../events/deliveries.queries.js';
import type { Deliveries } from '../../events/delivery-lists.service.js';
import type { WebhookEndpoint } from '../../generated/service/client.js';
import type { AppError } from '../../platform/errors.js';
import { Card, FactList, Timeline } from '../kit/elements.js';
import { formatCount, formatTime } from '../formats.js';
import { DataTable, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { isAllowedTo, pathTo } from '../visit.js';
import {
  DeliveryBadge,
  describeFailure,
  ConnectionDone,
  hostOf,
  JsonText,
  nameOfEvent,
  prettyJson,
  ProblemMessage,
  Reason,
  Select,
} from './connection-elements.js';

type NamedEndpoint = Pick<WebhookEndpoint, 'id' | 'url'>;

export function DeliveryRows({
  visit,
  rows,
  endpoints,
}: {
  visit: Visit;
  rows: readonly DeliveryRow[];
  endpoints: readonly NamedEndpoint[];
}): JSX.Element {
  const { t, language } = visit;
  const hosts = new Map(endpoints.map(({ id, url }) => [id, hostOf(url)]));
  return (
    <DataTable
      visit={visit}
      name={t('deliveries.title')}
      columns={[
        'connections.createdAt',
        'deliveries.state',
        'deliveries.type',
        'deliveries.endpoint',
        'deliveries.attempts',
        'deliveries.result',
      ]}
      numbers={['deliveries.attempts']}
    >
      {rows.map((row) => (
        <tr>
          <td>
            <a href={pathTo(visit, `deliveries/${row.id}`)}>
              {formatTime(row.createdAt, language)}
            </a>
          </td>
          <td>
            <DeliveryBadge visit={visit} state={row.state} />
          </td>
          <td>{nameOfEvent(t, row.type)}</td>
          <td class="wide">
            {hosts.has(row.endpointId) ? (
              <a href={pathTo(visit, `endpoints/${row.endpointId}`)}>{hosts.get(row.endpointId)}</a>
            ) : (
              t('endpoints.removed')
            )}
          </td>
          <td class="number">{formatCount(row.attempts)}</td>
          <td>
            {row.lastError === null
              ? (row.lastStatus ?? t('app.none'))
              : describeFailure(t, row.lastError)}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

type Found = Awaited<ReturnType<Deliveries['get']>>;

interface DetailProps {
  visit: Visit;
  found: Found;
  endpoints: readonly NamedEndpoint[];
  problem: AppError | null;
}

export function DeliveryDetail({ visit, found, endpoints, problem }: DetailProps): JSX.Element {
  const { t } = visit;
  const { event } = found;
  const head = { type: event.type, timestamp: event.createdAt.toISOString() };
  const resource = { kind: event.resourceKind, id: event.resourceId };
  const body = `${JSON.stringify({ ...head, resource, sequence: event.sequence }).slice(0, -1)},"data":${event.data}}`;
  return (
    <>
      <ConnectionDone visit={visit} />
      <ProblemMessage visit={visit} problem={problem} />
      <div class="cards">
        <DeliveryFacts visit={visit} found={found} />
        <Card title={t('deliveries.story')}>
          <Story visit={visit} found={found} />
        </Card>
      </div>
      <Card title={t('deliveries.body')}>
        <p class="hint">{t('deliveries.body.hint')}</p>
        <JsonText label={t('deliveries.body')} text={prettyJson(body)} />
      </Card>
      {isAllowedTo(visit, 'send again') && (
        <Card title={t('deliveries.replay')}>
          <p class="muted">{t('deliveries.replay.hint')}</p>
          <Form
            visit={visit}
            action={pathTo(visit, `deliveries/${found.id}/replay`)}
            shown={`${found.state} ${found.attempts}`}
          >
            <div class="row">
              <Select
                label={t('deliveries.endpoint')}
                {...{ name: 'endpointId', value: found.endpointId }}
                options={endpoints.map(({ id, url }) => [id, hostOf(url)] as const)}
              />
              <Reason visit={visit} />
              <button>{t('deliveries.replay')}</button>
            </div>
          </Form>
        </Card>
      )}
    </>
  );
}

function DeliveryFacts({ visit, found }: { visit: Visit; found: Found }) {
  const { t, language } = visit;
  const { event, webhookEndpoint } = found;
  const isRemoved = webhookEndpoint.deletedAt !== null;
  return (
    <FactList
      visit={visit}
      title="deliveries.facts"
      facts={[
        ['deliveries.state', <DeliveryBadge visit={visit} state={found.state} />],
        ['deliveries.type', nameOfEvent(t, event.type)],
        [
          'deliveries.endpoint',
          isRemoved ? (
            t('endpoints.removed')
          ) : (
            <a href={pathTo(visit, `endpoints/${found.endpointId}`)}>
              {hostOf(webhookEndpoint.url)}
            </a>
          ),
        ],
        ['deliveries.attempts', formatCount(found.attempts)],
        ['deliveries.lastStatus', found.lastStatus?.toString() ?? t('app.none')],
        ['deliveries.lastError', describeFailure(t, found.lastError)],
        ['deliveries.nextAttemptAt', formatTime(found.nextAttemptAt, language)],
        ['deliveries.eventId', <code>{event.id}</code>],
        ['deliveries.position', formatCount(event.position)],
      ]}
    />
  );
}

function Story({ visit, found }: { visit: Visit; found: Found }) {
  const { t } = visit;
  const { event, state, lastError, attempts, deliveredAt, nextAttemptAt } = found;
  const failed = lastError !== null && attempts > 0;
  return (
    <Timeline
      visit={visit}
      entries={[
        { at: event.createdAt, tone: 'plain' as const, title: t('deliveries.story.event') },
        ...(failed
          ? [{ at: null, tone: 'bad' as const, title: describeFailure(t, lastError) }]
          : []),
        ...(state === 'delivered'
          ? [{ at: deliveredAt, tone: 'good' as const, title: t('deliveries.state.delivered') }]
          : []),
        ...(state === 'pending'
          ? [{ at: nextAttemptAt, tone: 'warn' as const, title: t('deliveries.story.next') }]
          : []),
        ...(state === 'dead'
          ? [{ at: null, tone: 'bad' as const, title: t('deliveries.story.dead') }]
          : []),
      ]}
    />
  );
}
