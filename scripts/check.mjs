// `npm run check`: the quick checks before each commit: types, lint, format,
// architecture, and what breaks for clients of the API.
import { join } from 'node:path';
import {
  compiler,
  endWith,
  jestArguments,
  prepare,
  preparedFolder,
  projectFolder,
  runNode,
  StepFailed,
} from './prepare.mjs';

const program = (path) => join(projectFolder, 'node_modules', path);
const cache = (name) => join(preparedFolder, name);

const types = [compiler, '-p', 'tsconfig.json', '--incremental'];
const format = [program('prettier/bin/prettier.cjs'), '.', '--check', '--log-level=warn'];

/** In the order in which two at a time take the least time, with results kept and without. */
const checks = [
  [
    'Format',
    [...format, '--cache', '--cache-strategy=content', `--cache-location=${cache('prettier')}`],
  ],
  ['Types', [...types, '--tsBuildInfoFile', cache('types.tsbuildinfo')]],
  [
    'Architecture and API breaks',
    [...jestArguments, '--runInBand', 'test/architecture.spec.ts', 'test/api-breaks.spec.ts'],
  ],
  ['Lint', [program('oxlint/bin/oxlint')]],
];

const failures = [];

async function runInTurn() {
  for (let next = checks.shift(); next; next = checks.shift()) {
    const [name, argv] = next;
    const startedAt = Date.now();
    try {
      await runNode(argv, { quiet: true });
      console.log(`✓ ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      console.error(`✗ ${name}`);
      failures.push(name);
    }
  }
}

async function main() {
  await prepare({ build: false });
  await Promise.all([runInTurn(), runInTurn()]);
  if (failures.length > 0) throw new StepFailed(`Failed: ${failures.join(', ')}`);
}

await main().catch(endWith);
