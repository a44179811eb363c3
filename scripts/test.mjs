// `npm test [-- PATTERN … JEST OPTIONS]`: checks the types, builds, runs the tests. A pattern
// selects test files by path; steps whose inputs are unchanged are skipped. `npm run test:full`
// runs the long tests instead. The last line is "N passed, N failed".
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent } from './lock.mjs';
import {
  StepFailed,
  endWith,
  hashOf,
  listFiles,
  prepare,
  preparedFolder,
  projectFolder,
  runNode,
  step,
} from './prepare.mjs';

const resultFile = join(preparedFolder, `jest-${process.pid}.json`);
const typesStamp = join(preparedFolder, 'types');
const generatedFolder = join('src', 'generated');

/** Whether `work` succeeds. A failure is printed and the next part still runs. */
async function succeeds(work) {
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
  const typesPass = await succeeds(checkTypes);
  // Tests of the whole service run the build. With type errors there is none, and they fail.
  const buildPasses = !typesPass || (await succeeds(() => prepare()));
  const jestPasses = await succeeds(() => runJest(process.argv.slice(2)));
  const isGreen = report(readResults(), typesPass && buildPasses, jestPasses);
  process.exitCode = isGreen ? 0 : 1;
}

async function checkTypes() {
  const hash = typesHash();
  if (readIfPresent(typesStamp) === hash) return;
  await step('Checking types', () =>
    runNode([
      join(projectFolder, 'node_modules/typescript/bin/tsc'),
      ...['-p', 'tsconfig.json', '--noEmit'],
    ]),
  );
  writeFileSync(typesStamp, hash);
}

/** The inputs of the type check; the generated clients change with the schemas. */
function typesHash() {
  const folders = ['src', 'test', 'bench', 'prisma'];
  const sources = folders.flatMap((folder) =>
    listFiles(folder, (path) => /\.(ts|prisma)$/.test(path) && !path.startsWith(generatedFolder)),
  );
  return hashOf(['tsconfig.json', 'package-lock.json', ...sources]);
}

function runJest(given) {
  const isFull = given[0] === '--full';
  const argv = isFull ? given.slice(1) : given;
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
    {
      env: {
        ...(isContinuous ? { NO_COLOR: '1' } : {}),
        ...(isFull ? { CONCILIA_TESTS: 'full' } : {}),
      },
    },
  );
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

/**
 * Counts one failure for each suite that could not run, for type errors, and for Jest without
 * results.
 */
function report(results, sourcesPass, jestPasses) {
  const passed = results?.numPassedTests ?? 0;
  const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  let failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  if (!sourcesPass) failed += 1;
  if (!jestPasses && failed === 0) failed = 1;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0;
}

await main().catch(endWith);
