// Shows how many alerts are open, and how many messages about them were not sent.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { countAlerts } from './alert-metrics.queries.js';

@Injectable()
export class AlertMetrics {
  constructor(database: Database, metrics: Metrics) {
    const open = metrics.gauge({
      name: 'concilia_alerts_open',
      help: 'Alerts whose cause lasts, of all accounts; 10000 at most.',
      labels: { state: ['firing', 'acknowledged'] },
    });
    const undelivered = metrics.gauge({
      name: 'concilia_alert_notifications_undelivered',
      help: 'Messages about alerts that are pending or dead, of all accounts; 10000 at most.',
      labels: { state: ['pending', 'dead'] },
    });
    metrics.addReading('alerts', [open, undelivered], async () => {
      const read = await countAlerts(database.prisma);
      if (!read) return;
      for (const state of ['firing', 'acknowledged'] as const) open.set({ state }, read[state]);
      for (const state of ['pending', 'dead'] as const) undelivered.set({ state }, read[state]);
    });
  }
}
