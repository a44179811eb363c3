// `npm run check`: the quick checks before each commit: types, lint, format, architecture.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StepFailed, endWith, prepare, projectFolder, runNode, step } from './prepare.mjs';

const architectureSpec = 'test/architecture.spec.ts';
const program = (path) => join(projectFolder, 'node_modules', path);

const checks = [
  ['Types', [program('typescript/bin/tsc'), '-p', 'tsconfig.json', '--noEmit']],
  ['Lint', [program('eslint/bin/eslint.js'), '.', '--max-warnings=0']],
  ['Format', [program('prettier/bin/prettier.cjs'), '.', '--check', '--log-level=warn']],
];
if (existsSync(join(projectFolder, architectureSpec))) {
  const jest = ['--experimental-vm-modules', '--no-warnings', program('jest/bin/jest.js')];
  // The architecture tests read sources only and need no database.
  checks.push([
    'Architecture',
    [...jest, architectureSpec, '--runInBand', '--globalSetup=', '--globalTeardown='],
  ]);
}

async function main() {
  await prepare({ build: false });
  const failures = [];
  for (const [name, argv] of checks) {
    try {
      await step(name, () => runNode(argv, { quiet: true }));
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      console.error(`✗ ${name}`);
      failures.push(name);
    }
  }
  if (failures.length > 0) throw new StepFailed(`Failed: ${failures.join(', ')}`);
}

await main().catch(endWith);
