// `npm run verify [-- --account main]`: recomputes every certificate and every certified
// statement line from the database, and what every line means from the facts, also while the
// service runs. The exit code is 1 where one differs.
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

/** How late lines may come decides which of them wait: the same settings as the service's. */
async function readBankProfile() {
  const { readEnvironment, settingSchemas } = await import('../dist/platform/settings/config.js');
  const { bankProfileOf } = await import('../dist/bank/profiles.js');
  const environment = readEnvironment();
  const value = (name) =>
    settingSchemas[name].safeParse(environment[name]?.trim() || undefined).data;
  const profile = value('BANK_PROFILE') ?? (environment.BANK_BASE_URL ? 'generic' : 'sandbox');
  return bankProfileOf({ profile, visibilityBoundMs: value('BANK_VISIBILITY_BOUND_MS') ?? null });
}

/** More differences than these have one cause. */
const shownDifferences = 20;

function printOutcomes({ account, lines, due, differences }) {
  if (differences.length === 0) {
    const waiting = due > 0 ? `, ${due} due or pending` : '';
    return console.log(`OK  ${account}: ${lines} outcomes recomputed from the facts${waiting}`);
  }
  for (const { subject, stored, computed } of differences.slice(0, shownDifferences))
    console.log(
      `DIFFERENCE  account ${account}, ${subject}\n` +
        `  expected  ${computed || 'nothing'}\n  found     ${stored || 'nothing'}`,
    );
  const more = differences.length - shownDifferences;
  if (more > 0) console.log(`  and ${more} more differences of account ${account}`);
}

async function main() {
  const { account, help } = readOptions();
  if (help) return console.log(usage);
  const progress = process.stderr.isTTY
    ? (message) => process.stderr.write(`\r\x1b[K${message}`)
    : () => undefined;
  let startedAt = 0;
  const [verified, recomputed] = await withDatabase(async (database) => {
    const { Verifier } = await import('../dist/reporting/day-closes/verifier.service.js');
    const { Recomputation } = await import('../dist/reconciliation/runs/recomputation.service.js');
    startedAt = performance.now();
    const certificates = await new Verifier(database, progress).verify(account);
    progress('recomputing outcomes');
    const profile = await readBankProfile();
    return [certificates, await new Recomputation(database, profile).compare(account)];
  });
  progress('');
  if (account && verified.length === 0)
    throw new StepFailed(
      `There is no account ${account}: --account must be the slug of a bank account.`,
    );
  verified.forEach(printAccount);
  recomputed.forEach(printOutcomes);
  const isVerified =
    verified.every(({ difference }) => difference === null) &&
    recomputed.every(({ differences }) => differences.length === 0);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    isVerified
      ? `✓ All certificates and outcomes agree with the database (${seconds} s)`
      : `✗ The database differs from its certificates or its facts (${seconds} s)`,
  );
  if (!isVerified) process.exitCode = 1;
}

await main().catch(endWith);
