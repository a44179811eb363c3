// `npm run verify [-- --account main]`: recomputes the chain of certificates, and every line under it, from the database
// alone, also while the service runs. Ends with 1 at a difference.
import { parseArgs } from 'node:util';
import { withDatabase } from './open-database.mjs';
import { endWith, StepFailed } from './prepare.mjs';

const usage = 'npm run verify [-- --account SLUG]';

function readOptions() {
  const options = { account: { type: 'string' }, help: { type: 'boolean' } };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

function tellAccount({ account, counts, difference }) {
  if (difference) return tellDifference(account, difference);
  const { lines, sealed, erased, days, certificates, waiting } = counts;
  const parts = [
    `${lines} lines`,
    `${sealed} of them in certificates`,
    ...(erased > 0 ? [`${erased} erased`] : []),
    ...(waiting > 0 ? [`${waiting} late, to be amended`] : []),
    `${days} days`,
    `${certificates} certificates`,
  ];
  console.log(`OK  ${account}: ${parts.join(', ')}`);
}

function tellDifference(account, { date, nsu, field, certified, found }) {
  const where = [
    `account ${account}`,
    ...(date === null ? [] : [`day ${date}`]),
    ...(nsu === null ? [] : [`nsu ${nsu}`]),
  ];
  console.log(`DIFFERENCE  ${where.join(', ')}: ${field}`);
  console.log(`  should be  ${certified}\n  is         ${found}`);
}

async function main() {
  const { account, help } = readOptions();
  if (help) return console.log(usage);
  const progress = process.stderr.isTTY
    ? (message) => process.stderr.write(`\r\x1b[K${message}`)
    : () => undefined;
  let startedAt = 0;
  const verified = await withDatabase(async (database) => {
    const { Verifier } = await import('../dist/day-closes/verifier.service.js');
    startedAt = performance.now();
    return new Verifier(database, progress).verify(account);
  });
  progress('');
  if (account && verified.length === 0) throw new StepFailed(`There is no account ${account}.`);
  verified.forEach(tellAccount);
  const isSame = verified.every(({ difference }) => difference === null);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${isSame ? 'OK' : 'NOT OK'} (${seconds} s)`);
  if (!isSame) process.exitCode = 1;
}

await main().catch(endWith);
