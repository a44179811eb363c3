// What became of the year, for people.
import type { Checked } from './check.js';
import type { YearOptions } from './run.js';

export interface Timing {
  what: string;
  lines: number;
  seconds: number;
}

export interface RoundResult {
  preferences: YearOptions;
  checked: Checked;
  timings: Timing[];
  findings: string[];
}

const mostReported = 20;

export function tabulate({ preferences, checked, timings, findings }: RoundResult): string {
  const rows = [...checked.tallies].map(([scenario, totals]) => [
    ...[scenario, totals.lines, totals.lines - totals.wrongLines],
    ...[totals.expectations, totals.expectations - totals.wrongExpectations],
    totals.wrongLines + totals.wrongExpectations === 0 ? '✓' : '✗',
  ]);
  const head = ['', 'lines', 'as they must be', 'expected', 'as they must be', ''];
  const steps = timings.map(({ what, lines, seconds }) => [
    ...[what, `${seconds.toFixed(1)} s`, `${Math.round(lines / Math.max(seconds, 0.001))} lines/s`],
  ]);
  const { lines, seed, days, until, rate } = preferences;
  const command = `npm run year -- --lines ${lines} --seed ${seed} --days ${days} --until ${until} --rate ${rate * 100}`;
  return [
    ...align([head, ...rows]),
    '',
    ...align(steps),
    '',
    findings.length === 0 ? 'nothing found' : `${findings.length} found`,
    ...findings.slice(0, mostReported).map((finding) => `  ✗ ${finding}`),
    ...(findings.length > mostReported ? [`  … and ${findings.length - mostReported} more`] : []),
    `again: ${command}${preferences.shuffle ? ' --shuffle' : ''}`,
  ].join('\n');
}

function align(table: (string | number)[][]): string[] {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => String(row[column] ?? '').length)),
  );
  return table.map((row) =>
    row
      .map((cell, column) =>
        column === 0
          ? String(cell).padEnd(widths[0] ?? 0)
          : String(cell).padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
