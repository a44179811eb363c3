// `npm run bench [-- lines]`: how fast the book is kept, as a multiple of a yardstick that is run beside it. It says a
// figure and judges none: no machine is as fast as another.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

async function main() {
  const [lines = '20000', ...others] = process.argv.slice(2);
  if (!/^\d{3,7}$/.test(lines) || others.length > 0)
    throw new StepFailed('npm run bench -- [lines]: how many lines, 20000 unless told otherwise.');
  await prepare();
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
