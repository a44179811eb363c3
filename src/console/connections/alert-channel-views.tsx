// How alert channels look: the list, their forms, and the messages of one.
import type { JSX } from 'preact';
import { channelLanguages } from '../../reporting/alerts/channels.schema.js';
import type { Alerts } from '../../reporting/alerts/alerts.service.js';
import type { AlertChannel } from '../../generated/service/client.js';
import type { AlertChannelKind } from '../../generated/service/enums.js';
import type { AppError } from '../../platform/errors.js';
import { Card, FactList, Pager } from '../elements.js';
import { formatCount, formatTime } from '../formats.js';
import { DataTable, Field, Form, StepUpNotice } from '../frame.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import {
  DeliveryBadge,
  describeFailure,
  ConnectionDone,
  plainText,
  ProblemMessage,
  Reason,
  Select,
} from './connection-elements.js';

/** With its target masked: recipients are people, and an address may be a secret. */
export type ShownChannel = Omit<AlertChannel, 'destination'> & { target: string };

const labels: Record<string, TextKey> = {
  name: 'alertChannels.name',
  url: 'alertChannels.url',
  recipients: 'alertChannels.recipients',
  language: 'alertChannels.language',
};

export function ChannelList({
  visit,
  channels,
}: {
  visit: Visit;
  channels: readonly ShownChannel[];
}): JSX.Element {
  const { t } = visit;
  return (
    <>
      <ConnectionDone visit={visit} />
      <p class="muted">{t('alertChannels.intro')}</p>
      <div class="card">
        <DataTable
          empty={t('alertChannels.empty')}
          visit={visit}
          name={t('alertChannels.title')}
          columns={[
            'alertChannels.name',
            'alertChannels.kind',
            'alertChannels.target',
            'alertChannels.language',
          ]}
        >
          {channels.map(({ id, name, kind, target, language }) => (
            <tr>
              <td class="wide">
                <a href={pathTo(visit, `alert-channels/${id}`)}>{plainText(name)}</a>
              </td>
              <td>{t(`alertChannels.kind.${kind}`)}</td>
              <td class="wide">{target}</td>
              <td>{t(`alertChannels.language.${language}`)}</td>
            </tr>
          ))}
        </DataTable>
      </div>
    </>
  );
}

export function ChannelForm({
  visit,
  kind,
  channel,
  problem,
}: {
  visit: Visit;
  kind: AlertChannelKind;
  channel: ShownChannel | null;
  problem: AppError | null;
}): JSX.Element {
  const { t, form } = visit;
  const given = (name: string, stored: string) => (problem ? (form.get(name) ?? '') : stored);
  const action = pathTo(visit, channel ? `alert-channels/${channel.id}` : 'alert-channels');
  const shown = channel ? { shown: channel.updatedAt.toISOString() } : {};
  const isNew = channel === null;
  const language = channel?.language ?? visit.language;
  return (
    <Card title={t(isNew ? `alertChannels.create.${kind}` : 'alertChannels.change')}>
      <p class="muted">{t(`alertChannels.explain.${kind}`)}</p>
      <StepUpNotice visit={visit} />
      <ProblemMessage visit={visit} problem={problem} labels={labels} />
      <Form visit={visit} action={action} {...shown}>
        <input type="hidden" name="kind" value={kind} />
        <Field
          label={t('alertChannels.name')}
          {...{ name: 'name', required: true, maxLength: 100 }}
          value={given('name', channel?.name ?? '')}
        />
        {kind === 'email' ? (
          <Field
            label={t('alertChannels.recipients')}
            hint={t(isNew ? 'alertChannels.recipients.hint' : 'alertChannels.keep')}
            {...{ name: 'recipients', required: isNew, value: given('recipients', '') }}
          />
        ) : (
          <Field
            label={t('alertChannels.url')}
            hint={t(isNew ? `alertChannels.url.${kind}` : 'alertChannels.keep')}
            {...{ name: 'url', type: 'url', required: isNew, maxLength: 2000 }}
            value={given('url', '')}
            autocomplete="off"
          />
        )}
        <Select
          label={t('alertChannels.language')}
          {...{ name: 'language', value: given('language', language) }}
          options={channelLanguages.map((one) => [one, t(`alertChannels.language.${one}`)])}
        />
        {channel && <Reason visit={visit} />}
        <button>{t(isNew ? 'alertChannels.create' : 'app.save')}</button>
      </Form>
    </Card>
  );
}

