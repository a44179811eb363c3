// The results of benches: as JSON, as a table of Markdown and as pictures.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { drawFigures } from './picture.js';
import { formatFigure, type RoundFigures, type GoalResult } from './rounds.js';

export interface BenchResult {
  id: string;
  title: string;
  unit: string;
  /** The day of the measurement. */
  date: string;
  machine: string;
  figures: Record<string, RoundFigures>;
  goals: GoalResult[];
}

const resultsMark = { begin: '<!-- results: begin -->', end: '<!-- results: end -->' };

export function resultOf(
  { id, title, unit }: Bench,
  figures: Record<string, RoundFigures>,
  goals: GoalResult[],
): BenchResult {
  const date = new Date().toISOString().slice(0, 10);
  return { id, title, unit, date, machine: describeMachine(), figures, goals };
}

function describeMachine(): string {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model ?? 'CPU'}, ${gibibytes} GiB, Node ${process.versions.node}`;
}

export function describeGoal({ of, against, atLeast, atMost, measured, isMet }: GoalResult) {
  const bounds = [
    ...(atLeast === undefined ? [] : [`≥ ${atLeast}`]),
    ...(atMost === undefined ? [] : [`≤ ${atMost}`]),
  ];
  return {
    what: against === undefined ? of : `${of} / ${against}`,
    goal: bounds.join(', '),
    measured: formatFigure(measured),
    conclusion: isMet === null ? 'not claimed' : isMet ? 'met' : 'missed',
  };
}

/** Writes `results.json` with the new results in the place of earlier ones, and a picture each. */
export function writeResults(folder: string, results: BenchResult[]): BenchResult[] {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'results.json');
  const earlier = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as BenchResult[]) : [];
  const byId = new Map([...earlier, ...results].map((result) => [result.id, result]));
  const all = [...byId.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
  for (const result of results)
    writeFileSync(join(folder, `${result.id}.svg`), drawFigures(result));
  return all;
}

/** Writes the results into the page, between its two marks. */
export function writePage(path: string, results: BenchResult[]): void {
  const page = readFileSync(path, 'utf8');
  const [begin, end] = [page.indexOf(resultsMark.begin), page.indexOf(resultsMark.end)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no marks for the results`);
  const head = page.slice(0, begin + resultsMark.begin.length);
  writeFileSync(path, `${head}\n\n${describeResults(results)}\n\n${page.slice(end)}`);
}

function describeResults(results: BenchResult[]): string {
  const rows = results.flatMap(({ id, title, goals }) =>
    goals.map((goal) => {
      const { what, goal: bound, measured, conclusion } = describeGoal(goal);
      return `| ${id} | ${title} | ${what} | ${bound} | ${measured} | ${conclusion} |`;
    }),
  );
  const sections = results.map(
    ({ id, title, unit, date, machine, figures }) =>
      `### ${id}: ${title}\n\n![${title}](performance/${id}.svg)\n\n` +
      `${date}, ${machine}. In ${unit}: ` +
      `${Object.entries(figures).map(describeFigures).join('; ')}.`,
  );
  return [
    '| | what | compared | goal | measured | |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    sections.join('\n\n'),
  ].join('\n');
}

function describeFigures([name, { median, min, max, rounds }]: [string, RoundFigures]): string {
  const range = rounds.length > 1 ? ` (${formatFigure(min)}–${formatFigure(max)})` : '';
  return `${name} ${formatFigure(median)}${range}`;
}
