// The program of `npm run restored`, for a database that was set back to an earlier time. It runs
// once before the service starts, and stops every account. Later it shows what the statement has
// and the database lacks, and releases the accounts. docs/how-to/backup-restore.md has the steps.
import { parseArgs } from 'node:util';
import { bankProfileOf } from '../bank/profiles.js';
import { loadProgramSettings, readEnvironment } from '../platform/settings/config.js';
import type { Database } from '../platform/postgres/database.service.js';
import { exitWith, printError } from './exit.js';
import { formatReaisWithTwoDecimals } from '../brazil/cents.js';
import {
  recordRestore,
  releaseRestored,
  reportRestores,
  type RestoreReport,
} from '../outbound/operations/restores.service.js';
import { withProgramDatabase } from './program-database.js';

const usage = `Usage:
  npm run restored -- --actor NAME
      records that the database was set back, and stops every account; before the service starts
  npm run restored -- --check [--account SLUG]
      shows the debits of the statement that no stored operation explains
  npm run restored -- --release --actor NAME [--account SLUG] [--unproven]
      releases the accounts whose statement shows everything that may be lost;
      --unproven: also the others, after a person has compared them with the bank`;

const print = (message: string) => process.stdout.write(`${message}\n`);

function readOptions() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const options = { actor: text, account: text, check: flag, release: flag, unproven: flag };
  try {
    const { values } = parseArgs({ options });
    const isComplete = values.check ? !values.release : Boolean(values.actor?.trim());
    return isComplete && (values.release || !values.unproven) ? values : null;
  } catch {
    return null;
  }
}

function printReport({ slug, mode, obstacle, ...report }: RestoreReport): void {
  const { restoredAt, lostFrom, unknownOperations, lostDebits } = report;
  print(
    `${slug} (${mode}): set back, recorded at ${restoredAt.toISOString()}; operations since ` +
      `${lostFrom.toISOString()} may be lost.`,
  );
  print(`  ${obstacle ?? 'The statement shows everything that may be lost.'}`);
  if (unknownOperations > 0n) print(`  ${unknownOperations} operations have an unknown outcome.`);
  print(`  ${lostDebits.length} debits that no stored operation explains:`);
  for (const { nsu, occurredAt, amountCents, typeName, counterparty, ...line } of lostDebits) {
    const explained = line.breakId ? `break ${line.breakId} ${line.breakState}` : 'no break';
    const facts = [occurredAt.toISOString(), formatReaisWithTwoDecimals(amountCents), typeName];
    print(`    nsu ${nsu}  ${facts.join('  ')}  ${counterparty ?? '-'}  ${explained}`);
  }
}

async function record(database: Database, actor: string): Promise<void> {
  for (const { slug, formerMode, unfinished } of await recordRestore(database, actor)) {
    const stopped = formerMode === 'live' ? 'stopped' : `stays ${formerMode}`;
    print(`${slug}: ${stopped}, ${unfinished} unfinished operations are looked for at the bank`);
  }
  print('Start the service. Then: npm run restored -- --check');
}

/** True when every account that the restore has stopped is live again. */
async function release(
  database: Database,
  reports: readonly RestoreReport[],
  options: { actor: string; isUnproven: boolean },
): Promise<boolean> {
  let isComplete = true;
  for (const report of reports.filter(({ formerMode }) => formerMode === 'live')) {
    const isReleased = report.obstacle === null || options.isUnproven;
    if (isReleased) await releaseRestored(database, report, options);
    print(`${report.slug}: ${isReleased ? 'released' : 'not released'}`);
    isComplete &&= isReleased;
  }
  return isComplete;
}

async function main(): Promise<void> {
  const options = readOptions();
  if (!options) {
    printError(usage);
    process.exitCode = 1;
    return;
  }
  const { bank, ...location } = loadProgramSettings(readEnvironment());
  const { actor = '', account = null, check, unproven: isUnproven = false } = options;
  await withProgramDatabase(location, async (database) => {
    if (!check && !options.release) return record(database, actor);
    const reports = await reportRestores(database, bankProfileOf(bank), account);
    if (reports.length === 0) print('No account has a restore that is not over.');
    reports.forEach(printReport);
    const isDone = check
      ? reports.every(({ obstacle }) => obstacle === null)
      : await release(database, reports, { actor, isUnproven });
    if (!isDone) process.exitCode = 1;
  });
}

await main().catch(exitWith);
