// Endpoints of business systems: their state, who may change them, and their deliveries.
import { Controller } from '@nestjs/common';
import type { VNode } from 'preact';
import { Database } from '../../platform/postgres/database.service.js';
import { Deliveries, type Replay } from '../../events/delivery-lists.service.js';
import { DeliveryService } from '../../events/delivery.service.js';
import { placeOf } from '../../events/events.schema.js';
import { EndpointsService } from '../../events/endpoints.service.js';
import { createEndpoint } from '../../events/events.schema.js';
import type { AppError } from '../../platform/errors.js';
import { toList } from '../../platform/http/listing.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, isAllowedTo, pathId, pathTo, requireReason, typed } from '../visit.js';
import { doneAt, findProblem } from './connection-elements.js';
import { readBody, statusOf } from '../kit/form.js';
import {
  BacklogView,
  EndpointDetail,
  EndpointForm,
  EndpointList,
  SecretOnce,
  TestResultMessage,
} from './endpoint-views.js';
import { readDeliveryPage } from './list-address.js';
import { readReplayForm } from './replay-form.js';

const endpoints = '/console/accounts/:account/endpoints';
const needs = 'view';
const manage = 'manage connections';
const pageSize = 50;
const shownDeliveries = 20;

const subject = (visit: Visit) => `endpoint ${pathId(visit)}` as const;

