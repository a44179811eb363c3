// Channels that get alerts: e-mail, Slack and webhooks, with the messages that each got.
import { Controller } from '@nestjs/common';
import type { JSX } from 'preact';
import { AlertChannels } from '../../reporting/alerts/alert-channels.service.js';
import { Alerts } from '../../reporting/alerts/alerts.service.js';
import {
  channelKinds,
  createChannel,
  updateChannel,
} from '../../reporting/alerts/channels.schema.js';
import type { AppError } from '../../platform/errors.js';
import { isUuid, toList } from '../../platform/http/listing.js';
import { ConsoleAction, ConsolePage, Visiting } from '../console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, isAllowedTo, pathId, pathTo, requireReason, typed } from '../visit.js';
import {
  ChannelDetail,
  ChannelForm,
  ChannelList,
  type ShownChannel,
} from './alert-channel-views.js';
import {
  doneAt,
  ConnectionDone,
  findProblem,
  plainText,
  readBody,
  statusOf,
} from './connection-elements.js';
import { SecretOnce, TestResultMessage } from './endpoint-views.js';
import { readCursor } from './list-address.js';

const channels = '/console/accounts/:account/alert-channels';
const needs = 'view';
const manage = 'manage connections';
/** More than an account may have. */
const all = { after: null, limit: 100 } as const;
const shownMessages = 20;

const subject = (visit: Visit) => `alert-channel ${pathId(visit)}` as const;

@Controller()
export class AlertChannelPages {
  constructor(
    private readonly channels: AlertChannels,
    private readonly alerts: Alerts,
  ) {}

  @ConsolePage({
    path: channels,
    needs,
    menu: { title: 'alertChannels.title', section: 'connections', place: 70 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.listPage(visit, null);
  }

  @ConsoleAction({
    path: channels,
    needs: manage,
    audit: { action: 'create alert channel', subject: () => 'alert-channel new' },
  })
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    let created: Awaited<ReturnType<AlertChannels['create']>> | null = null;
    const problem = await findProblem(async () => {
      const kind = typed(visit, 'kind');
      const body = readBody(createChannel.body, { kind, ...fieldsOf(visit, kind === 'email') });
      created = await this.channels.create(accountOf(visit).id, body);
    });
    if (problem || !created) return this.listPage(visit, problem);
    const { channel, secret } = created as Awaited<ReturnType<AlertChannels['create']>>;
    if (secret === null)
      return new Redirect(doneAt(visit, `alert-channels/${channel.id}`, 'saved'));
    const back = pathTo(visit, `alert-channels/${channel.id}`);
    return new Shown(
      visit.t('alertChannels.created'),
      <SecretOnce visit={visit} secret={secret} back={back} />,
    );
  }

  @ConsolePage({ path: `${channels}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, null);
  }

  @ConsoleAction({
    path: `${channels}/:id`,
    needs: manage,
    audit: { action: 'change alert channel', subject },
  })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { id: accountId } = accountOf(visit);
    const { kind } = await this.channels.get(accountId, id);
    const problem = await findProblem(async () => {
      requireReason(visit);
      const changes = readBody(updateChannel.body, fieldsOf(visit, kind === 'email'));
      await this.channels.update(accountId, id, changes);
    });
    if (problem) return this.detail(visit, problem);
    return new Redirect(doneAt(visit, `alert-channels/${id}`, 'saved'));
  }

  @ConsoleAction({
    path: `${channels}/:id/test`,
    needs: manage,
    audit: { action: 'send test message', subject },
  })
  async test(@Visiting() visit: Visit): Promise<PageAnswer> {
    let result: Awaited<ReturnType<AlertChannels['sendTest']>> | null = null;
    const problem = await findProblem(async () => {
      result = await this.channels.sendTest(accountOf(visit).id, pathId(visit));
    });
    const message = <TestResultMessage visit={visit} result={result} />;
    return this.detail(visit, problem, message);
  }

  @ConsoleAction({
    path: `${channels}/:id/remove`,
    needs: manage,
    audit: { action: 'remove alert channel', subject },
  })
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.channels.remove(accountOf(visit).id, pathId(visit));
    return new Redirect(doneAt(visit, 'alert-channels', 'channelRemoved', count));
  }

  @ConsoleAction({
    path: `${channels}/:id/messages/:message/replay`,
    needs: 'send again',
    audit: {
      action: 'replay alert message',
      subject: (visit) => `alert-message ${pathId(visit, 'message')}`,
    },
  })
  async replay(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.alerts.replay(accountOf(visit).id, pathId(visit, 'message'));
    return new Redirect(doneAt(visit, `alert-channels/${pathId(visit)}`, 'replayed', 1));
  }

  private async listPage(visit: Visit, problem: AppError | null): Promise<Shown> {
    const rows = await this.channels.listPage(accountOf(visit).id, all);
    const shown: ShownChannel[] = rows.map((channel) => ({
      ...channel,
      target: this.channels.targetOf(channel).join(', '),
    }));
    const mayManage = isAllowedTo(visit, manage);
    const body = (
      <>
        <ChannelList visit={visit} channels={shown} />
        {mayManage &&
          channelKinds.map((kind) => (
            <ChannelForm
              {...{ visit, kind, channel: null }}
              problem={visit.form.get('kind') === kind ? problem : null}
            />
          ))}
      </>
    );
    return new Shown(visit.t('alertChannels.title'), body, statusOf(problem));
  }

  private async detail(
    visit: Visit,
    problem: AppError | null,
    message: JSX.Element | null = null,
  ): Promise<Shown> {
    const { id: accountId } = accountOf(visit);
    const channel = await this.channels.get(accountId, pathId(visit));
    const target = this.channels.targetOf(channel).join(', ');
    const page = readCursor(visit.query, isUuid, shownMessages);
    const found = await this.alerts.listNotifications(accountId, { channelId: channel.id }, page);
    const { data, next } = toList(found, page, ({ id }) => id);
    const body = (
      <>
        <ConnectionDone visit={visit} />
        {message}
        <ChannelDetail
          {...{ visit, problem, next }}
          channel={{ ...channel, target }}
          messages={[...data]}
        />
      </>
    );
    return new Shown(plainText(channel.name), body, statusOf(problem));
  }
}

/** A field that is left empty is left out: an address that is not typed again stays. */
function fieldsOf(visit: Visit, isEmail: boolean): Record<string, unknown> {
  const recipients = typed(visit, 'recipients')
    .split(/[\s,;]+/)
    .filter((one) => one !== '');
  const url = typed(visit, 'url');
  return {
    name: typed(visit, 'name'),
    language: typed(visit, 'language') || undefined,
    ...(isEmail && recipients.length > 0 ? { recipients } : {}),
    ...(!isEmail && url !== '' ? { url } : {}),
  };
}
