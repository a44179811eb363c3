// The channels of an account. Their addresses are stored encrypted, and are shown masked: an
// address of Slack is a secret, and recipients are people.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { EndpointClient } from '../../events/endpoint-client.service.js';
import type { AlertChannel } from '../../generated/service/client.js';
import { AppError, conflict, invalidField } from '../../platform/errors.js';
import { tooMany } from '../../platform/http/retry-after.js';
import { newId } from '../../platform/ids.js';
import { waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import type { Page } from '../../platform/http/listing.js';
import { openLimits, testInterval } from '../../platform/limits/limits.js';
import { OpenCounts } from '../../platform/limits/memory-limits.js';
import { assertBelowQuota, type Quota } from '../../platform/limits/quotas.queries.js';
import { ChannelSender, type Destination } from './channel-sender.service.js';
import type { ChannelChanges, NewChannel } from './channels.schema.js';
import { MailSender } from './mail-sender.service.js';
import type { GroupedMessage } from './message-text.js';
import { claimChannelTest } from './notifications.queries.js';

const maxChannels = 20;
const secretBytes = 32;

@Injectable()
export class AlertChannels {
  private readonly tests = new OpenCounts<number>(openLimits.channelTests);

  constructor(
    private readonly database: Database,
    private readonly client: EndpointClient,
    private readonly sender: ChannelSender,
    private readonly mail: MailSender,
  ) {}

  /** `secret` is null for a channel that is no webhook. Throws `conflict` at the quota. */
  async create(accountId: number, fields: NewChannel) {
    const key = { accountId, id: newId() };
    const { kind, name, language } = fields;
    const to = this.newDestination(fields);
    const row = { ...key, kind, name, language, destination: this.sender.encrypt(key, to) };
    const channel = await this.database.transaction(async (tx) => {
      const quota: Quota = {
        ...{ accountId, limit: maxChannels, code: 'alert_channel_limit', name: 'alert channels' },
      };
      await assertBelowQuota(tx, quota, () =>
        tx.alertChannel.count({ where: { accountId, deletedAt: null } }),
      );
      return tx.alertChannel.create({ data: row });
    });
    return { channel, secret: to.kind === 'webhook' ? to.secret : null };
  }

  async listPage(accountId: number, { after, limit }: Page): Promise<AlertChannel[]> {
    return this.database.prisma.alertChannel.findMany({
      where: { accountId, deletedAt: null, id: { lt: after ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
  }

  /** Throws `not_found`, also for a channel of another account and for a removed channel. */
  async get(accountId: number, id: string): Promise<AlertChannel> {
    const channel = await this.database.prisma.alertChannel.findFirst({
      where: { accountId, id, deletedAt: null },
    });
    if (!channel) throw new AppError('not_found');
    return channel;
  }

  async update(accountId: number, id: string, changes: ChannelChanges): Promise<AlertChannel> {
    const channel = await this.get(accountId, id);
    const to = this.changedDestination(this.sender.decrypt(channel), changes);
    const { name = channel.name, language = channel.language } = changes;
    return this.database.prisma.alertChannel.update({
      where: { accountId_id: { accountId, id } },
      data: {
        ...{ name, language, destination: this.sender.encrypt(channel, to) },
        updatedAt: await this.database.now(),
      },
    });
  }

  /** Returns how many messages were pending, and are dead now. */
  async remove(accountId: number, id: string): Promise<number> {
    await this.get(accountId, id);
    const deletedAt = await this.database.now();
    return this.database.transaction(async (tx) => {
      await tx.alertRuleChannel.deleteMany({ where: { accountId, channelId: id } });
      await tx.alertChannel.updateMany({ where: { accountId, id }, data: { deletedAt } });
      const { count } = await tx.alertNotification.updateMany({
        where: { accountId, channelId: id, state: 'pending' },
        data: { state: 'dead', nextAttemptAt: null, lastError: 'channel_removed' },
      });
      return count;
    });
  }

  /** Throws `rate_limited` for another test within ten seconds. */
  async sendTest(accountId: number, id: string) {
    const channel = await this.get(accountId, id);
    const end = this.tests.begin(accountId);
    try {
      return await this.claimAndSendTest(channel);
    } finally {
      end();
    }
  }

  /** The recipients without most of their names, or the host of the address. */
  targetOf(channel: AlertChannel): string[] {
    const to = this.sender.decrypt(channel);
    if (to.kind !== 'email') return [new URL(to.url).host];
    return to.recipients.map(
      (address) => `${address.slice(0, 1)}***${address.slice(domainAt(address))}`,
    );
  }

  private async claimAndSendTest(channel: AlertChannel) {
    const { accountId, id } = channel;
    const { prisma } = this.database;
    const sentAt = await claimChannelTest(prisma, { accountId, channelId: id }, testInterval.ms);
    if (sentAt === null)
      throw tooMany(
        'A channel gets at most one test message every ten seconds.',
        testInterval.seconds,
      );
    const { slug } = await prisma.bankAccount.findUniqueOrThrow({ where: { id: accountId } });
    const startedAt = performance.now();
    const attempt = { id: newId(), message: testMessage(slug), madeAt: sentAt, sentAt };
    const { status, error } = await waitOutsideSlot(() => this.sender.send(channel, attempt));
    return { status, error, durationMs: Math.round(performance.now() - startedAt) };
  }

  private newDestination(fields: NewChannel): Destination {
    if (fields.kind === 'email') {
      if (!this.mail.isConfigured)
        throw conflict(
          'smtp_not_configured',
          'The settings name no mail server: set SMTP_URL and ALERT_FROM.',
        );
      return { kind: 'email', recipients: fields.recipients };
    }
    const url = this.readUrl(fields.url);
    if (fields.kind === 'slack') return { kind: 'slack', url };
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    return { kind: 'webhook', url, secret };
  }

  private changedDestination(to: Destination, { recipients, url }: ChannelChanges): Destination {
    if (to.kind === 'email') {
      if (url !== undefined) throw invalidField('$.url', 'An e-mail channel has recipients.');
      return { ...to, recipients: recipients ?? to.recipients };
    }
    if (recipients !== undefined)
      throw invalidField('$.recipients', 'Only an e-mail channel has recipients.');
    return { ...to, url: url === undefined ? to.url : this.readUrl(url) };
  }

  /** The normalized URL. */
  private readUrl(text: string): string {
    const check = this.client.checkUrl(text);
    if (!check.ok) throw invalidField('$.url', check.message);
    return check.url;
  }
}

const domainAt = (address: string) => address.lastIndexOf('@');

function testMessage(slug: string): Omit<GroupedMessage, 'linkBase'> {
  return {
    ...{ kind: 'test', slug, rule: { id: '', name: '' }, count: 0, amountCents: null },
    ...{ withoutAmount: 0, severities: {}, alerts: [] },
  };
}
