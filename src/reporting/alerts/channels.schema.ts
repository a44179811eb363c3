// The API of alert channels. No response shows an address in full, and a secret only once.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  filledText,
  instant,
  integer,
  patternText,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { AlertChannelKind, AlertLanguage } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { mailboxText } from '../../platform/settings/setting-values.js';

export const channelKinds = Object.values(AlertChannelKind);
export const channelLanguages = Object.values(AlertLanguage);

const base = { chapter: 'Alerts', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });

/** Names stand in the subjects of e-mails: they are one line. */
export const nameText = filledText(100).refine(
  (name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name),
  'Must be one line without control characters.',
);

const language = z.enum(AlertLanguage);
const recipients = z
  .array(patternText(254, mailboxText, 'Must be an e-mail address such as ana@example.com.'))
  .min(1)
  .max(20);
const url = filledText(2000);

export const channelView = z.object({
  id: z.string(),
  kind: z.enum(AlertChannelKind),
  name: z.string(),
  language: z.enum(AlertLanguage),
  target: z.array(z.string()).describe('The recipients, masked, or the host of the address.'),
  createdAt: instant,
  updatedAt: instant,
});

/** `secret` is null for a channel that is no webhook. */
const newChannelView = channelView.extend({ secret: z.string().nullable() });

const common = { name: nameText, language: language.default('pt') };

export const createChannel = route({
  ...base,
  name: 'createAlertChannel',
  summary:
    'Creates a channel that gets alerts: by e-mail, in Slack, or as a signed webhook. Only this ' +
    'response shows the secret of a webhook. 409 with the code `smtp_not_configured` for e-mail ' +
    'where the settings name no mail server, and `alert_channel_limit` at 20 channels.',
  method: 'POST',
  path: '/v1/alert-channels',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('email'), ...common, recipients }),
      /** The address of an incoming webhook of Slack. */
      z.strictObject({ kind: z.literal('slack'), ...common, url }),
      z.strictObject({ kind: z.literal('webhook'), ...common, url }),
    ],
    { error: 'Must have a kind: one of email, slack, webhook.' },
  ),
  response: newChannelView,
});
export type NewChannel = z.output<typeof createChannel.body>;

export const listChannels = route({
  ...base,
  name: 'listAlertChannels',
  summary: 'Lists the channels that get alerts, newest first.',
  method: 'GET',
  path: '/v1/alert-channels',
  query: listQuery({}),
  response: listOf(channelView),
});

export const getChannel = route({
  ...base,
  name: 'getAlertChannel',
  summary: 'Returns one channel.',
  method: 'GET',
  path: '/v1/alert-channels/{id}',
  params,
  response: channelView,
});

export const updateChannel = route({
  ...base,
  name: 'updateAlertChannel',
  summary:
    'Changes a channel. Omitted fields stay unchanged. `recipients` is for e-mail, and `url` for ' +
    'the other kinds.',
  method: 'PATCH',
  path: '/v1/alert-channels/{id}',
  idempotencyKey: 'accepted',
  params,
  body: z.strictObject({
    name: nameText.optional(),
    language: language.optional(),
    recipients: recipients.optional(),
    url: url.optional(),
  }),
  response: channelView,
});
export type ChannelChanges = z.output<typeof updateChannel.body>;

export const deleteChannel = route({
  ...base,
  name: 'deleteAlertChannel',
  summary:
    'Removes a channel, also from the rules that name it. Its pending messages are dead with the ' +
    'error `channel_removed`.',
  method: 'DELETE',
  path: '/v1/alert-channels/{id}',
  idempotencyKey: 'accepted',
  params,
  response: z.object({
    id: z.string(),
    deadNotifications: integer.describe('How many messages were pending, and are dead now.'),
  }),
});

export const testChannel = route({
  ...base,
  name: 'testAlertChannel',
  summary:
    'Sends a test message to a channel at once, and returns how its receiver responded. 429 for ' +
    'another test of the channel within ten seconds.',
  method: 'POST',
  path: '/v1/alert-channels/{id}/test',
  idempotencyKey: 'accepted',
  params,
  response: z.object({
    status: integer.nullable().describe('Of HTTP or the mail server; null: no response.'),
    error: z.string().nullable().describe('Null once it is sent.'),
    durationMs: integer,
  }),
});

nameSchemas({ AlertChannel: channelView, NewAlertChannel: newChannelView });
