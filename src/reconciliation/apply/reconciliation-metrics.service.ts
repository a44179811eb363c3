// What lines are decided to be, and which breaks are open.
import { Injectable } from '@nestjs/common';
import { afterCommit, Database, type SqlTx } from '../../platform/postgres/database.service.js';
import type { LineOutcomeState } from '../../generated/service/client.js';
import { countBy } from '../../platform/grouping.js';
import { counter } from '../../platform/metrics/instruments.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { breakKinds, type BreakKind } from '../decide/break-kind-declarations.js';
import { readReconciliationLag } from './reconciliation-metrics.queries.js';

const kinds = Object.keys(breakKinds) as BreakKind[];
const outcomes = [
  'matched',
  'classified',
  'in_break',
  'pending',
] as const satisfies LineOutcomeState[];

const decidedLines = counter({
  name: 'concilia_statement_lines_decided_total',
  help: 'Outcomes of lines that were decided for the first time, or otherwise than before.',
  labels: { outcome: outcomes },
});
const changedBreaks = counter({
  name: 'concilia_breaks_changed_total',
  help: 'Breaks that the service has opened, reopened or resolved.',
  labels: { kind: kinds, change: ['opened', 'resolved'] },
});

/** Counts outcomes of lines once they are committed. */
export function recordDecidedLines(tx: SqlTx, states: readonly LineOutcomeState[]): void {
  if (states.length === 0) return;
  afterCommit(tx, () => {
    for (const [outcome, lines] of countBy(states, (state) => state))
      decidedLines.inc({ outcome }, lines);
  });
}

/** Counts breaks once the change is committed. */
export function recordChangedBreaks(
  tx: SqlTx,
  change: 'opened' | 'resolved',
  breaks: readonly { kind: string }[],
): void {
  if (breaks.length === 0) return;
  afterCommit(tx, () => {
    // Each kind is declared.
    for (const [kind, count] of countBy(breaks, (one) => one.kind as BreakKind))
      changedBreaks.inc({ kind, change }, count);
  });
}

@Injectable()
export class ReconciliationMetrics {
  constructor(database: Database, metrics: Metrics) {
    const lines = metrics.gauge({
      name: 'concilia_statement_lines',
      help: 'Decided statement lines by outcome, of all accounts.',
      labels: { outcome: outcomes },
    });
    const open = metrics.gauge({
      name: 'concilia_breaks_open',
      help: 'Open breaks by kind, of all accounts.',
      labels: { kind: kinds },
    });
    const lag = metrics.gauge({
      name: 'concilia_reconciliation_lag_seconds',
      help: 'Since when the oldest line or task that is not decided waits; 0 if there is none.',
    });
    metrics.addReading('reconciliation', [lines, open, lag], async () => {
      const counts = await database.prisma.accountCounter.groupBy({
        by: ['kind', 'key'],
        where: { kind: { in: ['lines', 'open_breaks'] } },
        _sum: { value: true },
      });
      const seconds = await readReconciliationLag(database.prisma);
      const totalOf = (kind: string, key: string) =>
        Number(counts.find((one) => one.kind === kind && one.key === key)?._sum.value ?? 0n);
      for (const outcome of outcomes) lines.set({ outcome }, totalOf('lines', outcome));
      for (const kind of kinds) open.set({ kind }, totalOf('open_breaks', kind));
      lag.set({}, seconds);
    });
  }
}
