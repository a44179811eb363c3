// The API representation of a run.
import type { z } from 'zod';
import type { ReconciliationRun } from '../../generated/service/client.js';
import type { runView } from './runs.schema.js';

export type RunView = z.output<typeof runView>;
export type RunCounts = RunView['counts'];

const zeroCounts: RunCounts = {
  newLines: 0,
  matched: 0,
  classified: 0,
  breaksOpened: 0,
  breaksResolved: 0,
  missing: 0,
  unlinked: 0,
  pending: 0,
};

export function describeRun(run: ReconciliationRun): RunView {
  const { id, startedAt, finishedAt, windowFrom, windowUntil, error } = run;
  return {
    id,
    trigger: run.trigger as RunView['trigger'],
    state: run.state as RunView['state'],
    window: {
      from: windowFrom?.toISOString() ?? null,
      until: windowUntil?.toISOString() ?? null,
    },
    counts: { ...zeroCounts, ...(run.counts as Partial<RunCounts>) },
    durationMs: finishedAt ? Math.max(0, finishedAt.getTime() - startedAt.getTime()) : null,
    error,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
