// `npm run erase -- --account main --nsu 123 --reason "…"`: forgets what is personal in a certified line of the
// statement. Its money stays, and `npm run verify` holds as before.
import { parseArgs } from 'node:util';
import { withDatabase } from './open-database.mjs';
import { endWith, StepFailed } from './prepare.mjs';

const usage = 'npm run erase -- --account SLUG --nsu NUMBER --reason TEXT';
const answers = {
  erased: 'Erased.',
  not_found: 'There is no such line.',
  not_certified: 'The line is in no certificate yet: its day must be closed first.',
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
  if (!account || !/^\d{1,18}$/.test(nsu ?? '') || !reason?.trim()) throw new StepFailed(usage);
  const outcome = await withDatabase(async (database) => {
    const { LineEraser } = await import('../dist/day-closes/line-eraser.service.js');
    return new LineEraser(database).erase(account, BigInt(nsu), reason.trim());
  });
  if (outcome !== 'erased') throw new StepFailed(answers[outcome]);
  console.log(answers[outcome]);
}

await main().catch(endWith);
