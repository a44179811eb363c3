// The inbox of the bank's webhooks: the list, one webhook with what it led to, and what a person
// decides about those in quarantine.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { orderedListQuery, toList } from '../../platform/http/listing.js';
import {
  maxAtOnce,
  readWebhookFilters,
  webhookQuery,
  webhookStates,
} from '../../webhooks/received/received-webhooks.schema.js';
import { ReceivedWebhooks } from '../../webhooks/received/received-webhooks.service.js';
import { formatCount } from '../formats.js';
import { Card, Message, ButtonLink, Muted } from '../kit/elements.js';
import { Step } from '../kit/form.js';
import { listPage } from '../kit/list-page.js';
import { readFilters } from '../list-query.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, requireReason, type Visit } from '../visit.js';
import { ConnectionDone, doneAt } from './connection-elements.js';
import { readPlace, readWebhookId, webhookIdOf, writePlace } from './webhook-address.js';
import { decisions, WebhookDetail, ShownReference, WebhookState } from './webhook-detail.js';

const needs = 'view';

@Controller()
export class WebhookPages {
  constructor(private readonly received: ReceivedWebhooks) {}

  @ConsolePage('webhooks', needs, { title: 'webhooks.title', section: 'connections', place: 64 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return listPage({
      visit,
      title: 'webhooks.title',
      empty: 'webhooks.empty',
      before: (
        <>
          {await this.decisionOf(visit)}
          <ConnectionDone />
          <Muted>{visit.t('webhooks.intro')}</Muted>
        </>
      ),
      query: orderedListQuery(webhookQuery.shape),
      filters: {
        state: { label: 'word.status', options: webhookStates, of: 'webhooks.state' },
        eventType: { label: 'word.type' },
        from: { label: 'word.from', type: 'date' },
        to: { label: 'word.to', type: 'date' },
      },
      isCursor: (text) => readPlace(text) !== null,
      read: async (page, filters) => {
        const { rows, lastExamined } = await this.received.listPage(
          visit.accountId,
          readWebhookFilters(filters),
          { ...page, after: readPlace(page.after) },
        );
        const found = { rows, lastExamined: lastExamined && writePlace(lastExamined) };
        return toList(found, page, writePlace);
      },
      total: (filters) => this.received.total(visit.accountId, readWebhookFilters(filters)),
      columns: () => ({
        'webhooks.receivedAt': {
          at: ({ receivedAt }) => receivedAt,
          href: (row) => visit.to(`webhooks/${webhookIdOf(row)}`),
          isOrder: true,
        },
        'word.status': ({ state }) => <WebhookState state={state} />,
        'word.type': { wide: ({ eventType }) => <code>{eventType}</code> },
        'word.reference': { wide: (row) => <ShownReference row={row} /> },
        'webhooks.copies': { count: ({ copies }) => copies },
      }),
    });
  }

  @ConsolePage('webhooks/:id', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    const isVisible = seesPersonalData(callerOf(visit).scopes);
    const found = await this.received.get(visit.accountId, key, isVisible);
    const title = visit.t('webhooks.one', { type: key.eventType });
    return new Shown(title, <WebhookDetail id={webhookIdOf(key)} found={found} />);
  }

  @ConsoleAction('webhooks/:id/process', 'send again', 'process webhook again', subjectOf)
  async process(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    const { accountId } = visit;
    requireReason(visit);
    await this.received.get(accountId, key, false);
    await this.received.processAgain(accountId, [key]);
    return new Redirect(doneAt(visit, `webhooks/${webhookIdOf(key)}`, 'processing'));
  }

  @ConsoleAction('webhooks/:id/discard', 'send again', 'discard webhook', subjectOf)
  async discard(@Visiting() visit: Visit): Promise<PageAnswer> {
    const key = readWebhookId(visit.params.id ?? '');
    requireReason(visit);
    const count = await this.received.discard(visit.accountId, [key]);
    return new Redirect(doneAt(visit, `webhooks/${webhookIdOf(key)}`, 'discarded', count));
  }

  @ConsoleAction('webhooks/process', 'send again', 'process webhooks again', filterSubject)
  async processAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const filters = quarantinedOf(visit.form);
    const { count } = await this.received.processAllAgain(visit.accountId, filters);
    return new Redirect(doneAt(visit, 'webhooks', 'processing', count));
  }

  @ConsoleAction('webhooks/discard', 'send again', 'discard webhooks', filterSubject)
  async discardAll(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const filters = quarantinedOf(visit.form);
    const { count } = await this.received.discardAll(visit.accountId, filters);
    return new Redirect(doneAt(visit, 'webhooks', 'discarded', count));
  }

  /** What a person is about to decide about all quarantined webhooks of the filters. */
  private async decisionOf(visit: Visit): Promise<JSX.Element | null> {
    const { t, query, path } = visit;
    if (!visit.may('send again')) return null;
    if (!query.has('decide'))
      return query.get('state') === 'quarantined' ? wayToDecide(visit) : null;
    const filters = quarantinedOf(query);
    const { count, isComplete } = await this.received.preview(visit.accountId, filters);
    const shown = formatCount(count);
    return (
      <Card title={t('webhooks.decide')}>
        <p>{t('webhooks.decide.count', { count: shown })}</p>
        {!isComplete && (
          <Message kind="warn">
            {t('webhooks.decide.more', { count: formatCount(maxAtOnce) })}
          </Message>
        )}
        {count > 0 &&
          decisions.map((name) => (
            <Step
              {...{ action: visit.to(`webhooks/${name}`), count: shown }}
              button={`webhooks.${name}.all`}
              hint={`webhooks.${name}.hint`}
              shown={`${count} quarantined`}
              hidden={readFilters(webhookQuery, query).filters}
              asksReason
            />
          ))}
        <p>
          <a href={`${path}?state=quarantined`}>{t('app.cancel')}</a>
        </p>
      </Card>
    );
  }
}

function wayToDecide({ t, path, query }: Visit): JSX.Element {
  const decide = new URLSearchParams([...query, ['decide', '1']]);
  decide.delete('cursor');
  return (
    <p>
      <ButtonLink href={`${path}?${decide.toString()}`}>{t('webhooks.decide')}</ButtonLink>
    </p>
  );
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

function quarantinedOf(given: URLSearchParams) {
  const { filters } = readFilters(webhookQuery, given);
  return { ...readWebhookFilters(filters), state: 'quarantined' as const };
}
