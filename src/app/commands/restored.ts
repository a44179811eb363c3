// For a database that was set back to an earlier time. It runs once before the service starts, and
// stops every account. Later it shows what the statement has and the database lacks, and releases
// the accounts. docs/how-to/backup-restore.md has the steps.
import type { Command } from 'commander';
import { bankProfileOf } from '../../bank/profiles.js';
import { loadProgramSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import type { Database } from '../../platform/postgres/database.service.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { lostDebitIds } from '../../outbound/operations/restores.queries.js';
import {
  recordRestore,
  releaseRestored,
  reportRestores,
  type RestoreReport,
} from '../../outbound/operations/restores.service.js';
import { withProgramDatabase } from '../program-database.js';
import { reports, type CommandResult } from './definition.js';

interface Options {
  actor?: string;
  account?: string;
  check?: true;
  release?: true;
  unproven?: true;
}

function describeReport({ slug, mode, obstacle, ...report }: RestoreReport): string[] {
  const { restoredAt, lostFrom, unknownOperations, lostDebits } = report;
  const lines = [
    `${slug} (${mode}): set back, recorded at ${restoredAt.toISOString()}; operations since ` +
      `${lostFrom.toISOString()} may be lost.`,
    `  ${obstacle ?? 'The statement shows everything that may be lost.'}`,
  ];
  if (unknownOperations > 0n)
    lines.push(`  ${unknownOperations} operations have an unknown outcome.`);
  lines.push(`  ${lostDebits.length} debits that no stored operation explains:`);
  for (const { nsu, occurredAt, amountCents, typeName, counterparty, ...line } of lostDebits) {
    const explained = line.breakId ? `break ${line.breakId} ${line.breakState}` : 'no break';
    const facts = [occurredAt.toISOString(), formatReaisWithTwoDecimals(amountCents), typeName];
    const ids = lostDebitIds.flatMap((name) => (line[name] ? [`${name} ${line[name]}`] : []));
    if (ids.length === 0 && counterparty === null)
      ids.push('without an id: every request of this amount is refused');
    facts.push(counterparty ?? '-', explained, ...ids);
    lines.push(`    nsu ${nsu}  ${facts.join('  ')}`);
  }
  return lines;
}

async function record(database: Database, actor: string): Promise<CommandResult> {
  const recorded = await recordRestore(database, actor);
  const text = recorded.map(({ slug, formerMode, unfinished }) => {
    const stopped = formerMode === 'live' ? 'stopped' : `stays ${formerMode}`;
    return `${slug}: ${stopped}, ${unfinished} unfinished operations are looked for at the bank`;
  });
  return { text: [...text, 'Start the service. Then: concilia restored --check'], json: recorded };
}

/** The accounts that the restore has stopped, and whether each is live again. */
async function release(
  database: Database,
  reports: readonly RestoreReport[],
  options: { actor: string; isUnproven: boolean },
): Promise<{ account: string; isReleased: boolean }[]> {
  const released: { account: string; isReleased: boolean }[] = [];
  for (const report of reports.filter(({ formerMode }) => formerMode === 'live')) {
    const isReleased = report.obstacle === null || options.isUnproven;
    if (isReleased) await releaseRestored(database, report, options);
    released.push({ account: report.slug, isReleased });
  }
  return released;
}

async function restored(options: Options): Promise<CommandResult> {
  const { bank, ...location } = loadProgramSettings(readEnvironment());
  const { actor = '', account = null, check, unproven: isUnproven = false } = options;
  return withProgramDatabase(location, async (database) => {
    if (!check && !options.release) return record(database, actor);
    const found = await reportRestores(database, bankProfileOf(bank), account);
    const text = found.flatMap(describeReport);
    if (found.length === 0) text.push('No account has a restore that is not over.');
    if (check) {
      const isOk = found.every(({ obstacle }) => obstacle === null);
      return { text, json: { restores: found }, isOk };
    }
    const released = await release(database, found, { actor, isUnproven });
    const outcomes = released.map(
      ({ account: slug, isReleased }) => `${slug}: ${isReleased ? 'released' : 'not released'}`,
    );
    return {
      text: [...text, ...outcomes],
      json: { restores: found, released },
      isOk: released.every(({ isReleased }) => isReleased),
    };
  });
}

export function restoredCommand(command: Command): void {
  command
    .option('--actor <name>', 'who does it; alone: record the restore, and stop every account')
    .option('--check', 'show the debits of the statement that no stored operation explains')
    .option('--release', 'release the accounts whose statement shows everything that may be lost')
    .option('--unproven', 'with --release: also the others, which a person has compared')
    .option('--account <slug>', 'one bank account; default: all');
  reports<Options>(command, 'restored --actor Ana', (options) => {
    const { actor, check, release: releases, unproven } = options;
    if (check ? releases : !actor?.trim()) command.error('error: give --check, or --actor NAME');
    if (unproven && !releases) command.error('error: --unproven needs --release');
    return restored(options);
  });
}
