// `npm run bench [-- GOAL … options]`: measures the performance goals (`docs/performance.md`), each
// as a ratio to a yardstick of the same run. No limit is checked, because machines differ in speed;
// a lost or doubled row is an error.
//
// `npm run bench -- history [LINES [STORED]]`: measures the first import of a long history; its
// first STORED lines are stored beforehand. `npm run bench -- day [LINES]`: measures the memory of
// closing one long day. `npm run bench -- day-close [LINES]`: measures the certification of one
// long day beside payments. These take from minutes to hours. `npm run bench -- foreign-keys`:
// measures what the foreign keys that are left out would cost. `npm run bench -- partitions
// [ROWS …]`: measures whether the large tables would cost less in parts by account. `npm run bench
// -- sizes [LINES]`: measures the bytes on disk of a line.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

const usage = `npm run bench -- [GOAL …] [options]
  GOAL           such as G1; all of them without one
  --short        one round of a few seconds each: shows that the benches work, measures nothing
  --rounds N     how many rounds each contestant runs (5)
  --lines N      the size of the larger book, in statement lines
  --publish      write the results into docs/performance.md too`;

const longBenches = ['history', 'day', 'day-close'];
const programs = ['partitions', 'sizes'];

async function main() {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--help') return console.log(usage);
  if (longBenches.includes(first)) return runLong(first, rest);
  await prepare();
  if (first === 'foreign-keys') return runWithJest('foreign-keys.spec', {});
  if (programs.includes(first)) return runProgram(`${first}.ts`, rest);
  await runProgram('run.ts', process.argv.slice(2));
  if (process.argv.includes('--publish'))
    await runNode([
      join(projectFolder, 'node_modules/prettier/bin/prettier.cjs'),
      ...['--write', '--log-level=warn', 'docs/performance.md', 'docs/performance/results.json'],
    ]);
}

function runProgram(name, options) {
  return runNode([
    ...[...process.execArgv, '--no-warnings', '--expose-gc'],
    ...['--import=./bench/typescript.mjs', join(projectFolder, 'bench', name)],
    ...options,
  ]);
}

async function runLong(name, [lines = '20000', stored = '0', ...others]) {
  if (![lines, stored].every((count) => /^\d{1,8}$/.test(count)) || others.length > 0)
    throw new StepFailed('LINES and STORED must have at most 8 digits.');
  await prepare();
  await runWithJest(
    `long-${name}.spec`,
    name === 'history'
      ? { BENCH_HISTORY_LINES: lines, BENCH_HISTORY_STORED: stored }
      : { BENCH_DAY_LINES: lines },
  );
}

function runWithJest(pattern, env) {
  return runNode(
    [
      ...['--experimental-vm-modules', '--no-warnings', '--expose-gc'],
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...['--config', 'bench/jest.config.js', '--silent=false', pattern],
    ],
    { env },
  );
}

await main().catch(endWith);
