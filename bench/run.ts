// The program of `npm run bench`: runs the benches of the goals one after the other, each on
// databases of its own, and prints what was measured. It exits with 1 when a check fails. A goal
// that is missed fails nothing, because machines differ.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { alignColumns } from '../test/support/table.js';
import type { Bench, Size } from './harness/bench.js';
import { withBenchPostgres } from './harness/postgres.js';
import {
  describeGoal,
  resultOf,
  writePage,
  writeResults,
  type BenchResult,
} from './harness/report.js';
import { compareToGoal, runRounds } from './harness/rounds.js';

const defaultRounds = 5;
const project = fileURLToPath(new URL('..', import.meta.url));
const print = (text: string) => process.stdout.write(`${text}\n`);

const { values: options, positionals } = readArguments();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        short: { type: 'boolean', default: false },
        publish: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        lines: { type: 'string' },
      },
    });
  } catch (error) {
    print(`${String(error)}\n\`npm run bench -- --help\` shows the options.`);
    return process.exit(1);
  }
}

async function loadBenches(): Promise<Bench[]> {
  const folder = new URL('./goals/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(
    names.map((name) => import(new URL(name, folder).href) as Promise<{ bench: Bench }>),
  );
  const benches = modules
    .map(({ bench }) => bench)
    .sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const wanted = positionals.map((id) => id.toUpperCase());
  const unknown = wanted.filter((id) => !benches.some((bench) => bench.id === id));
  if (unknown.length > 0)
    throw new Error(
      `no bench ${unknown.join(', ')}; there are ${benches.map(({ id }) => id).join()}`,
    );
  return wanted.length === 0 ? benches : benches.filter(({ id }) => wanted.includes(id));
}

async function measure(bench: Bench, size: Size): Promise<BenchResult> {
  print(`\n${bench.id}: ${bench.title} (${bench.unit})`);
  const rounds = Number(options.rounds ?? (size.isShort ? 1 : (bench.rounds ?? defaultRounds)));
  const contest = await bench.open(size);
  try {
    const figures = await runRounds(contest, rounds, (line) => print(`  ${line}`));
    await contest.check();
    return resultOf(
      bench,
      figures,
      bench.goals.map((goal) => compareToGoal(goal, figures)),
    );
  } finally {
    await contest.close();
  }
}

async function measureAll(size: Size): Promise<boolean> {
  const results: BenchResult[] = [];
  const failed: string[] = [];
  for (const bench of await loadBenches())
    try {
      results.push(await measure(bench, size));
    } catch (error) {
      // The other benches still run. The exit code says that this one failed.
      failed.push(bench.id);
      print(`✗ ${bench.id} failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  const rows = results.flatMap(({ id, goals }) =>
    goals.map(describeGoal).map(({ what, goal, measured, conclusion }) => {
      return [id, what, goal, measured, conclusion];
    }),
  );
  print(`\n${alignColumns([['', 'compared', 'goal', 'measured', ''], ...rows]).join('\n')}\n`);
  if (!size.isShort) writeResults(join(project, '.bench'), results);
  if (options.publish) {
    const published = writeResults(join(project, 'docs', 'performance'), results);
    writePage(join(project, 'docs', 'performance.md'), published);
  }
  if (failed.length > 0) print(`✗ failed: ${failed.join(', ')}`);
  return failed.length === 0;
}

const size: Size = {
  isShort: options.short,
  lines: options.lines === undefined ? null : Number(options.lines),
};
// At once: what a bench that failed has left running would keep this process alive.
process.exit((await withBenchPostgres(() => measureAll(size))) ? 0 : 1);
