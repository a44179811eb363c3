// `npm run erase -- --account main --nsu 123 --reason "…"`: erases the personal data of a certified
// statement line. The amounts of the line stay, and `npm run verify` still succeeds.
import { parseArgs } from 'node:util';
import { withDatabase } from './open-database.mjs';
import { endWith, StepFailed } from './prepare.mjs';

const usage = 'Usage: npm run erase -- --account SLUG --nsu NUMBER --reason TEXT';
const messages = {
  erased: (line) => `The personal data of ${line} is erased.`,
  not_found: (line) => `There is no ${line}.`,
  not_certified: (line) =>
    `The certificate of its day does not contain ${line} yet: close the day first.`,
};

function readOptions() {
  const text = { type: 'string' };
  try {
    return parseArgs({ options: { account: text, nsu: text, reason: text } }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

async function main() {
  const { account, nsu, reason } = readOptions();
  if (!account) throw new StepFailed(`--account is missing.\n${usage}`);
  if (!/^\d{1,18}$/.test(nsu ?? ''))
    throw new StepFailed(`--nsu must be a number of at most 18 digits.\n${usage}`);
  if (!reason?.trim()) throw new StepFailed(`--reason must not be empty.\n${usage}`);
  const outcome = await withDatabase(async (database) => {
    const { LineEraser } = await import('../dist/reporting/day-closes/line-eraser.service.js');
    return new LineEraser(database).erase(account, BigInt(nsu), reason.trim());
  });
  const message = messages[outcome](`statement line ${nsu} of account ${account}`);
  if (outcome !== 'erased') throw new StepFailed(message);
  console.log(`✓ ${message}`);
}

await main().catch(endWith);
