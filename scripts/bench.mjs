// `npm run bench [-- GOAL … options]`: measures the performance goals (`docs/performance.md`), each
// as a ratio to a yardstick of the same run. No limit is checked, because machines differ in speed;
// a lost or doubled row is an error.
import { join } from 'node:path';
import { endWith, prepare, projectFolder, runNode } from './prepare.mjs';

const usage = `npm run bench -- [GOAL …] [options]
  GOAL           such as G1; all of them without one
  disk           what lines cost on disk, and which accounts statements reach; not a goal
  --short        one round of a few seconds each: shows that the benches work, measures nothing
  --rounds N     how many rounds each contestant runs (5)
  --lines N      the size of the larger book, in statement lines
  --publish      write the results into docs/performance.md, or those of disk into
                 docs/explanation/scaling.md`;

async function main() {
  const options = process.argv.slice(2);
  if (options[0] === '--help') return console.log(usage);
  const isDisk = options[0] === 'disk';
  const program = isDisk ? 'disk.ts' : 'run.ts';
  await prepare();
  await runNode([
    ...['--no-warnings', '--expose-gc'],
    ...['--import=./bench/typescript.mjs', join(projectFolder, 'bench', program)],
    ...options.slice(isDisk ? 1 : 0),
  ]);
  if (options.includes('--publish'))
    await runNode([
      join(projectFolder, 'node_modules/prettier/bin/prettier.cjs'),
      ...['--write', '--log-level=warn', 'docs/performance.md', 'docs/performance/*.json'],
    ]);
}

await main().catch(endWith);
