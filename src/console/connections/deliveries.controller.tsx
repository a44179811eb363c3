// Deliveries of events to endpoints: the list, one with its event, and its replay.
import { Controller } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { Deliveries } from '../../events/delivery-lists.service.js';
import { eventTypes } from '../../events/event-types.js';
import { isDeliveryPlace, listDeliveries, placeOf } from '../../events/events.schema.js';
import { EndpointsService } from '../../events/endpoints.service.js';
import { EventsService } from '../../events/events.service.js';
import { DeliveryState } from '../../generated/service/enums.js';
import { readUuid, toList } from '../../platform/http/listing.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { formatCount } from '../formats.js';
import { Card, Code, FactList, Timeline, Cards, Hint, Muted } from '../kit/elements.js';
import { FormCard } from '../kit/form.js';
import { listPage } from '../kit/list-page.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, typed, useVisit, type Visit } from '../visit.js';
import {
  ConnectionDone,
  deliveryColumns,
  DeliveryBadge,
  describeFailure,
  doneAt,
  hostOf,
  prettyJson,
} from './connection-elements.js';
import { wordOf } from '../texts.js';

const needs = 'view';
/** More than an account may have, unless its quota was raised. */
const allEndpoints = { after: null, limit: 100 } as const;

@Controller()
export class DeliveryPages {
  constructor(
    private readonly deliveries: Deliveries,
    private readonly endpoints: EndpointsService,
    private readonly events: EventsService,
  ) {}

  @ConsolePage('deliveries', needs, {
    title: 'deliveries.title',
    section: 'connections',
    place: 67,
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const endpoints = await this.endpoints.listPage(accountId, allEndpoints);
    return listPage({
      visit,
      title: 'deliveries.title',
      empty: 'deliveries.empty',
      before: (
        <>
          <ConnectionDone />
          <Muted>{visit.t('deliveries.intro')}</Muted>
        </>
      ),
      query: listDeliveries.query,
      filters: {
        state: {
          label: 'word.status',
          options: Object.values(DeliveryState),
          of: 'deliveries.state',
        },
        endpointId: {
          label: 'deliveries.endpoint',
          options: endpoints.map(({ id, url }) => [id, hostOf(url)] as const),
        },
        eventType: { label: 'deliveries.type', options: eventTypes, of: 'event' },
      },
      isCursor: isDeliveryPlace,
      read: async (page, filters) =>
        toList(await this.deliveries.listPage(accountId, filters, page), page, placeOf),
      total: (filters) => this.deliveries.total(accountId, filters),
      columns: () => deliveryColumns(visit, endpoints),
    });
  }

  @ConsoleAction('deliveries/:id/replay', 'send again', 'replay delivery', 'delivery :id')
  @ShownAgainBy('show')
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    const endpointId = typed(visit, 'endpointId');
    const to = endpointId === '' ? undefined : readUuid(endpointId);
    const replay = await this.events.replay(visit.accountId, id, to);
    return new Redirect(doneAt(visit, `deliveries/${replay.id}`, 'replayed', 1));
  }

  @ConsolePage('deliveries/:id', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { accountId } = visit;
    const isVisible = seesPersonalData(callerOf(visit).scopes);
    const found = await this.deliveries.get(accountId, pathId(visit), isVisible);
    const endpoints = await this.endpoints.listPage(accountId, allEndpoints);
    const { id, endpointId, state, attempts } = found;
    const body = (
      <>
        <ConnectionDone />
        <Cards>
          <DeliveryFacts found={found} />
          <Card title={t('word.whatHappened')}>
            <Story found={found} />
          </Card>
        </Cards>
        <Card title={t('deliveries.body')}>
          <Hint>{t('deliveries.body.hint')}</Hint>
          <Code label={t('deliveries.body')} text={bodyOf(found)} />
        </Card>
        {visit.may('send again') && (
          <FormCard
            title="deliveries.replay"
            intro="deliveries.replay.hint"
            action={visit.to(`deliveries/${id}/replay`)}
            shown={`${state} ${attempts}`}
            fields={{
              endpointId: {
                label: 'deliveries.endpoint',
                is: 'choice',
                options: endpoints.map((one) => [one.id, hostOf(one.url)]),
              },
            }}
            values={{ endpointId }}
            button="deliveries.replay"
            asksReason
          />
        )}
      </>
    );
    const title = t('deliveries.one', { type: wordOf(visit.t, 'event', found.event.type) });
    return new Shown(title, body);
  }
}

type Found = Awaited<ReturnType<Deliveries['get']>>;

/** As the endpoint gets it. */
function bodyOf({ event }: Found): string {
  const head = { type: event.type, timestamp: event.createdAt.toISOString() };
  const resource = { kind: event.resourceKind, id: event.resourceId };
  const start = JSON.stringify({ ...head, resource, sequence: event.sequence }).slice(0, -1);
  return prettyJson(`${start},"data":${event.data}}`);
}

function DeliveryFacts({ found }: { found: Found }) {
  const { t, time, to } = useVisit();
  const { event, webhookEndpoint } = found;
  const isRemoved = webhookEndpoint.deletedAt !== null;
  return (
    <FactList
      title="word.facts"
      facts={[
        ['word.status', <DeliveryBadge state={found.state} />],
        ['deliveries.type', wordOf(t, 'event', event.type)],
        [
          'deliveries.endpoint',
          isRemoved ? (
            t('endpoints.removed')
          ) : (
            <a href={to(`endpoints/${found.endpointId}`)}>{hostOf(webhookEndpoint.url)}</a>
          ),
        ],
        ['deliveries.attempts', formatCount(found.attempts)],
        ['deliveries.lastStatus', found.lastStatus?.toString() ?? t('app.none')],
        ['deliveries.lastError', describeFailure(t, found.lastError)],
        ['word.nextAttempt', time(found.nextAttemptAt)],
        ['deliveries.eventId', <code>{event.id}</code>],
        ['deliveries.position', formatCount(event.position)],
      ]}
    />
  );
}

function Story({ found }: { found: Found }) {
  const { t } = useVisit();
  const { event, state, lastError, attempts, deliveredAt, nextAttemptAt } = found;
  const ends = {
    delivered: { at: deliveredAt, tone: 'good', title: t('deliveries.state.delivered') },
    pending: { at: nextAttemptAt, tone: 'warn', title: t('word.nextAttempt') },
    dead: { at: null, tone: 'bad', title: t('deliveries.story.dead') },
  } as const;
  return (
    <Timeline
      entries={[
        { at: event.createdAt, tone: 'plain', title: t('deliveries.story.event') },
        ...(lastError !== null && attempts > 0
          ? [{ at: null, tone: 'bad' as const, title: describeFailure(t, lastError) }]
          : []),
        ends[state],
      ]}
    />
  );
}
