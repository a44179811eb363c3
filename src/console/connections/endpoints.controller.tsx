// Endpoints of business systems: their state, who may change them, and what is sent to them again.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import { orderedListQuery, toList } from '../../platform/http/listing.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Deliveries, type Replay } from '../../events/delivery-lists.service.js';
import { DeliveryService } from '../../events/delivery.service.js';
import { createEndpoint } from '../../events/events.schema.js';
import { EndpointsService } from '../../events/endpoints.service.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { FormCard, readBody, typedBody } from '../kit/form.js';
import { Muted } from '../kit/elements.js';
import { listPage } from '../kit/list-page.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { pathId, requireReason, type Visit } from '../visit.js';
import {
  ConnectionDone,
  doneAt,
  plainText,
  SecretOnce,
  TestResultMessage,
} from './connection-elements.js';
import {
  EndpointBacklog,
  EndpointDetail,
  endpointFields,
  EndpointState,
  readDeliveryPage,
  shownAddress,
  successRate,
} from './endpoint-detail.js';
import { readReplayForm } from './replay-form.js';

const needs = 'view';
const manage = 'manage connections';

const subject = 'endpoint :id';

@Controller()
export class EndpointPages {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly delivery: DeliveryService,
    private readonly deliveries: Deliveries,
    private readonly database: Database,
  ) {}

  @ConsolePage('endpoints', needs, { title: 'endpoints.title', section: 'connections', place: 66 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const [measured, now] = await Promise.all([
      this.deliveries.measureEndpoints(accountId),
      this.database.now(),
    ]);
    const figuresOf = ({ id }: { id: string }) => measured.get(id) ?? null;
    return listPage({
      ...{ visit, title: 'endpoints.title', empty: 'endpoints.empty' },
      before: (
        <>
          <ConnectionDone />
          <Muted>{visit.t('endpoints.intro')}</Muted>
        </>
      ),
      after: visit.may(manage) && (
        <FormCard
          fields={endpointFields(visit)}
          values={{ isEnabled: true }}
          title="endpoints.create"
          action={visit.to('endpoints')}
          button="endpoints.create"
        />
      ),
      query: orderedListQuery({}),
      filters: {},
      read: async (page) =>
        toList(await this.endpoints.listPage(accountId, page), page, ({ id }) => id),
      columns: () => ({
        'word.address': {
          href: ({ id }) => visit.to(`endpoints/${id}`),
          wide: (row) => shownAddress(visit, row),
          below: {
            label: 'word.description',
            cell: ({ description }) => description && plainText(description),
          },
        },
        'word.status': (endpoint) => (
          <EndpointState {...{ endpoint, now }} figures={figuresOf(endpoint)} />
        ),
        'endpoints.success': { is: 'number', cell: (row) => successRate(visit, figuresOf(row)) },
        'endpoints.pending': { count: (row) => figuresOf(row)?.pending ?? 0 },
        'deliveries.state.dead': { count: (row) => figuresOf(row)?.dead ?? 0 },
        'list.createdAt': { at: ({ createdAt }) => createdAt, isOrder: true },
      }),
    });
  }

  @ConsoleAction('endpoints', manage, 'create endpoint', 'endpoint new')
  @ShownAgainBy('list')
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { secret } = await this.endpoints.create(visit.accountId, endpointOf(visit));
    const body = <SecretOnce secret={secret} back={visit.to('endpoints')} />;
    return new Shown(visit.t('endpoints.created'), body);
  }

  @ConsolePage('endpoints/:id', needs)
  show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit);
  }

  @ConsoleAction('endpoints/:id', manage, 'change endpoint', subject)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    await this.endpoints.update(visit.accountId, id, endpointOf(visit), maySeePersons(visit));
    return new Redirect(doneAt(visit, `endpoints/${id}`, 'saved'));
  }

  @ConsoleAction('endpoints/:id/secret', manage, 'rotate endpoint secret', subject)
  @ShownAgainBy('show')
  async rotate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    const overlapSeconds = visit.form.has('atOnce') ? 0 : undefined;
    const { secret } = await this.endpoints.rotateSecret(visit.accountId, id, overlapSeconds);
    const body = <SecretOnce secret={secret} back={visit.to(`endpoints/${id}`)} />;
    return new Shown(visit.t('endpoints.rotated'), body);
  }

  @ConsoleAction('endpoints/:id/enable', manage, 'enable endpoint', subject)
  enable(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.setEnabled(visit, true);
  }

  @ConsoleAction('endpoints/:id/disable', manage, 'disable endpoint', subject)
  disable(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.setEnabled(visit, false);
  }

  @ConsoleAction('endpoints/:id/remove', manage, 'remove endpoint', subject)
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.endpoints.remove(visit.accountId, pathId(visit));
    return new Redirect(doneAt(visit, 'endpoints', 'endpointRemoved', count));
  }

  @ConsoleAction('endpoints/:id/test', 'send again', 'send test event', subject)
  @ShownAgainBy('show')
  async test(@Visiting() visit: Visit): Promise<PageAnswer> {
    const result = await this.delivery.sendTest(visit.accountId, pathId(visit));
    return this.detail(visit, <TestResultMessage result={result} />);
  }

  @ConsoleAction('endpoints/:id/replay', 'send again', 'replay deliveries', subject)
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    requireReason(visit);
    const replay = await this.replayOf(visit, visit.form);
    if (!replay) return new Redirect(visit.to(`endpoints/${id}`));
    const { count, isComplete, lastPosition } = await this.deliveries.replay(
      visit.accountId,
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
    await this.endpoints.update(visit.accountId, id, { isEnabled }, maySend);
    return new Redirect(doneAt(visit, `endpoints/${id}`, isEnabled ? 'enabled' : 'disabled'));
  }

  private async detail(visit: Visit, message: JSX.Element | null = null): Promise<Shown> {
    const [accountId, id] = [visit.accountId, pathId(visit)];
    const endpoint = await this.endpoints.get(accountId, id);
    const part = <EndpointBacklog id={id} {...await this.deliveries.countBacklog(accountId, id)} />;
    if (visit.isRefresh) return new Shown('', part, { part });
    const { filters, page } = readDeliveryPage(visit.query);
    const found = await this.deliveries.listPage(accountId, { ...filters, endpointId: id }, page);
    const figures = (await this.deliveries.measureEndpoints(accountId)).get(id) ?? null;
    const body = (
      <EndpointDetail
        {...{ endpoint, figures, message, found, page, backlog: part }}
        preview={await this.previewOf(visit)}
        now={await this.database.now()}
      />
    );
    return new Shown(visit.t('endpoints.one'), body);
  }

  /** What the form of the address would deliver once more; null unless it asks for that. */
  private async previewOf(visit: Visit) {
    if (!visit.query.has('preview') || !visit.may('send again')) return null;
    const replay = await this.replayOf(visit, visit.query);
    if (!replay) return null;
    const found = await this.deliveries.preview(visit.accountId, replay);
    return { ...found, replay };
  }

  /** Null without a valid time where one is needed. */
  private async replayOf(visit: Visit, form: URLSearchParams): Promise<Replay | null> {
    const { what, since, after, eventType } = readReplayForm(form);
    const endpointId = pathId(visit);
    if (what === 'dead') return { endpointId, eventType, after: null };
    if (after !== null) return { endpointId, eventType, after };
    if (since === null) return null;
    const position = await this.deliveries.positionBefore(visit.accountId, since);
    return { endpointId, eventType, after: position };
  }
}

const maySeePersons = (visit: Visit) => visit.may('see personal data');

function endpointOf(visit: Visit) {
  const given = typedBody(visit, endpointFields(visit));
  given.includesPersonalData &&= maySeePersons(visit);
  const { description = null, ...fields } = readBody(createEndpoint.body, given);
  return { ...fields, description };
}
