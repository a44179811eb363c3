// The printed report of a round.
import { alignColumns } from '../support/table.js';
import { chaosRequestKinds } from './chaos-request.js';
import { operationsOf } from './check.js';
import type { SentRequest } from './client.js';
import type { FinalState } from './final-state.js';

const columns = [
  ...(['succeeded', 'rejected', 'not_executed', 'needs_operator'] as const),
  ...(['refused', 'unfinished'] as const),
];
type Column = (typeof columns)[number];

export interface RoundReport {
  findings: string[];
  seconds: number;
  /** The command that runs the round again. */
  command: string;
}

/** A table of the requests by kind and outcome, and the findings. */
export function formatRoundReport(
  sent: SentRequest[],
  state: FinalState,
  { findings, seconds, command }: RoundReport,
): string {
  const rows = chaosRequestKinds.flatMap((kind) => {
    const ofKind = sent.filter(({ request }) => request.kind === kind);
    if (ofKind.length === 0) return [];
    const outcomes = ofKind.map((each) => columnOf(each, state));
    const counts = columns.map((column) => outcomes.filter((outcome) => outcome === column).length);
    const operations = ofKind.flatMap(({ request }) => operationsOf(request, state));
    const calls = ofKind.reduce((sum, { responses }) => sum + responses.length, 0);
    const attempts = operations.reduce((sum, operation) => sum + operation.attempts, 0);
    return [[kind, ofKind.length, ...counts, calls, attempts]];
  });
  const head = ['kind', 'requests', ...columns, 'calls', 'attempts'];
  const summary = findings.length === 0 ? 'No findings' : `Findings: ${findings.length}`;
  return [
    ...alignColumns([head, ...rows]),
    `${summary}, ${seconds.toFixed(0)} s, ${state.ledger.movements.length} movements at the bank`,
    ...findings.map((finding) => `  ✗ ${finding}`),
    ...(findings.length === 0 ? [] : [`Run this round again: ${command}`]),
  ].join('\n');
}

function columnOf({ request, responses }: SentRequest, state: FinalState): Column {
  const operationState = operationsOf(request, state)[0]?.state;
  if (operationState === undefined)
    return responses.at(-1)?.outcome === 'refused' ? 'refused' : 'unfinished';
  return columns.find((column) => column === operationState) ?? 'unfinished';
}
