// The inbox of the bank's webhooks: the list, one webhook with what it led to, and what a person
// decides about those in quarantine.
import { Controller } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import {
  readWebhookFilters,
  webhookQuery,
} from '../../webhooks/received/received-webhooks.schema.js';
import { ReceivedWebhooks } from '../../webhooks/received/received-webhooks.service.js';
import { readFilters } from '../list-query.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, callerOf, isAllowedTo, requireReason } from '../visit.js';
import { doneAt } from './connection-elements.js';
import { readPlace, readWebhookId, webhookIdOf, writePlace } from './webhook-address.js';
import { InboxList, QuarantineDecision, WebhookDetail } from './webhook-views.js';

const webhooks = '/console/accounts/:account/webhooks';
const needs = 'view';
const pageSize = 50;

@Controller()
export class WebhookPages {
  constructor(private readonly received: ReceivedWebhooks) {}

  @ConsolePage({
    path: webhooks,
    needs,
    menu: { title: 'webhooks.title', section: 'connections', place: 64 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { query, t } = visit;
    const { filters, wrong } = readFilters(webhookQuery, query);
    const read = readWebhookFilters(filters);
    const { id } = accountOf(visit);
    const page = { after: readPlace(query.get('cursor')), limit: pageSize };
    const { rows, lastExamined } = await this.received.listPage(id, read, page);
    const shown = rows.slice(0, pageSize);
    const last = rows.length > pageSize ? (shown.at(-1) ?? null) : lastExamined;
    const next = last ? writePlace(last) : null;
    const decided =
      query.has('decide') && isAllowedTo(visit, 'send again')
        ? await this.received.preview(id, { ...read, state: 'quarantined' })
        : null;
    const body = (
      <>
        {decided && <QuarantineDecision visit={visit} filters={filters} decided={decided} />}
        <InboxList {...{ visit, wrong, next }} rows={shown} isDeciding={decided !== null} />
      </>
    );
    return new Shown(t('webhooks.title'), body);
  }

  @ConsolePage({ path: `${webhooks}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    const isVisible = seesPersonalData(callerOf(visit).scopes);
    const found = await this.received.get(accountOf(visit).id, key, isVisible);
    const title = visit.t('webhooks.one', { type: key.eventType });
    return new Shown(title, <WebhookDetail visit={visit} id={webhookIdOf(key)} found={found} />);
  }

  @ConsoleAction({
    path: `${webhooks}/:id/process`,
    needs: 'send again',
    audit: { action: 'process webhook again', subject: subjectOf },
  })
  async process(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    const accountId = accountOf(visit).id;
    requireReason(visit);
    await this.received.get(accountId, key, false);
    await this.received.processAgain(accountId, [key]);
    return new Redirect(doneAt(visit, `webhooks/${webhookIdOf(key)}`, 'processing'));
  }

  @ConsoleAction({
    path: `${webhooks}/:id/discard`,
    needs: 'send again',
    audit: { action: 'discard webhook', subject: subjectOf },
  })
  async discard(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    requireReason(visit);
    const count = await this.received.discard(accountOf(visit).id, [key]);
    return new Redirect(doneAt(visit, `webhooks/${webhookIdOf(key)}`, 'discarded', count));
  }

  @ConsoleAction({
    path: `${webhooks}/process`,
    needs: 'send again',
    audit: { action: 'process webhooks again', subject: filterSubject },
  })
  async processAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const filters = quarantinedOf(visit);
    const { count } = await this.received.processAllAgain(accountOf(visit).id, filters);
    return new Redirect(doneAt(visit, 'webhooks', 'processing', count));
  }

  @ConsoleAction({
    path: `${webhooks}/discard`,
    needs: 'send again',
    audit: { action: 'discard webhooks', subject: filterSubject },
  })
  async discardAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const { count } = await this.received.discardAll(accountOf(visit).id, quarantinedOf(visit));
    return new Redirect(doneAt(visit, 'webhooks', 'discarded', count));
  }
}

function subjectOf({ params }: Visit): `webhook ${string}` {
  return `webhook ${webhookIdOf(readWebhookId(params.id ?? ''))}`;
}

/** The filters of the form, as the list has them in its address. */
function filterSubject({ form }: Visit): `webhooks ${string}` {
  const { filters } = readFilters(webhookQuery, form);
  const stated = Object.entries(filters).map(([name, value]) => `${name}=${value}`);
  return `webhooks ${stated.join(' ') || 'all'}`;
}

function quarantinedOf({ form }: Visit) {
  const { filters } = readFilters(webhookQuery, form);
  return { ...readWebhookFilters(filters), state: 'quarantined' as const };
}
