// The program of `npm run verify [-- --account main]`: recomputes every certificate and every
// certified statement line from the database, and what every line means from the facts, also while
// the service runs. The exit code is 1 where one differs.
import { parseArgs } from 'node:util';
import { bankProfileOf } from '../bank/profiles.js';
import { loadProgramSettings, readEnvironment } from '../platform/settings/config.js';
import {
  Recomputation,
  type RecomputedAccount,
} from '../reconciliation/runs/recomputation.service.js';
import { Verifier, type VerifiedAccount } from '../reporting/day-closes/verifier.service.js';
import { exitWith, printError } from './exit.js';
import { withProgramDatabase } from './program-database.js';

const usage = 'Usage: npm run verify [-- --account SLUG]';

/** More differences than these have one cause. */
const shownDifferences = 20;

const print = (message: string) => process.stdout.write(`${message}\n`);

function readAccount(): { account?: string } | null {
  try {
    return parseArgs({ options: { account: { type: 'string' } } }).values;
  } catch {
    return null;
  }
}

function showProgress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${message}`);
}

function printDifference(where: string, expected: string, found: string): void {
  print(`DIFFERENCE  ${where}\n  expected  ${expected}\n  found     ${found}`);
}

function printCertificates({ account, counts, difference }: VerifiedAccount): void {
  if (difference) {
    const { date, nsu, field, expected, found } = difference;
    const parts = [`account ${account}`];
    if (date !== null) parts.push(`day ${date}`);
    if (nsu !== null) parts.push(`nsu ${nsu}`);
    return printDifference(`${parts.join(', ')}: ${field}`, expected, found);
  }
  const { lines, certified, erased, days, certificates, waiting } = counts;
  const parts = [`${lines} statement lines`, `${certified} of them certified`];
  if (erased > 0) parts.push(`${erased} erased`);
  if (waiting > 0) parts.push(`${waiting} late, waiting for an amendment`);
  parts.push(`${days} closed days`, `${certificates} certificates`);
  print(`OK  ${account}: ${parts.join(', ')}`);
}

function printOutcomes({ account, lines, due, differences }: RecomputedAccount): void {
  if (differences.length === 0) {
    const waiting = due > 0 ? `, ${due} due or pending` : '';
    print(`OK  ${account}: ${lines} outcomes recomputed from the facts${waiting}`);
  }
  for (const { subject, stored, computed } of differences.slice(0, shownDifferences))
    printDifference(`account ${account}, ${subject}`, computed || 'nothing', stored || 'nothing');
  const more = differences.length - shownDifferences;
  if (more > 0) print(`  and ${more} more differences of account ${account}`);
}

/** Whether everything agrees. How late lines may come decides which of them wait: a setting. */
async function verify(account?: string): Promise<boolean> {
  const { bank, ...location } = loadProgramSettings(readEnvironment());
  return withProgramDatabase(location, async (database) => {
    const startedAt = performance.now();
    const verified = await new Verifier(database, showProgress).verify(account);
    if (account && verified.length === 0) {
      printError(`There is no account ${account}: --account must be the slug of a bank account.`);
      return false;
    }
    showProgress('recomputing outcomes');
    const recomputed = await new Recomputation(database, bankProfileOf(bank)).compare(account);
    showProgress('');
    verified.forEach(printCertificates);
    recomputed.forEach(printOutcomes);
    const isVerified =
      verified.every(({ difference }) => difference === null) &&
      recomputed.every(({ differences }) => differences.length === 0);
    const result = isVerified
      ? '✓ All certificates and outcomes agree with the database'
      : '✗ The database differs from its certificates or its facts';
    print(`${result} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
    return isVerified;
  });
}

async function main(): Promise<void> {
  const options = readAccount();
  if (!options) printError(usage);
  if (!options || !(await verify(options.account))) process.exitCode = 1;
}

await main().catch(exitWith);
