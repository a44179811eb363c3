// Operations without an end: those being sent, those whose outcome the bank has not shown, and
// those that await approval.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { statesWithUnknownEffect } from '../operation-states.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { listUnfinishedByState } from './operation-metrics.queries.js';

@Injectable()
export class OperationMetrics {
  constructor(database: Database, metrics: Metrics) {
    const unfinished = metrics.gauge({
      name: 'concilia_operations_unfinished',
      help: 'Operations without an end by state, of all accounts; 10000 in all at most.',
      labels: { state: statesWithUnknownEffect },
    });
    const oldest = metrics.gauge({
      name: 'concilia_operations_oldest_seconds',
      help: 'Age of the oldest operation in the state; 0 if there is none.',
      labels: { state: statesWithUnknownEffect },
    });
    metrics.addReading('operations', [unfinished, oldest], async () => {
      const rows = await listUnfinishedByState(database.prisma);
      for (const state of statesWithUnknownEffect) {
        const row = rows.find((one) => one.state === state);
        unfinished.set({ state }, row?.operations ?? 0);
        oldest.set({ state }, row?.oldestSeconds ?? 0);
      }
    });
  }
}
