// Recomputes every certificate and every certified statement line from the database, and what every
// line means from the facts, also while the service runs. The exit code is 1 where one differs.
import type { Command } from 'commander';
import { bankProfileOf } from '../../bank/profiles.js';
import { loadProgramSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import {
  Recomputation,
  type RecomputedAccount,
} from '../../reconciliation/runs/recomputation.service.js';
import { Verifier, type VerifiedAccount } from '../../reporting/day-closes/verifier.service.js';
import { CommandFailure } from '../exit.js';
import { withProgramDatabase } from '../program-database.js';
import { reports, showProgress, type CommandResult } from './definition.js';

/** More differences than these have one cause. */
const shownDifferences = 20;

function describeDifference(where: string, expected: string, found: string): string[] {
  return [`DIFFERENCE  ${where}`, `  expected  ${expected}`, `  found     ${found}`];
}

function describeCertificates({ account, counts, difference }: VerifiedAccount): string[] {
  if (difference) {
    const { date, nsu, field, expected, found } = difference;
    const parts = [`account ${account}`];
    if (date !== null) parts.push(`day ${date}`);
    if (nsu !== null) parts.push(`nsu ${nsu}`);
    return describeDifference(`${parts.join(', ')}: ${field}`, expected, found);
  }
  const { lines, certified, erased, days, certificates, waiting } = counts;
  const parts = [`${lines} statement lines`, `${certified} of them certified`];
  if (erased > 0) parts.push(`${erased} erased`);
  if (waiting > 0) parts.push(`${waiting} late, waiting for an amendment`);
  parts.push(`${days} closed days`, `${certificates} certificates`);
  return [`OK  ${account}: ${parts.join(', ')}`];
}

function describeOutcomes({ account, lines, due, differences }: RecomputedAccount): string[] {
  if (differences.length === 0) {
    const waiting = due > 0 ? `, ${due} due or pending` : '';
    return [`OK  ${account}: ${lines} outcomes recomputed from the facts${waiting}`];
  }
  const shown = differences
    .slice(0, shownDifferences)
    .flatMap(({ subject, stored, computed }) =>
      describeDifference(
        `account ${account}, ${subject}`,
        computed || 'nothing',
        stored || 'nothing',
      ),
    );
  const more = differences.length - shownDifferences;
  if (more > 0) shown.push(`  and ${more} more differences of account ${account}`);
  return shown;
}

/** How late lines may come decides which of them wait: a setting. */
async function verify({ account }: { account?: string }): Promise<CommandResult> {
  const { bank, ...location } = loadProgramSettings(readEnvironment());
  return withProgramDatabase(location, async (database) => {
    const startedAt = performance.now();
    const verified = await new Verifier(database, showProgress).verify(account);
    if (account && verified.length === 0)
      throw new CommandFailure(
        `There is no account ${account}: --account must be the slug of a bank account.`,
      );
    showProgress('recomputing outcomes');
    const recomputed = await new Recomputation(database, bankProfileOf(bank)).compare(account);
    const isOk =
      verified.every(({ difference }) => difference === null) &&
      recomputed.every(({ differences }) => differences.length === 0);
    const result = isOk
      ? '✓ All certificates and outcomes agree with the database'
      : '✗ The database differs from its certificates or its facts';
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const details = [
      ...verified.flatMap(describeCertificates),
      ...recomputed.flatMap(describeOutcomes),
    ];
    return {
      text: [...details, `${result} (${seconds} s)`],
      json: { certificates: verified, outcomes: recomputed },
      isOk,
    };
  });
}

export function verifyCommand(command: Command): void {
  command.option('--account <slug>', 'one bank account; default: all');
  reports(command, 'verify --account main', verify);
}
