// How far the synced statements are behind the bank, and the lines that this process has stored.
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { counter } from '../../platform/metrics/instruments.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { readSyncLag } from './statement-metrics.queries.js';
import { overdueAfterIntervals } from './sync-schedule.service.js';

const syncedLines = counter({
  name: 'concilia_statement_lines_synced_total',
  help: 'Statement lines that were stored for the first time, readable or not.',
});

export function recordSyncedLines(lines: number): void {
  if (lines > 0) syncedLines.inc({}, lines);
}

@Injectable()
export class StatementMetrics {
  constructor(database: Database, settings: Settings, metrics: Metrics) {
    const accounts = metrics.gauge({
      name: 'concilia_accounts',
      help: 'Bank accounts by mode.',
      labels: { mode: ['live', 'stopped', 'reconcile_only'] },
    });
    const behind = metrics.gauge({
      name: 'concilia_accounts_behind',
      help: 'Bank accounts whose last complete sync is more than three sync intervals ago.',
    });
    const notGuarded = metrics.gauge({
      name: 'concilia_accounts_not_guarded',
      help: 'Guarded bank accounts whose last read is more than three of its intervals ago.',
    });
    const oldest = metrics.gauge({
      name: 'concilia_statement_sync_age_seconds',
      help: 'Time since the last complete sync of the account that waits for the longest time.',
    });
    metrics.addReading('statement', [accounts, behind, notGuarded, oldest], async () => {
      const options = {
        intervals: overdueAfterIntervals,
        configuredMs: settings.syncIntervalMs,
      };
      const lag = await readSyncLag(database.prisma, options);
      if (!lag) return;
      accounts.set({ mode: 'live' }, lag.live);
      accounts.set({ mode: 'stopped' }, lag.stopped);
      accounts.set({ mode: 'reconcile_only' }, lag.reconcileOnly);
      behind.set({}, lag.behind);
      notGuarded.set({}, lag.notGuarded);
      oldest.set({}, lag.oldestSeconds);
    });
  }
}
