// `npm run bench [-- LINES [OPEN_BREAKS]]`: measures how fast statement lines are imported and
// matched, as a multiple of plain inserts, and what a reconcile costs beside open breaks, as a
// multiple of the same work in an empty account, and the foreign keys that are left out. No limit
// is checked, because machines differ in speed.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

async function main() {
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
  await runNode(
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...['--config', 'bench/jest.config.js', '--silent=false'],
    ],
    { env: { BENCH_LINES: lines, BENCH_OPEN_BREAKS: openBreaks } },
  );
}

await main().catch(endWith);
