// What became of a round, for people.
import { operationsOf } from './check.js';
import type { Books } from './books.js';
import type { Asked } from './client.js';
import { intentKinds } from './chaos-request.js';

const outcomes = [
  ...(['succeeded', 'rejected', 'not_executed', 'needs_operator'] as const),
  ...(['refused', 'unfinished'] as const),
];
type Column = (typeof outcomes)[number];

export interface RoundResult {
  findings: string[];
  seconds: number;
  command: string;
}

/** Intents by kind and outcome, then the findings. */
export function tabulate(asked: Asked[], books: Books, outcome: RoundResult): string {
  const rows = intentKinds.flatMap((kind) => {
    const ofKind = asked.filter(({ intent }) => intent.kind === kind);
    if (ofKind.length === 0) return [];
    const columns = ofKind.map((one) => columnOf(one, books));
    const counts = outcomes.map((outcome) => columns.filter((column) => column === outcome).length);
    const attempts = ofKind.flatMap(({ intent }) => operationsOf(intent, books));
    const requests = ofKind.reduce((sum, { told }) => sum + told.length, 0);
    const sendings = attempts.reduce((sum, operation) => sum + operation.attempts, 0);
    return [[kind, ofKind.length, ...counts, requests, sendings]];
  });
  const head = ['', 'intents', ...outcomes, 'requests', 'sendings'];
  const { findings, seconds, command } = outcome;
  const count = findings.length === 0 ? 'nothing found' : `${findings.length} found`;
  return [
    ...align([head, ...rows]),
    `${count} in ${seconds.toFixed(0)} s; ${books.ledger.movements.length} movements`,
    ...findings.map((finding) => `  ✗ ${finding}`),
    ...(findings.length === 0 ? [] : [`again: ${command}`]),
  ].join('\n');
}

function columnOf({ intent, told }: Asked, books: Books): Column {
  const state = operationsOf(intent, books)[0]?.state;
  if (state === undefined) return told.at(-1)?.outcome === 'refused' ? 'refused' : 'unfinished';
  return outcomes.find((outcome) => outcome === state) ?? 'unfinished';
}

function align(table: (string | number)[][]): string[] {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => String(row[column]).length)),
  );
  return table.map((row) =>
    row
      .map((cell, column) =>
        column === 0
          ? String(cell).padEnd(widths[0] ?? 0)
          : String(cell).padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
