// `npm run verify [-- --account main]`: recomputes every certificate and every certified
// statement line from the database, also while the service runs. The exit code is 1 where one
// differs.
import { parseArgs } from 'node:util';
import { withDatabase } from './open-database.mjs';
import { endWith, StepFailed } from './prepare.mjs';

const usage = 'Usage: npm run verify [-- --account SLUG]';

function readOptions() {
  const options = { account: { type: 'string' }, help: { type: 'boolean' } };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

function printAccount({ account, counts, difference }) {
  if (difference) return printDifference(account, difference);
  const { lines, certified, erased, days, certificates, waiting } = counts;
  const parts = [
    `${lines} statement lines`,
    `${certified} of them certified`,
    ...(erased > 0 ? [`${erased} erased`] : []),
    ...(waiting > 0 ? [`${waiting} late, waiting for an amendment`] : []),
    `${days} closed days`,
    `${certificates} certificates`,
  ];
  console.log(`OK  ${account}: ${parts.join(', ')}`);
}

function printDifference(account, { date, nsu, field, expected, found }) {
  const where = [
    `account ${account}`,
    ...(date === null ? [] : [`day ${date}`]),
    ...(nsu === null ? [] : [`nsu ${nsu}`]),
  ];
  console.log(`DIFFERENCE  ${where.join(', ')}: ${field}`);
  console.log(`  expected  ${expected}\n  found     ${found}`);
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
  if (account && verified.length === 0)
    throw new StepFailed(
      `There is no account ${account}: --account must be the slug of a bank account.`,
    );
  verified.forEach(printAccount);
  const isVerified = verified.every(({ difference }) => difference === null);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    isVerified
      ? `✓ All certificates agree with the database (${seconds} s)`
      : `✗ The database differs from its certificates (${seconds} s)`,
  );
  if (!isVerified) process.exitCode = 1;
}

await main().catch(endWith);