type Messages = Awaited<ReturnType<Alerts['listNotifications']>>;

export function ChannelDetail({
  visit,
  channel,
  messages,
  next,
  problem,
}: {
  visit: Visit;
  channel: ShownChannel;
  messages: Messages;
  next: string | null;
  problem: AppError | null;
}): JSX.Element {
  const { t, language } = visit;
  const { id, kind } = channel;
  const mayManage = isAllowedTo(visit, 'manage connections');
  const isTest = visit.path.endsWith('/test');
  return (
    <>
      {isTest && <ProblemMessage visit={visit} problem={problem} />}
      <FactList
        visit={visit}
        title="alertChannels.facts"
        facts={[
          ['alertChannels.kind', t(`alertChannels.kind.${kind}`)],
          ['alertChannels.target', channel.target],
          ['alertChannels.language', t(`alertChannels.language.${channel.language}`)],
          ['connections.createdAt', formatTime(channel.createdAt, language)],
        ]}
      />
      <MessageTable {...{ visit, id, messages, next }} />
      {mayManage && (
        <>
          <ChannelForm {...{ visit, kind, channel }} problem={isTest ? null : problem} />
          <Card title={t('connections.actions')}>
            <Form visit={visit} action={pathTo(visit, `alert-channels/${id}/test`)}>
              <button class="plain">{t('alertChannels.test')}</button>{' '}
              <span class="hint">{t('alertChannels.test.hint')}</span>
            </Form>
            <Form visit={visit} action={pathTo(visit, `alert-channels/${id}/remove`)}>
              <div class="row">
                <Reason visit={visit} />
                <button class="plain">{t('alertChannels.remove')}</button>
              </div>
              <p class="hint">{t('alertChannels.remove.hint')}</p>
            </Form>
          </Card>
        </>
      )}
    </>
  );
}

function MessageTable({
  visit,
  id,
  messages,
  next,
}: {
  visit: Visit;
  id: string;
  messages: Messages;
  next: string | null;
}) {
  const { t, language } = visit;
  const maySend = isAllowedTo(visit, 'send again');
  return (
    <Card title={t('alertChannels.messages')}>
      <DataTable
        empty={t('alertChannels.messages.empty')}
        visit={visit}
        name={t('alertChannels.messages')}
        columns={[
          'connections.createdAt',
          'alertChannels.message',
          'alertChannels.alerts',
          'deliveries.state',
          'deliveries.result',
          'connections.actions',
        ]}
      >
        {messages.map(({ id: messageId, createdAt, state, lastError, lastStatus, message }) => (
          <tr>
            <td>{formatTime(createdAt, language)}</td>
            <td>{t(`alertChannels.message.${message.kind}`)}</td>
            <td>
              <a href={`${pathTo(visit, 'alerts')}?ruleId=${message.ruleId}`}>
                {formatCount(message.alertCount)}
              </a>
            </td>
            <td>
              <DeliveryBadge visit={visit} state={state} />
            </td>
            <td>
              {lastError === null ? (lastStatus ?? t('app.none')) : describeFailure(t, lastError)}
            </td>
            <td>
              {maySend && state !== 'pending' && (
                <Form
                  visit={visit}
                  action={pathTo(visit, `alert-channels/${id}/messages/${messageId}/replay`)}
                >
                  <button class="plain">{t('deliveries.replay')}</button>
                </Form>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      <Pager visit={visit} next={next} />
    </Card>
  );
}
