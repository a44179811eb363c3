// `npm run bench [-- LINES [OPEN_BREAKS]]`: measures how fast statement lines are imported and
// matched, as a multiple of plain inserts, and what a reconcile costs beside open breaks, as a
// multiple of the same work in an empty account, and the foreign keys that are left out. No limit
// is checked, because machines differ in speed.
//
// `npm run bench -- history [LINES [STORED]]`: measures the first import of a long history; its
// first STORED lines are stored beforehand. `npm run bench -- day [LINES]`: measures the memory of
// closing one long day. `npm run bench -- day-close [LINES]`: measures the certification of one
// long day beside payments. These take from minutes to hours.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

async function main() {
  const [first, ...rest] = process.argv.slice(2);
  if (['history', 'day', 'day-close'].includes(first)) return runLong(first, rest);
  const [lines = '20000', openBreaks = '50000', ...others] = process.argv.slice(2);
  if (![lines, openBreaks].every((count) => /^\d{3,7}$/.test(count)) || others.length > 0)
    throw new StepFailed(
      'LINES and OPEN_BREAKS must have 3 to 7 digits. ' +
        'Usage: npm run bench [-- LINES [OPEN_BREAKS]] (default 20000 50000).',
    );
  await prepare();
  console.log(
    `• Measuring ${lines} statement lines, and a reconcile beside ${openBreaks} open breaks …`,
  );
  await runBenches(['import-and-match', 'beside-open-breaks', 'foreign-keys'], {
    BENCH_LINES: lines,
    BENCH_OPEN_BREAKS: openBreaks,
  });
}

async function runLong(name, [lines = '20000', stored = '0', ...others]) {
  if (![lines, stored].every((count) => /^\d{1,8}$/.test(count)) || others.length > 0)
    throw new StepFailed('LINES and STORED must have at most 8 digits.');
  await prepare();
  await runBenches(
    [`long-${name}.spec`],
    name === 'history'
      ? { BENCH_HISTORY_LINES: lines, BENCH_HISTORY_STORED: stored }
      : { BENCH_DAY_LINES: lines },
  );
}

function runBenches(names, env) {
  return runNode(
    [
      ...['--experimental-vm-modules', '--no-warnings', '--expose-gc'],
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...['--config', 'bench/jest.config.js', '--silent=false', ...names],
    ],
    { env },
  );
}

await main().catch(endWith);
