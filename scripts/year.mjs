// `npm run year [-- options]`: a year of a busy account, with every trouble at its rate, imported and reconciled, and
// held against the truth that it was generated with. Ends with 1 when anything was found.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

const usage = `npm run year -- [options]
  --lines N      lines of the statement (200000)
  --seed S       the same seed lays out the same year (1)
  --days D       how many days it has (365; at least 30)
  --until DATE   the day after its last; by default ten days ago, so that its bank's clock is ours
  --rate R       how much of the lines each trouble is, in percent (2)
  --shuffle      import the same lines once more in a shuffled order, and compare both books
  --keep FOLDER  keep the database in that folder: \`DATA_DIR=FOLDER npm start\` then shows the book`;

const dayMs = 86_400_000;
const roomDays = 10;

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

function readNumber(options, name, fallback, least) {
  const value = options[name];
  if (value === undefined) return fallback;
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(value) || Number(value) < least)
    throw new StepFailed(`--${name} must be a number, at least ${least}.\n${usage}`);
  return Number(value);
}

function readDay({ until }) {
  if (until === undefined)
    return new Date(Date.now() - roomDays * dayMs).toISOString().slice(0, 10);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(until) || Number.isNaN(Date.parse(until)))
    throw new StepFailed(`--until must be a day as 2026-01-31.\n${usage}`);
  return until;
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(usage);
  const wishes = {
    lines: Math.round(readNumber(options, 'lines', 200_000, 200)),
    seed: Math.round(readNumber(options, 'seed', 1, 0)),
    days: Math.round(readNumber(options, 'days', 365, 30)),
    rate: readNumber(options, 'rate', 2, 0) / 100,
    until: readDay(options),
    shuffle: options.shuffle === true,
    isKept: options.keep !== undefined,
  };
  await prepare();
  const server = options.keep === undefined ? null : await startServer(resolve(options.keep));
  try {
    await runNode(
      [
        '--experimental-vm-modules',
        '--no-warnings',
        '--max-old-space-size=4096',
        join(projectFolder, 'node_modules/jest/bin/jest.js'),
        ...['--runInBand', '--silent=false', 'test/integration/year.spec'],
      ],
      { env: { YEAR: JSON.stringify(wishes), ...server?.env } },
    );
  } finally {
    await server?.stop();
  }
}

/** The service's own embedded PostgreSQL, in a folder that stays. */
async function startServer(folder) {
  const launcher = join(projectFolder, 'dist', 'platform', 'embedded-postgres.js');
  const { startEmbeddedPostgres } = await import(pathToFileURL(launcher).href);
  const dataDir = join(folder, 'postgres');
  mkdirSync(dataDir, { recursive: true });
  const server = await startEmbeddedPostgres({ dataDir, log: console.log });
  return { env: { TEST_DATABASE_URL: server.url('postgres') }, stop: () => server.stop() };
}

await main().catch(endWith);
