// `npm test [-- PATTERN … JEST OPTIONS]`: runs the tests. A pattern selects test files by path.
// `npm run test:full` runs the long tests instead. The last line is "N passed, N failed".
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  endWith,
  jestArguments,
  prepare,
  preparedFolder,
  runNode,
  StepFailed,
} from './prepare.mjs';

const resultFile = join(preparedFolder, `jest-${process.pid}.json`);

async function main() {
  await prepare({ build: false });
  const hasPassed = await runJest(process.argv.slice(2));
  report(readResults(), hasPassed);
}

/** Whether Jest ends without an error. */
async function runJest(given) {
  const isFull = given[0] === '--full';
  const argv = isFull ? given.slice(1) : given;
  const isContinuous = Boolean(process.env.CI) && process.env.CI !== 'false';
  const env = {
    ...(isContinuous ? { NO_COLOR: '1' } : {}),
    ...(isFull ? { CONCILIA_TESTS: 'full' } : {}),
  };
  const options = isContinuous ? ['--ci', '--no-colors'] : [];
  try {
    await runNode([...jestArguments, ...options, ...argv, '--json', `--outputFile=${resultFile}`], {
      env,
    });
    return true;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    console.error(`✗ ${error.message}`);
    return false;
  }
}

function readResults() {
  try {
    return JSON.parse(readFileSync(resultFile, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined; // Jest ended before it had results
    throw error;
  } finally {
    rmSync(resultFile, { force: true });
  }
}

/** Counts one failure for each suite that could not run, and for Jest without results. */
function report(results, hasPassed) {
  const passed = results?.numPassedTests ?? 0;
  const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  let failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  if (!hasPassed && failed === 0) failed = 1;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main().catch(endWith);
