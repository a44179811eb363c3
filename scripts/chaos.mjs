// `npm run chaos [-- options]`: tests payments under faults. It runs real processes with requests
// and faults from a seed. Then it compares the bank's ledger with what the service reports.
// The exit code is 1 when they differ.
import { parseArgs } from 'node:util';
import { endWith, jestArguments, prepare, runNode, StepFailed } from './prepare.mjs';

const usage = `npm run chaos -- [options]
  --seed N       the first seed (1)
  --seeds N      how many seeds to run, one after the other (1)
  --requests N   how many requests to send in each round (100)
  --fault KIND   one kind of fault at every endpoint where it can occur; "each" runs one round for
                 each kind, "all" mixes them (the default, also --all), "none" injects no fault
  --kill         kill -9 of the service every few seconds
  --outage       kill -9 of the bank every few seconds
  --wipe         empty the queue's tables every second
  --two          send the same idempotency keys to two service processes on one database
  --settle-ms N  how long after the last fault every operation must have finished (120000)
  --points       instead of rounds: kill -9 before and after each commit and each call to the bank
                 that has no result of this version in test/chaos/points.json yet
  --queue NAME   the queue of --points: postgresql (the default) or redis
  --again        with --points, all of them
  --faults       with --points, put in each fault of test/chaos/points/mutants.mjs instead
The service gets BANK_REPEAT_SAFE, BANK_STATUS_BY_ID and BANK_VISIBILITY_BOUND_MS from the environment.`;

function readOptions() {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  try {
    return parseArgs({
      options: {
        ...{ seed: text, seeds: text, requests: text, fault: text, 'settle-ms': text },
        ...{ all: flag, kill: flag, outage: flag, wipe: flag, two: flag, help: flag },
        ...{ points: flag, queue: text, again: flag, faults: flag },
      },
    }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

function readCount(options, name) {
  const value = options[name];
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value))
    throw new StepFailed(`--${name} must be a whole number, got ${value}.\n${usage}`);
  return Number(value);
}

const runTest = (name, env) =>
  runNode([...jestArguments, ...['--runInBand', '--silent=false', `test/full/${name}`]], {
    env: { ...env, CONCILIA_TESTS: 'full' },
  });

async function runPoints(options) {
  const { queue = 'postgresql', again = false, faults = false } = options;
  if (!['postgresql', 'redis'].includes(queue))
    throw new StepFailed(`--queue must be postgresql or redis, got ${queue}.\n${usage}`);
  await prepare();
  const plan = { seed: readCount(options, 'seed') ?? 1, queue, again, faults };
  await runTest('points', { POINTS: JSON.stringify(plan) });
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(usage);
  if (options.points) return runPoints(options);
  const plan = {
    seed: readCount(options, 'seed'),
    seeds: readCount(options, 'seeds'),
    requests: readCount(options, 'requests'),
    settleMs: readCount(options, 'settle-ms'),
    fault: options.fault ?? 'all',
    kill: options.kill,
    outage: options.outage,
    wipe: options.wipe,
    two: options.two,
  };
  await prepare();
  const { seed = 1, seeds = 1, requests = 100, fault } = plan;
  console.log(
    `• Testing payments under faults: ${seeds} seed(s) from ${seed}, ${requests} requests per round, faults: ${fault} …`,
  );
  await runTest('chaos', { CHAOS: JSON.stringify(plan) });
  console.log(
    '✓ Every requested payment was made exactly once or not at all, and every line is explained.',
  );
}

await main().catch(endWith);
