// Deliveries of events to endpoints: the list, one with its event, and its replay.
import { Controller } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { Deliveries } from '../../events/delivery-lists.service.js';
import { placeOf } from '../../events/events.schema.js';
import { EndpointsService } from '../../events/endpoints.service.js';
import { EventsService } from '../../events/events.service.js';
import { DeliveryState } from '../../generated/service/enums.js';
import type { AppError } from '../../platform/errors.js';
import { readUuid, toList } from '../../platform/http/listing.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Empty, Filters, Pager } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, callerOf, pathId, requireReason, typed } from '../visit.js';
import { DeliveryDetail, DeliveryRows } from './delivery-views.js';
import {
  doneAt,
  ConnectionDone,
  eventOptions,
  findProblem,
  nameOfEvent,
  hostOf,
} from './connection-elements.js';
import { statusOf } from '../kit/form.js';
import { readDeliveryPage } from './list-address.js';

const deliveries = '/console/accounts/:account/deliveries';
const needs = 'view';
const pageSize = 50;
/** More than an account may have, unless its quota was raised. */
const listedEndpoints = 100;

@Controller()
export class DeliveryPages {
  constructor(
    private readonly deliveries: Deliveries,
    private readonly endpoints: EndpointsService,
    private readonly events: EventsService,
  ) {}

  @ConsolePage({
    path: deliveries,
    needs,
    menu: { title: 'deliveries.title', section: 'connections', place: 67 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const { id } = accountOf(visit);
    const { filters, wrong, page } = readDeliveryPage(query, pageSize);
    const [found, endpoints] = await Promise.all([
      this.deliveries.listPage(id, filters, page),
      this.endpoints.listPage(id, { after: null, limit: listedEndpoints }),
    ]);
    const { data: rows, next } = toList(found, page, placeOf);
    const states = Object.values(DeliveryState).map(
      (state) => [state, t(`deliveries.state.${state}`)] as const,
    );
    const body = (
      <>
        <ConnectionDone visit={visit} />
        <p class="muted">{t('deliveries.intro')}</p>
        <Filters
          visit={visit}
          wrong={wrong}
          fields={[
            { name: 'state', label: 'deliveries.state', options: states },
            {
              ...{ name: 'endpointId', label: 'deliveries.endpoint' },
              options: endpoints.map(({ id: endpointId, url }) => [endpointId, hostOf(url)]),
            },
            {
              ...{ name: 'eventType', label: 'deliveries.type' },
              options: eventOptions(t),
            },
          ]}
        />
        <div class="card">
          {rows.length === 0 ? (
            <Empty>{t(next === null ? 'deliveries.empty' : 'connections.examined')}</Empty>
          ) : (
            <DeliveryRows {...{ visit, rows, endpoints }} />
          )}
          <Pager visit={visit} next={next} />
        </div>
      </>
    );
    return new Shown(t('deliveries.title'), body);
  }

  @ConsolePage({ path: `${deliveries}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, null);
  }

  @ConsoleAction({
    path: `${deliveries}/:id/replay`,
    needs: 'send again',
    audit: { action: 'replay delivery', subject: (visit) => `delivery ${pathId(visit)}` },
  })
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    const endpointId = typed(visit, 'endpointId');
    let replayed = '';
    const problem = await findProblem(async () => {
      const to = endpointId === '' ? undefined : readUuid(endpointId);
      ({ id: replayed } = await this.events.replay(accountOf(visit).id, id, to));
    });
    if (problem) return this.detail(visit, problem);
    return new Redirect(doneAt(visit, `deliveries/${replayed}`, 'replayed', 1));
  }

  private async detail(visit: Visit, problem: AppError | null): Promise<Shown> {
    const { id: accountId } = accountOf(visit);
    const isVisible = seesPersonalData(callerOf(visit).scopes);
    const found = await this.deliveries.get(accountId, pathId(visit), isVisible);
    const endpoints = await this.endpoints.listPage(accountId, {
      ...{ after: null, limit: listedEndpoints },
    });
    const title = visit.t('deliveries.one', { type: nameOfEvent(visit.t, found.event.type) });
    const body = <DeliveryDetail {...{ visit, found, endpoints, problem }} />;
    return new Shown(title, body, statusOf(problem));
  }
}
