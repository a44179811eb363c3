// `npm run year [-- options]`: generates the statement of a busy account for a year, with known
// errors. The service imports and reconciles it, and the result is compared with the correct one.
// The exit code is 1 when they differ.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { endWith, jestArguments, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

const usage = `npm run year -- [options]
  --lines N      how many statement lines to generate (200000; at least 200)
  --seed S       the same seed generates the same year (1)
  --days D       how many days to generate (365; at least 30)
  --until DATE   the day after the last generated day (default: ten days ago)
  --rate R       how many of the lines each kind of error has, in percent (2)
  --shuffle      import the same lines again in a shuffled order, and compare both results
  --keep FOLDER  leave the database in FOLDER; \`DATA_DIR=FOLDER npm start\` serves it afterwards`;

const dayMs = 86_400_000;
const daysBeforeToday = 10;

function readOptions() {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  try {
    return parseArgs({
      options: {
        ...{ lines: text, seed: text, days: text, until: text, rate: text, keep: text },
        ...{ shuffle: flag, help: flag },
      },
    }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

function readNumber(options, name, fallback, minimum) {
  const value = options[name];
  if (value === undefined) return fallback;
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(value) || Number(value) < minimum)
    throw new StepFailed(
      `--${name} must be a number, at least ${minimum}, got ${value}.\n${usage}`,
    );
  return Number(value);
}

function readDay({ until }) {
  if (until === undefined)
    return new Date(Date.now() - daysBeforeToday * dayMs).toISOString().slice(0, 10);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(until) || Number.isNaN(Date.parse(until)))
    throw new StepFailed(`--until must be a date such as 2026-01-31, got ${until}.\n${usage}`);
  return until;
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(usage);
  const plan = {
    lines: Math.round(readNumber(options, 'lines', 200_000, 200)),
    seed: Math.round(readNumber(options, 'seed', 1, 0)),
    days: Math.round(readNumber(options, 'days', 365, 30)),
    rate: readNumber(options, 'rate', 2, 0) / 100,
    until: readDay(options),
    shuffle: options.shuffle === true,
    keepsDatabase: options.keep !== undefined,
  };
  await prepare();
  console.log(
    `• Generating and reconciling ${plan.lines} statement lines over ${plan.days} days (seed ${plan.seed}) …`,
  );
  const server = options.keep === undefined ? null : await startServer(resolve(options.keep));
  try {
    await runNode(
      [
        '--max-old-space-size=4096',
        ...jestArguments,
        ...['--runInBand', '--silent=false', 'test/full/year'],
      ],
      { env: { YEAR: JSON.stringify(plan), CONCILIA_TESTS: 'full', ...server?.env } },
    );
    console.log('✓ Every statement line has its correct outcome.');
  } finally {
    await server?.stop();
  }
}

/** Starts the embedded PostgreSQL in the folder where `DATA_DIR=FOLDER npm start` finds it. */
async function startServer(folder) {
  const launcher = join(projectFolder, 'dist/platform/embedded-postgres/embedded-postgres.js');
  const { startEmbeddedPostgres } = await import(pathToFileURL(launcher).href);
  const dataDir = join(folder, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  const server = await startEmbeddedPostgres({ dataDir, log: console.log });
  return { env: { TEST_DATABASE_URL: server.url('postgres') }, stop: () => server.stop() };
}

await main().catch(endWith);
