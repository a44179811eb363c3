// How fast the bank's webhooks come and are processed, how many wait, and how many are lost.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { counter, gauge, histogram } from '../../platform/metrics/instruments.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { NotifiableLine } from './sync-interval.js';
import { readUnprocessedWebhooks } from './webhook-metrics.queries.js';

const received = counter({
  name: 'concilia_webhooks_received_total',
  help: 'Webhooks of the bank that were stored, copies of stored ones included.',
  labels: { result: ['accepted', 'quarantined'] },
});
const processing = histogram({
  name: 'concilia_webhook_processing_seconds',
  help: 'From the receipt of a webhook until a complete sync covered it.',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});
const delay = histogram({
  name: 'concilia_webhook_delay_seconds',
  help: "From a movement to the receipt of the webhook that names its line, on the bank's clock.",
  buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
});
const lines = gauge({
  name: 'concilia_webhook_lines_recent',
  help:
    'Of the newest 100 lines of the last hour of each account that have webhooks: reported, ' +
    'lost, or too recent to count as lost. Measured by the scheduler role each minute.',
  labels: { result: ['reported', 'lost', 'waiting'] },
});

export function recordReceivedWebhooks(webhooks: readonly { isQuarantined: boolean }[]): void {
  const quarantined = webhooks.filter(({ isQuarantined }) => isQuarantined).length;
  if (quarantined > 0) received.inc({ result: 'quarantined' }, quarantined);
  if (webhooks.length > quarantined)
    received.inc({ result: 'accepted' }, webhooks.length - quarantined);
}

export function recordProcessedWebhooks(times: {
  processingSeconds: readonly number[];
  delaySeconds: readonly number[];
}): void {
  for (const seconds of times.processingSeconds) processing.observe({}, seconds);
  for (const seconds of times.delaySeconds) delay.observe({}, seconds);
}

/** The notifiable lines of all accounts. */
export function recordRecentLines(recent: readonly NotifiableLine[]): void {
  const reported = recent.filter(({ isNotified }) => isNotified).length;
  const waiting = recent.filter(({ isNotified, isWaiting }) => !isNotified && isWaiting).length;
  lines.set({ result: 'reported' }, reported);
  lines.set({ result: 'waiting' }, waiting);
  lines.set({ result: 'lost' }, recent.length - reported - waiting);
}

@Injectable()
export class WebhookMetrics {
  constructor(database: Database, metrics: Metrics) {
    const unprocessed = metrics.gauge({
      name: 'concilia_webhooks_unprocessed',
      help: 'Stored webhooks that are not processed, of all accounts; 10000 of each state at most.',
      labels: { state: ['pending', 'quarantined'] },
    });
    const oldest = metrics.gauge({
      name: 'concilia_webhooks_oldest_pending_seconds',
      help: 'Age of the oldest pending webhook that is counted; 0 if none is pending.',
    });
    metrics.addReading('webhooks', [unprocessed, oldest], async () => {
      const read = await readUnprocessedWebhooks(database.prisma);
      if (!read) return;
      unprocessed.set({ state: 'pending' }, read.pending);
      unprocessed.set({ state: 'quarantined' }, read.quarantined);
      oldest.set({}, read.oldestPendingSeconds);
    });
  }
}
