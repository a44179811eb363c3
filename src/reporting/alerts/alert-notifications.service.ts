// Sends the messages about alerts, each at least once to each channel: a process that dies between
// sending a message and recording it leaves one that is sent again. A slow channel delays no other.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Database } from '../../platform/postgres/database.service.js';
import { delayAfterAttemptMs, deliveryLimits } from '../../events/delivery-schedule.js';
import { counter } from '../../platform/metrics/instruments.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { alertDetail } from './alerts.schema.js';
import { ChannelSender } from './channel-sender.service.js';
import { severityValue } from './conditions.schema.js';
import * as queries from './notifications.queries.js';

const { maxRunMs } = deliveryLimits;
/** Longer than an attempt can last: an e-mail to twenty recipients takes up to 26 steps. */
const leaseMs = 300_000;

const attempts = counter({
  name: 'concilia_alert_notification_attempts_total',
  help: 'Attempts to send messages about alerts, by channel and result.',
  labels: {
    channel: ['email', 'slack', 'webhook'],
    result: ['delivered', 'retried', 'dead'],
  },
});

const namedAlerts = z.array(
  z.object({
    alertId: z.string(),
    severity: severityValue,
    amountCents: z.string().nullable(),
    firedAt: z.string(),
    detail: alertDetail,
  }),
);

@Injectable()
export class AlertNotifications {
  constructor(
    private readonly database: Database,
    private readonly sender: ChannelSender,
    @InjectQueue(jobs.sendAlerts.name) private readonly sendAlertsQueue: JobQueue<'sendAlerts'>,
  ) {}

  @Every('alert-notifications', 2)
  async enqueueDue(): Promise<void> {
    for (const channel of await queries.listDueChannels(this.database.prisma))
      await this.sendAlertsQueue.enqueue(channel);
  }

  /** Sends due messages of one channel until none is left or the run's time is over. */
  async sendDue(channel: JobPayload<'sendAlerts'>): Promise<void> {
    const runEndsAt = performance.now() + maxRunMs;
    while (performance.now() < runEndsAt && !this.sender.isStopping) {
      const claimed = await queries.claimNotification(this.database.prisma, channel, leaseMs);
      if (!claimed) return;
      await this.attempt(channel, claimed);
    }
  }

  private async attempt(
    { accountId, channelId }: queries.ChannelKey,
    claimed: queries.ClaimedNotification,
  ): Promise<void> {
    const { id, attempt, channelKind: channel } = claimed;
    const { status, error, retryAfterSeconds } = await this.sender.send(
      { ...claimed, accountId, id: channelId },
      {
        ...{ id, sentAt: claimed.claimedAt, madeAt: claimed.madeAt },
        message: messageOf(claimed),
      },
    );
    // A shutdown aborts attempts: they are attempted again after their lease.
    if (error !== null && status === null && this.sender.isStopping) return;
    const retryInMs =
      error === null ? null : delayAfterAttemptMs(attempt, retryAfterSeconds, Math.random());
    const state = error === null ? 'delivered' : retryInMs === null ? 'dead' : 'pending';
    attempts.inc({ channel, result: state === 'pending' ? 'retried' : state });
    const result = { id, attempt, state, status, error, retryInMs } as const;
    await queries.recordNotificationResult(this.database.prisma, accountId, result);
  }
}

function messageOf(claimed: queries.ClaimedNotification) {
  const { kind, slug, alertCount: count, amountCents, withoutAmount, severities } = claimed;
  return {
    ...{ kind, slug, count, amountCents, withoutAmount, severities },
    rule: { id: claimed.ruleId, name: claimed.ruleName },
    alerts: namedAlerts.parse(claimed.items),
  };
}
