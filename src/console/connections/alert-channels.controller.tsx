// Channels that get alerts: e-mail, Slack and webhooks, with the messages that each got.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import type { AlertChannel } from '../../generated/service/client.js';
import type { AlertChannelKind } from '../../generated/service/enums.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { AlertChannels } from '../../reporting/alerts/alert-channels.service.js';
import { Alerts } from '../../reporting/alerts/alerts.service.js';
import {
  channelKinds,
  channelLanguages,
  createChannel,
  updateChannel,
} from '../../reporting/alerts/channels.schema.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { formatCount } from '../formats.js';
import { Card, FactList, Pager, Muted } from '../kit/elements.js';
import { typedBody, FormCard, FormProblem, readBody, Step, type FormFields } from '../kit/form.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable, TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { pathId, requireReason, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import {
  ConnectionDone,
  DeliveryBadge,
  doneAt,
  plainText,
  outcomeOf,
  SecretOnce,
  TestResultMessage,
} from './connection-elements.js';

const needs = 'view';
const manage = 'manage connections';
/** More than an account may have. */
const all = { after: null, limit: 100 } as const;
const shownMessages = 20;
const subject = 'alert-channel :id';

/** An address that is not typed again stays: it is never shown. */
function fieldsOf({ t }: Visit, kind: AlertChannelKind, isNew: boolean): FormFields {
  const hint: TextKey =
    kind === 'email' ? 'alertChannels.recipients.hint' : `alertChannels.url.${kind}`;
  const destination = { hint: isNew ? hint : 'alertChannels.keep', required: isNew } as const;
  return {
    name: { label: 'word.name', required: true, maxLength: 100 },
    ...(kind === 'email'
      ? { recipients: { label: 'alertChannels.recipients', is: 'list', ...destination } }
      : { url: { label: 'word.address', is: 'url', maxLength: 2000, ...destination } }),
    language: {
      label: 'alertChannels.language',
      is: 'choice',
      options: channelLanguages.map((one) => [one, t(`alertChannels.language.${one}`)]),
    },
  };
}

@Controller()
export class AlertChannelPages {
  constructor(
    private readonly channels: AlertChannels,
    private readonly alerts: Alerts,
  ) {}

  @ConsolePage('alert-channels', needs, {
    title: 'alertChannels.title',
    section: 'connections',
    place: 70,
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const path = visit.to('alert-channels');
    const rows = await this.channels.listPage(visit.accountId, all);
    const body = (
      <>
        <ConnectionDone />
        <Muted>{t('alertChannels.intro')}</Muted>
        <ListCard>
          <ListTable
            {...{ rows, name: 'alertChannels.title', empty: 'alertChannels.empty' }}
            columns={{
              'word.name': {
                wide: ({ id, name }) => (
                  <a href={visit.to(`alert-channels/${id}`)}>{plainText(name)}</a>
                ),
              },
              'alertChannels.kind': ({ kind }) => t(`alertChannels.kind.${kind}`),
              'alertChannels.target': { wide: (row) => this.targetOf(row) },
              'alertChannels.language': ({ language }) => t(`alertChannels.language.${language}`),
            }}
          />
        </ListCard>
        {visit.may(manage) &&
          channelKinds.map((kind) => (
            <FormCard
              {...{ action: path, isSent: visit.form.get('kind') === kind }}
              {...{ fields: fieldsOf(visit, kind, true), hidden: { kind } }}
              title={`alertChannels.create.${kind}`}
              intro={`alertChannels.explain.${kind}`}
              values={{ language: visit.language }}
              button="alertChannels.create"
            />
          ))}
      </>
    );
    return new Shown(t('alertChannels.title'), body);
  }

  @ConsoleAction('alert-channels', manage, 'create alert channel', 'alert-channel new')
  @ShownAgainBy('list')
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const kind = channelKinds.find((one) => one === visit.form.get('kind')) ?? 'email';
    const given = { kind, ...typedBody(visit, fieldsOf(visit, kind, true)) };
    const body = readBody(createChannel.body, given);
    const { channel, secret } = await this.channels.create(visit.accountId, body);
    const page = `alert-channels/${channel.id}`;
    if (secret === null) return new Redirect(doneAt(visit, page, 'saved'));
    return new Shown(
      visit.t('alertChannels.created'),
      <SecretOnce secret={secret} back={visit.to(page)} />,
    );
  }

