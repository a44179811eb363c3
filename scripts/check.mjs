// `npm run check`: the quick checks before each commit: types, lint, format, architecture.
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

/** Two at a time. Those that use one core stand beside those that use all. */
const checks = [
  [
    ['Types', [...types, '--tsBuildInfoFile', cache('types.tsbuildinfo')]],
    ['Lint', [program('oxlint/bin/oxlint')]],
  ],
  [
    ['Architecture', [...jestArguments, '--runInBand', 'test/architecture.spec.ts']],
    [
      'Format',
      [...format, '--cache', '--cache-strategy=content', `--cache-location=${cache('prettier')}`],
    ],
  ],
];

const failures = [];

async function runInTurn(list) {
  for (const [name, argv] of list) {
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
  await Promise.all(checks.map(runInTurn));
  if (failures.length > 0) throw new StepFailed(`Failed: ${failures.join(', ')}`);
}

await main().catch(endWith);
