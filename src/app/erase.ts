// The program of `npm run erase -- --account main --nsu 123 --reason "…"`: erases the personal data
// of a certified statement line. Its amounts stay, and `npm run verify` still succeeds.
import { parseArgs } from 'node:util';
import { LineEraser } from '../reporting/day-closes/line-eraser.service.js';
import { loadProgramSettings, readEnvironment } from '../platform/settings/config.js';
import { exitWith, printError } from './exit.js';
import { withProgramDatabase } from './program-database.js';

const usage = 'Usage: npm run erase -- --account SLUG --nsu NUMBER --reason TEXT';

const messages = {
  erased: (line: string) => `The personal data of ${line} is erased.`,
  not_found: (line: string) => `There is no ${line}.`,
  not_certified: (line: string) =>
    `The certificate of its day does not contain ${line} yet: close the day first.`,
};

/** The options, or what is wrong with them. */
function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ options: { account: text, nsu: text, reason: text } });
    const { account, nsu = '', reason = '' } = values;
    if (!account) return '--account is missing.';
    if (!/^\d{1,18}$/.test(nsu)) return '--nsu must be a number of at most 18 digits.';
    if (!reason.trim()) return '--reason must not be empty.';
    return { account, nsu: BigInt(nsu), reason: reason.trim() };
  } catch (error) {
    return (error as Error).message;
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  if (typeof options === 'string') {
    printError(`${options}\n${usage}`);
    process.exitCode = 1;
    return;
  }
  const { account, nsu, reason } = options;
  const outcome = await withProgramDatabase(loadProgramSettings(readEnvironment()), (database) =>
    new LineEraser(database).erase(account, nsu, reason),
  );
  process.stdout.write(`${messages[outcome](`statement line ${nsu} of account ${account}`)}\n`);
  if (outcome !== 'erased') process.exitCode = 1;
}

await main().catch(exitWith);
