// Finds out how the bank of BANK_BASE_URL behaves, and writes its profile: habits alone, no key, no
// account and no person. It never overwrites a file, because people edit profiles.
import { existsSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { readEnvironment } from '../../platform/settings/environment.js';
import { loadBankCheckSettings } from '../../platform/settings/bank-check-settings.js';
import { checkBank } from '../bank-check/bank-check.js';
import { describeHabits } from '../bank-check/habit-texts.js';
import type { ListenerAddress } from '../bank-check/webhook-listener.js';
import { CommandFailure } from '../exit.js';
import { note, reports, type CommandResult } from './definition.js';

interface Options {
  output: string;
  payments?: true;
  beneficiary?: string;
  webhookUrl?: string;
  webhookListen?: Pick<ListenerAddress, 'host' | 'port'>;
  wait: number;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 3_600)
    throw new InvalidArgumentError('Must be a whole number of seconds from 1 to 3600.');
  return seconds;
}

function readListenAddress(text: string): Options['webhookListen'] & object {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535)
    throw new InvalidArgumentError('Must be HOST:PORT, such as 127.0.0.1:8090.');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function readUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('Must be an http or https URL.');
  return text;
}

async function bankCheck(options: Options): Promise<CommandResult> {
  const { output, payments, beneficiary, webhookUrl, wait } = options;
  const { webhookListen = { host: '127.0.0.1', port: 8090 } } = options;
  const settings = loadBankCheckSettings(readEnvironment());
  if (existsSync(output))
    throw new CommandFailure(`${output} exists: --output names another file.`);
  if (!payments && (beneficiary !== undefined || webhookUrl !== undefined))
    throw new CommandFailure(
      '--beneficiary and --webhook-url need --payments: the check only reads.',
    );
  const { profile } = await checkBank({
    settings,
    payments: payments ? { beneficiaryAccount: beneficiary ?? null } : null,
    webhooks: webhookUrl === undefined ? null : { url: webhookUrl, ...webhookListen },
    patienceMs: wait * 1_000,
    progress: note,
  });
  writeFileSync(output, `${JSON.stringify(profile, null, 2)}\n`, { flag: 'wx' });
  const text = [...describeHabits(profile.habits), '', `Written to ${output}`];
  return { text, json: { output, profile } };
}

export function bankCheckCommand(command: Command): void {
  command
    .option('--output <file>', 'where the profile is written', 'bank-profile.json')
    .option('--payments', 'consent to own charges, a refund of cents and transfers of cents')
    .option('--beneficiary <account>', 'an account of the same bank that gets the transfers')
    .option('--webhook-url <url>', 'where the bank reaches --webhook-listen', readUrl)
    .option('--webhook-listen <host:port>', 'default: 127.0.0.1:8090', readListenAddress)
    .option('--wait <seconds>', 'how long lines and webhooks may take', readSeconds, 60);
  reports(command, 'bank-check --payments --beneficiary 1000002', bankCheck);
}