  @ConsolePage('alert-channels/:id', needs)
  show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit);
  }

  @ConsoleAction('alert-channels/:id', manage, 'change alert channel', subject)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const [accountId, id] = [visit.accountId, pathId(visit)];
    const { kind } = await this.channels.get(accountId, id);
    requireReason(visit);
    const changes = typedBody(visit, fieldsOf(visit, kind, false));
    await this.channels.update(accountId, id, readBody(updateChannel.body, changes));
    return new Redirect(doneAt(visit, `alert-channels/${id}`, 'saved'));
  }

  @ConsoleAction('alert-channels/:id/test', manage, 'send test message', subject)
  @ShownAgainBy('show')
  async test(@Visiting() visit: Visit): Promise<PageAnswer> {
    const result = await this.channels.sendTest(visit.accountId, pathId(visit));
    return this.detail(visit, <TestResultMessage result={result} />);
  }

  @ConsoleAction('alert-channels/:id/remove', manage, 'remove alert channel', subject)
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.channels.remove(visit.accountId, pathId(visit));
    return new Redirect(doneAt(visit, 'alert-channels', 'channelRemoved', count));
  }

  @ConsoleAction(
    'alert-channels/:id/messages/:message/replay',
    'send again',
    'replay alert message',
    'alert-message :message',
  )
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.alerts.replay(visit.accountId, pathId(visit, 'message'));
    return new Redirect(doneAt(visit, `alert-channels/${pathId(visit)}`, 'replayed', 1));
  }

  private async detail(visit: Visit, message: JSX.Element | null = null): Promise<Shown> {
    const { t } = visit;
    const channel = await this.channels.get(visit.accountId, pathId(visit));
    const { id, kind, name, language, updatedAt } = channel;
    const path = visit.to(`alert-channels/${id}`);
    const body = (
      <>
        <ConnectionDone />
        {message}
        {visit.path.endsWith('/test') && <FormProblem area="connections.problem" />}
        <FactList
          title="word.facts"
          facts={[
            ['alertChannels.kind', t(`alertChannels.kind.${kind}`)],
            ['alertChannels.target', this.targetOf(channel)],
            ['alertChannels.language', t(`alertChannels.language.${language}`)],
            ['word.createdAt', visit.time(channel.createdAt)],
          ]}
        />
        {await this.messagesOf(visit, id)}
        {visit.may(manage) && (
          <>
            <FormCard
              fields={fieldsOf(visit, kind, false)}
              values={{ name, language }}
              title="word.change"
              intro={`alertChannels.explain.${kind}`}
              area="connections.problem"
              action={path}
              shown={updatedAt.toISOString()}
              button="app.save"
              asksReason
            />
            <Card title={t('word.actions')}>
              <Step
                {...{ action: `${path}/test`, button: 'alertChannels.test' }}
                hint="alertChannels.test.hint"
              />
              <Step
                {...{ action: `${path}/remove`, button: 'alertChannels.remove' }}
                hint="alertChannels.remove.hint"
                asksReason
              />
            </Card>
          </>
        )}
      </>
    );
    return new Shown(plainText(name), body);
  }

  private async messagesOf(visit: Visit, channelId: string): Promise<JSX.Element> {
    const { t } = visit;
    const cursor = visit.query.get('cursor') ?? undefined;
    const page = readPage({ limit: shownMessages, cursor }, isUuid);
    const found = await this.alerts.listNotifications(visit.accountId, { channelId }, page);
    const { data: rows, next } = toList(found, page, ({ id }) => id);
    const path = visit.to(`alert-channels/${channelId}`);
    return (
      <TableCard
        {...{ rows, title: 'alertChannels.messages' }}
        empty="alertChannels.messages.empty"
        columns={{
          'word.createdAt': { at: ({ createdAt }) => createdAt },
          'word.message': ({ message }) => t(`alertChannels.message.${message.kind}`),
          'word.alerts': ({ message: { ruleId, alertCount } }) => (
            <a href={`${visit.to('alerts')}?ruleId=${ruleId}`}>{formatCount(alertCount)}</a>
          ),
          'word.status': ({ state }) => <DeliveryBadge state={state} />,
          'deliveries.result': outcomeOf(visit),
          'word.actions':
            visit.may('send again') &&
            (({ id, state }) =>
              state !== 'pending' && (
                <Step action={`${path}/messages/${id}/replay`} button="deliveries.replay" />
              )),
        }}
      >
        <Pager next={next} />
      </TableCard>
    );
  }

  /** Masked: recipients are people, and an address may be a secret. */
  private targetOf(channel: AlertChannel): string {
    return this.channels.targetOf(channel).join(', ');
  }
}
