// What became of the year, for people.
import type { Checked } from './check.js';
import type { YearWishes } from './run.js';

export interface Timing {
  what: string;
  lines: number;
  seconds: number;
}

export interface Verdict {
  wishes: YearWishes;
  checked: Checked;
  timings: Timing[];
  findings: string[];
}

const mostTold = 20;

export function tabulate({ wishes, checked, timings, findings }: Verdict): string {
  const rows = [...checked.tallies].map(([scenario, tally]) => [
    ...[scenario, tally.lines, tally.lines - tally.wrongLines],
    ...[tally.expectations, tally.expectations - tally.wrongExpectations],
    tally.wrongLines + tally.wrongExpectations === 0 ? '✓' : '✗',
  ]);
  const head = ['', 'lines', 'as they must be', 'expected', 'as they must be', ''];
  const steps = timings.map(({ what, lines, seconds }) => [
    ...[what, `${seconds.toFixed(1)} s`, `${Math.round(lines / Math.max(seconds, 0.001))} lines/s`],
  ]);
  const { lines, seed, days, until, rate } = wishes;
  const command = `npm run year -- --lines ${lines} --seed ${seed} --days ${days} --until ${until} --rate ${rate * 100}`;
  return [
    ...align([head, ...rows]),
    '',
    ...align(steps),
    '',
    findings.length === 0 ? 'nothing found' : `${findings.length} found`,
    ...findings.slice(0, mostTold).map((finding) => `  ✗ ${finding}`),
    ...(findings.length > mostTold ? [`  … and ${findings.length - mostTold} more`] : []),
    `again: ${command}${wishes.shuffle ? ' --shuffle' : ''}`,
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