@Controller()
export class EndpointPages {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly delivery: DeliveryService,
    private readonly deliveries: Deliveries,
    private readonly database: Database,
  ) {}

  @ConsolePage({
    path: endpoints,
    needs,
    menu: { title: 'endpoints.title', section: 'connections', place: 66 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.listPage(visit, null);
  }

  @ConsoleAction({
    path: endpoints,
    needs: manage,
    audit: { action: 'create endpoint', subject: () => 'endpoint new' },
  })
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    let secret = '';
    const problem = await findProblem(async () => {
      const { description = null, ...fields } = readBody(createEndpoint.body, formOf(visit));
      const created = await this.endpoints.create(accountOf(visit).id, { ...fields, description });
      ({ secret } = created);
    });
    if (problem) return this.listPage(visit, problem);
    return new Shown(
      visit.t('endpoints.created'),
      <SecretOnce visit={visit} secret={secret} back={pathTo(visit, 'endpoints')} />,
    );
  }

  @ConsolePage({ path: `${endpoints}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, null);
  }

  @ConsoleAction({
    path: `${endpoints}/:id`,
    needs: manage,
    audit: { action: 'change endpoint', subject },
  })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const problem = await findProblem(async () => {
      requireReason(visit);
      const { description = null, ...fields } = readBody(createEndpoint.body, formOf(visit));
      const changes = { ...fields, description };
      await this.endpoints.update(accountOf(visit).id, id, changes, maySeePersons(visit));
    });
    if (problem) return this.detail(visit, problem);
    return new Redirect(doneAt(visit, `endpoints/${id}`, 'saved'));
  }

  @ConsoleAction({
    path: `${endpoints}/:id/secret`,
    needs: manage,
    audit: { action: 'rotate endpoint secret', subject },
  })
  async rotate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    let secret = '';
    const problem = await findProblem(async () => {
      const overlapSeconds = visit.form.has('atOnce') ? 0 : undefined;
      const { id: accountId } = accountOf(visit);
      ({ secret } = await this.endpoints.rotateSecret(accountId, id, overlapSeconds));
    });
    if (problem) return this.detail(visit, problem);
    return new Shown(
      visit.t('endpoints.rotated'),
      <SecretOnce visit={visit} secret={secret} back={pathTo(visit, `endpoints/${id}`)} />,
    );
  }

  @ConsoleAction({
    path: `${endpoints}/:id/enable`,
    needs: manage,
    audit: { action: 'enable endpoint', subject },
  })
  async enable(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.setEnabled(visit, true);
  }

  @ConsoleAction({
    path: `${endpoints}/:id/disable`,
    needs: manage,
    audit: { action: 'disable endpoint', subject },
  })
  async disable(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.setEnabled(visit, false);
  }

  @ConsoleAction({
    path: `${endpoints}/:id/remove`,
    needs: manage,
    audit: { action: 'remove endpoint', subject },
  })
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.endpoints.remove(accountOf(visit).id, pathId(visit));
    return new Redirect(doneAt(visit, 'endpoints', 'endpointRemoved', count));
  }

  @ConsoleAction({
    path: `${endpoints}/:id/test`,
    needs: 'send again',
    audit: { action: 'send test event', subject },
  })
  async test(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    let result: Awaited<ReturnType<DeliveryService['sendTest']>> | null = null;
    const problem = await findProblem(async () => {
      result = await this.delivery.sendTest(accountOf(visit).id, id);
    });
    return this.detail(visit, problem, <TestResultMessage visit={visit} result={result} />);
  }

  @ConsoleAction({
    path: `${endpoints}/:id/replay`,
    needs: 'send again',
    audit: { action: 'replay deliveries', subject },
  })
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    const replay = await this.replayOf(visit, visit.form);
    if (!replay) return new Redirect(pathTo(visit, `endpoints/${id}`));
    const { count, isComplete, lastPosition } = await this.deliveries.replay(
      accountOf(visit).id,
      replay,
    );
    const done = doneAt(visit, `endpoints/${id}`, 'replayed', count);
    if (isComplete || lastPosition === null) return new Redirect(done);
    const rest = new URLSearchParams({ preview: '1', what: 'since', after: `${lastPosition}` });
    if (replay.eventType) rest.set('eventType', replay.eventType);
    return new Redirect(`${done}&${rest.toString()}`);
  }

  private async setEnabled(visit: Visit, isEnabled: boolean): Promise<Redirect> {
    const id = pathId(visit);
    requireReason(visit);
    const maySend = maySeePersons(visit);
    await this.endpoints.update(accountOf(visit).id, id, { isEnabled }, maySend);
    return new Redirect(doneAt(visit, `endpoints/${id}`, isEnabled ? 'enabled' : 'disabled'));
  }

  private async listPage(visit: Visit, problem: AppError | null): Promise<Shown> {
    const { id } = accountOf(visit);
    const [rows, figures] = await Promise.all([
      this.endpoints.listPage(id, { after: null, limit: pageSize }),
      this.deliveries.measureEndpoints(id),
    ]);
    const body = (
      <>
        <EndpointList {...{ visit, rows, figures }} now={await this.database.now()} />
        {isAllowedTo(visit, manage) && (
          <EndpointForm visit={visit} problem={problem} action={pathTo(visit, 'endpoints')} />
        )}
      </>
    );
    return new Shown(visit.t('endpoints.title'), body, statusOf(problem));
  }

  private async detail(
    visit: Visit,
    problem: AppError | null,
    message: VNode | null = null,
  ): Promise<Shown> {
    const accountId = accountOf(visit).id;
    const id = pathId(visit);
    const endpoint = await this.endpoints.get(accountId, id);
    const backlog = await this.deliveries.countBacklog(accountId, id);
    const part = <BacklogView visit={visit} id={id} backlog={backlog} />;
    if (visit.isRefresh) return new Shown('', part, { part });
    const { filters, page } = readDeliveryPage(visit.query, shownDeliveries);
    const found = await this.deliveries.listPage(accountId, { ...filters, endpointId: id }, page);
    const { data, next } = toList(found, page, placeOf);
    const figures = (await this.deliveries.measureEndpoints(accountId)).get(id) ?? null;
    const body = (
      <EndpointDetail
        {...{ visit, endpoint, figures, problem, message, next, backlog: part }}
        rows={data}
        preview={await this.previewOf(visit)}
        now={await this.database.now()}
      />
    );
    return new Shown(visit.t('endpoints.one'), body, statusOf(problem));
  }

  /** What the form of the address would deliver once more; null unless it asks for that. */
  private async previewOf(visit: Visit) {
    if (!visit.query.has('preview') || !isAllowedTo(visit, 'send again')) return null;
    const replay = await this.replayOf(visit, visit.query);
    if (!replay) return null;
    const found = await this.deliveries.preview(accountOf(visit).id, replay);
    return { ...found, replay };
  }

  /** Null without a valid time where one is needed. */
  private async replayOf(visit: Visit, form: URLSearchParams): Promise<Replay | null> {
    const { what, since, after, eventType } = readReplayForm(form);
    const endpointId = pathId(visit);
    if (what === 'dead') return { endpointId, eventType, after: null };
    if (after !== null) return { endpointId, eventType, after };
    if (since === null) return null;
    const position = await this.deliveries.positionBefore(accountOf(visit).id, since);
    return { endpointId, eventType, after: position };
  }
}

const maySeePersons = (visit: Visit) => isAllowedTo(visit, 'see personal data');

function formOf(visit: Visit): Record<string, unknown> {
  const { form } = visit;
  return {
    url: typed(visit, 'url'),
    description: typed(visit, 'description') || null,
    eventTypes: form.getAll('eventTypes'),
    isEnabled: form.has('isEnabled'),
    includesPersonalData: form.has('includesPersonalData') && maySeePersons(visit),
  };
}
