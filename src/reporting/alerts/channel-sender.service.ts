// Sends a message to one channel: by e-mail, to Slack, or as a signed webhook. Addresses of HTTP
// are guarded as those of webhook endpoints are.
import { Injectable } from '@nestjs/common';
import { LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { Settings } from '../../platform/settings/config.js';
import { EndpointClient } from '../../events/endpoint-client.service.js';
import { signedHeaders } from '../../events/signed-headers.js';
import type { AlertChannel } from '../../generated/service/client.js';
import { formatReais } from '../../brazil/cents.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { Addresses } from '../../platform/http/http.js';
import { SecretBox } from '../../platform/secret-box.js';
import { ownerOfDestination } from './channel-secrets.queries.js';
import { MailSender, type SendResult } from './mail-sender.service.js';
import { linkOf } from './alert-subject.js';
import { bodyOf, slackText, titleOf, type GroupedMessage } from './message-text.js';

/** What a channel's row stores encrypted. */
export const destination = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('email'), recipients: z.array(z.string()) }),
  z.object({ kind: z.literal('slack'), url: z.string() }),
  z.object({ kind: z.literal('webhook'), url: z.string(), secret: z.string() }),
]);
export type Destination = z.output<typeof destination>;

export type SendingChannel = Pick<AlertChannel, 'accountId' | 'id' | 'destination' | 'language'>;

/** One attempt to send a message. */
export interface Attempt {
  /** The same at every attempt, by which a receiver recognizes a repeat. */
  id: string;
  message: Omit<GroupedMessage, 'linkBase'>;
  /** When the message was made, and PostgreSQL's time of this attempt. */
  madeAt: Date;
  sentAt: Date;
}

@Injectable()
export class ChannelSender {
  constructor(
    private readonly client: EndpointClient,
    private readonly mail: MailSender,
    private readonly secretBox: SecretBox,
    private readonly settings: Settings,
    private readonly addresses: Addresses,
  ) {}

  /** Whether a request that got no response was aborted by the shutdown of this process. */
  get isStopping(): boolean {
    return this.client.isStopping;
  }

  encrypt(key: Pick<AlertChannel, 'accountId' | 'id'>, value: Destination): string {
    return this.secretBox.encrypt(JSON.stringify(value), ownerOfDestination(key));
  }

  decrypt(channel: Pick<AlertChannel, 'accountId' | 'id' | 'destination'>): Destination {
    const text = this.secretBox.decrypt(channel.destination, ownerOfDestination(channel));
    return destination.parse(JSON.parse(text));
  }

  /** Never throws for a failure of the receiver or of the network. */
  async send(channel: SendingChannel, attempt: Attempt): Promise<SendResult> {
    const to = this.decrypt(channel);
    const { language } = channel;
    const message: GroupedMessage = { ...attempt.message, linkBase: this.linkBase(attempt) };
    if (to.kind === 'email')
      return this.mail.send({
        id: attempt.id,
        recipients: to.recipients,
        subject: titleOf(message, language),
        text: bodyOf(message, language),
      });
    const { sentAt, id } = attempt;
    const body =
      to.kind === 'slack'
        ? JSON.stringify({ text: slackText(message, language) })
        : webhookBody(message, attempt);
    const headers = to.kind === 'slack' ? {} : signedHeaders({ id, sentAt, body }, [to.secret]);
    return this.client.send({ id: channel.id, url: to.url }, { headers, body, sentAt });
  }

  private linkBase({ message: { slug } }: Attempt): string {
    const { alerts, publicUrl } = this.settings;
    const base = alerts.consoleUrl ?? `${publicUrl ?? this.addresses.publicUrl}/console`;
    return `${base}/accounts/${slug}`;
  }
}

/** The same bytes at every attempt. */
function webhookBody(message: GroupedMessage, { id, madeAt }: Attempt): string {
  const { kind, slug, rule, count, amountCents, withoutAmount, severities, alerts } = message;
  const amountOf = (cents: bigint | null) =>
    cents === null ? null : new LosslessNumber(formatReais(cents));
  return stringifyJson({
    type: `alert.${kind}`,
    timestamp: madeAt.toISOString(),
    data: {
      ...{ id, account: slug, rule, count, amount: amountOf(amountCents), withoutAmount },
      ...{ severities },
      alerts: alerts.map((alert) => ({
        id: alert.alertId,
        severity: alert.severity,
        amount: amountOf(alert.amountCents === null ? null : BigInt(alert.amountCents)),
        firedAt: new Date(alert.firedAt).toISOString(),
        detail: alert.detail,
        link: linkOf(alert.detail, message.linkBase),
      })),
    },
  });
}
