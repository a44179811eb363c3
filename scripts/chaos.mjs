// `npm run chaos [-- options]`: the soak of money out. Real processes, a mixed workload, faults from a seed, and a
// checker that holds the bank's book against what was told. Ends with 1 when anything was found.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endWith, prepare, projectFolder, runNode, StepFailed } from './prepare.mjs';

const usage = `npm run chaos -- [options]
  --seed N       the first seed (1)
  --seeds N      how many seeds, one after the other (1)
  --intents N    intents a round (100)
  --fault KIND   one kind of fault at every endpoint where it can fire, "each" kind in its turn, "all" at once
                 (the default, also --all), or "none"
  --kill         kill -9 of the service every few seconds
  --outage       kill -9 of the bank every few seconds
  --wipe         the queue's tables are emptied every second
  --two          two processes of the service on one database, sent the same keys
  --settle-ms N  how long after the last fault all must have come to its end (120000)
BANK_REPEAT_SAFE, BANK_STATUS_BY_ID and BANK_VISIBILITY_BOUND_MS, when set, are what the service believes of the bank.`;

function readOptions() {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  try {
    return parseArgs({
      options: {
        ...{ seed: text, seeds: text, intents: text, fault: text, 'settle-ms': text },
        ...{ all: flag, kill: flag, outage: flag, wipe: flag, two: flag, help: flag },
      },
    }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

function readCount(options, name) {
  const value = options[name];
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value)) throw new StepFailed(`--${name} must be a whole number.\n${usage}`);
  return Number(value);
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(usage);
  const wishes = {
    seed: readCount(options, 'seed'),
    seeds: readCount(options, 'seeds'),
    intents: readCount(options, 'intents'),
    settleMs: readCount(options, 'settle-ms'),
    fault: options.fault ?? 'all',
    kill: options.kill,
    outage: options.outage,
    wipe: options.wipe,
    two: options.two,
  };
  await prepare();
  await runNode(
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join(projectFolder, 'node_modules/jest/bin/jest.js'),
      ...['--runInBand', '--silent=false', 'test/e2e/chaos'],
    ],
    { env: { CHAOS: JSON.stringify(wishes) } },
  );
}

await main().catch(endWith);
