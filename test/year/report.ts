// The printed report of a year.
import { alignColumns } from '../support/table.js';
import type { YearCheck } from './check.js';
import type { YearOptions } from './run.js';

export interface StepDuration {
  step: string;
  lines: number;
  seconds: number;
}

export interface YearReport {
  options: YearOptions;
  check: YearCheck;
  /** Who would have been notified of its debits. */
  guard: string;
  durations: StepDuration[];
  findings: string[];
}

const maxFindings = 20;

/** A table of the scenarios, the duration of each step, and the findings. */
export function formatYearReport({
  options,
  check,
  guard,
  durations,
  findings,
}: YearReport): string {
  const scenarios = [...check.scenarios].map(([scenario, counts]) => [
    ...[scenario, counts.lines, counts.lines - counts.wrongLines],
    ...[counts.payments, counts.payments - counts.wrongPayments],
    counts.wrongLines + counts.wrongPayments === 0 ? '✓' : '✗',
  ]);
  const head = ['scenario', 'lines', 'correct', 'expected payments', 'correct', ''];
  const steps = durations.map(({ step, lines, seconds }) => [
    ...[step, `${seconds.toFixed(1)} s`, `${Math.round(lines / Math.max(seconds, 0.001))} lines/s`],
  ]);
  return [
    ...alignColumns([head, ...scenarios]),
    '',
    ...alignColumns(steps),
    '',
    guard,
    findings.length === 0 ? 'No findings' : `Findings: ${findings.length}`,
    ...findings.slice(0, maxFindings).map((finding) => `  ✗ ${finding}`),
    ...(findings.length > maxFindings ? [`  … and ${findings.length - maxFindings} more`] : []),
    `Run this year again: ${commandOf(options)}`,
  ].join('\n');
}

function commandOf({ lines, seed, days, until, rate, shuffle }: YearOptions): string {
  const flags = [
    ...[`--lines ${lines}`, `--seed ${seed}`, `--days ${days}`, `--until ${until}`],
    `--rate ${rate * 100}`,
    ...(shuffle ? ['--shuffle'] : []),
  ];
  return `npm run year -- ${flags.join(' ')}`;
}
