// The sandbox bank alone, as the tests of a business system use it: no service and no queue. Its
// database is SANDBOX_DATABASE_URL, or the embedded PostgreSQL under DATA_DIR, and it has the
// address that SANDBOX_PORT gives it. Its keys are BANK_API_KEY and BANK_PARTNER_KEY.
import type { Command } from 'commander';
import { loadSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { withExample } from './definition.js';
import { runProcess } from './start.js';

/**
 * Whatever bank the environment names, this process is the sandbox bank: a setting that says where
 * a real bank is would only be checked in vain.
 */
function sandboxEnvironment({ profile }: { profile?: string }): NodeJS.ProcessEnv {
  const { BANK_BASE_URL: _, ...environment } = readEnvironment();
  const imitated = profile === undefined ? {} : { SANDBOX_PROFILE: profile };
  return { ...environment, ...imitated, ROLES: 'sandbox', BANK_PROFILE: 'sandbox' };
}

export function sandboxCommand(command: Command): void {
  withExample(command, 'sandbox --profile ./bank-profile.json')
    .option('--profile <file>', 'imitate the bank of a profile that bank-check wrote')
    .action((options: { profile?: string }) =>
      runProcess(() => loadSettings(sandboxEnvironment(options))),
    );
}
