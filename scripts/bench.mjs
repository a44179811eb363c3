// `npm run bench [-- lines]`: measures how fast statement lines are imported and matched, as a
// multiple of plain inserts on the same machine. No limit is checked, because machines differ in
// speed.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

async function main() {
  const [lines = '20000', ...others] = process.argv.slice(2);
  if (!/^\d{3,7}$/.test(lines) || others.length > 0)
    throw new StepFailed(
      'LINES must have 3 to 7 digits. Usage: npm run bench [-- LINES] (default 20000).',
    );
  await prepare();
  console.log(`• Measuring the import and the matching of ${lines} statement lines …`);
  await runNode(
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...['--config', 'bench/jest.config.js', '--silent=false'],
    ],
    { env: { BENCH_LINES: lines } },
  );
}

await main().catch(endWith);
