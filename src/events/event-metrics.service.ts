// How fast events reach business systems, and which have not.
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/postgres/database.service.js';
import { counter, histogram } from '../platform/metrics/instruments.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { readUndelivered } from './event-metrics.queries.js';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

const attempts = counter({
  name: 'concilia_event_delivery_attempts_total',
  help: 'Attempts to deliver an event: delivered, to be retried, or dead after the last one.',
  labels: { result: ['delivered', 'retried', 'dead'] },
});
const durations = histogram({
  name: 'concilia_event_delivery_duration_seconds',
  help: 'Time of the request of one attempt.',
  buckets,
});
const delay = histogram({
  name: 'concilia_event_delay_seconds',
  help: 'From the record of an event to the response of its endpoint, if it was delivered.',
  buckets,
});

interface Attempt {
  result: 'delivered' | 'retried' | 'dead';
  durationMs: number;
  /** From the record of the event to the attempt. */
  waitedMs: number;
}

export function recordAttempt({ result, durationMs, waitedMs }: Attempt): void {
  attempts.inc({ result });
  durations.observe({}, durationMs / 1_000);
  if (result === 'delivered') delay.observe({}, (waitedMs + durationMs) / 1_000);
}

@Injectable()
export class EventMetrics {
  constructor(database: Database, metrics: Metrics) {
    const deliveries = metrics.gauge({
      name: 'concilia_event_deliveries_undelivered',
      help: 'Deliveries that are pending or dead, of all accounts; 10000 of each at most.',
      labels: { state: ['pending', 'dead'] },
    });
    const oldest = metrics.gauge({
      name: 'concilia_event_deliveries_oldest_pending_seconds',
      help: 'Age of the oldest pending delivery that is counted; 0 if none is pending.',
    });
    metrics.addReading('events', [deliveries, oldest], async () => {
      const read = await readUndelivered(database.prisma);
      if (!read) return;
      deliveries.set({ state: 'pending' }, read.pending);
      deliveries.set({ state: 'dead' }, read.dead);
      oldest.set({}, read.oldestPendingSeconds);
    });
  }
}
