// `npm test [-- jest arguments]`: prepares, checks the types, runs the tests. Its last line is "N passed, N failed".
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  StepFailed,
  endWith,
  prepare,
  preparedFolder,
  projectFolder,
  runNode,
  step,
} from './prepare.mjs';

const resultFile = join(preparedFolder, `jest-${process.pid}.json`);

/** Runs one part and tells whether it held; a failure is printed and the rest still runs. */
async function holds(work) {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    console.error(`✗ ${error.message}`);
    return false;
  }
}

async function main() {
  await prepare({ build: false });
  const typesHold = await holds(() =>
    step('Checking types', () =>
      runNode([
        join(projectFolder, 'node_modules/typescript/bin/tsc'),
        '-p',
        'tsconfig.json',
        '--noEmit',
      ]),
    ),
  );
  // Whole-service tests run the build; with wrong types there is none, and those tests then say so.
  const buildHolds = !typesHold || (await holds(() => prepare()));
  const jestHolds = await holds(() => runJest(process.argv.slice(2)));
  const isGreen = report(readResults(), typesHold && buildHolds, jestHolds);
  process.exitCode = isGreen ? 0 : 1;
}

function runJest(argv) {
  const isContinuous = Boolean(process.env.CI) && process.env.CI !== 'false';
  return runNode(
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...(isContinuous ? ['--ci', '--no-colors'] : []),
      ...argv,
      '--json',
      `--outputFile=${resultFile}`,
    ],
    { env: isContinuous ? { NO_COLOR: '1' } : {} },
  );
}

function readResults() {
  try {
    return JSON.parse(readFileSync(resultFile, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined; // Jest did not come so far
    throw error;
  } finally {
    rmSync(resultFile, { force: true });
  }
}

/** A suite that could not run, wrong types and a Jest that ended without results count as a failure each. */
function report(results, sourcesHold, jestHolds) {
  const passed = results?.numPassedTests ?? 0;
  const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  let failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  if (!sourcesHold) failed += 1;
  if (!jestHolds && failed === 0) failed = 1;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0;
}

await main().catch(endWith);
