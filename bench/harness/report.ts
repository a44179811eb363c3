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

export function resultOf(
  { id, title, unit }: Bench,
  figures: Record<string, RoundFigures>,
  goals: GoalResult[],
): BenchResult {
  const date = new Date().toISOString().slice(0, 10);
  return { id, title, unit, date, machine: describeMachine(), figures, goals };
}

export function describeMachine(): string {
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
    conclusion: isMet ? 'met' : 'missed',
  };
}

/** The page has a picture of these goals. */
const pictured: readonly string[] = ['G1', 'G3', 'G9', 'G10'];
const isPictured = ({ id }: BenchResult): boolean => pictured.includes(id);

/** Writes `results.json` with the new results in the place of earlier ones, and the pictures. */
export function writeResults(folder: string, results: BenchResult[]): BenchResult[] {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'results.json');
  const earlier = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as BenchResult[]) : [];
  const byId = new Map([...earlier, ...results].map((result) => [result.id, result]));
  const all = [...byId.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
  for (const result of results.filter(isPictured))
    writeFileSync(join(folder, `${result.id}.svg`), drawFigures(result));
  return all;
}

/** Writes the results into the page. */
export function writePage(path: string, results: BenchResult[]): void {
  writeBetweenMarks(path, 'results', describeResults(results));
}

/** Replaces what stands between two marks of the page. */
export function writeBetweenMarks(path: string, name: string, text: string): void {
  const [beginMark, endMark] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const page = readFileSync(path, 'utf8');
  const [begin, end] = [page.indexOf(beginMark), page.indexOf(endMark)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no marks for the ${name}`);
  const head = page.slice(0, begin + beginMark.length);
  writeFileSync(path, `${head}\n\n${text}\n\n${page.slice(end)}`);
}

function describeResults(results: BenchResult[]): string {
  const rows = results.flatMap(({ id, title, unit, goals, figures }) =>
    goals.map((result, index) => {
      const { what, goal, measured } = describeGoal(result);
      const titled = index === 0 ? `${title}: ${what}` : what;
      const compared = [result.of, result.against ?? []]
        .flat()
        .flatMap((name) => figures[name] ?? []);
      const each = `${compared.map(describeFigures).join(' / ')} ${unit}`;
      return `| ${id} | ${titled} | ${goal} | ${measured} | ${each} |`;
    }),
  );
  const pictures = results
    .filter(isPictured)
    .map(({ id, title }) => `![${title}](performance/${id}.svg)`);
  const conditions = new Set(results.map(({ date, machine }) => `${date} on ${machine}`));
  return [
    '| | what | must be | measured | figures |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `Measured ${[...conditions].join('; ')}.`,
    '',
    pictures.join('\n\n'),
  ].join('\n');
}

function describeFigures({ median, min, max, rounds }: RoundFigures): string {
  const range = rounds.length > 1 ? ` (${formatFigure(min)}–${formatFigure(max)})` : '';
  return `${formatFigure(median)}${range}`;
}
