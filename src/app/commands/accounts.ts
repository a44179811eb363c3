// The bank accounts of the running service, by the admin key.
import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import type { z } from 'zod';
import {
  accountView,
  createAccount,
  getAccount,
  listAccounts,
} from '../../access/accounts/accounts.schema.js';
import {
  changeAccountMode,
  getAccountMode,
} from '../../outbound/operations/account-modes.schema.js';
import { firstAccountModes } from '../../platform/settings/config.js';
import { AccountMode } from '../../generated/service/enums.js';
import { CommandFailure } from '../exit.js';
import { reports, serviceOf, withUrl, type CommandResult, type ToService } from './definition.js';

type Account = z.input<typeof accountView>;

const lineOf = ({ slug, mode, origin, name }: Account) =>
  [slug, mode, `from ${origin}`, name ?? ''].join('  ').trimEnd();

async function list(options: ToService): Promise<CommandResult> {
  const accounts = await serviceOf(options).listAll<Account>(listAccounts);
  return { text: accounts.map(lineOf), json: { accounts } };
}

async function show(options: ToService, slug = ''): Promise<CommandResult> {
  const service = serviceOf(options);
  const account = await service.call(getAccount, { params: { slug } });
  const mode = await service.call(getAccountMode, { params: { slug } });
  const [last] = mode.changes;
  const text = [
    lineOf(account),
    `go-live         ${account.goLiveAt ?? 'at the first sync'}`,
    `credentials     ${account.credentialsSet.join(', ') || 'none'}`,
    `registers       ${account.registersWebhooks ? 'its webhooks at the bank' : 'no webhooks'}`,
    `under way       ${Number(mode.callsUnderWay)} calls, ${Number(mode.waiting)} operations wait`,
  ];
  if (last) text.push(`mode since      ${last.at}, by ${last.actor}: ${last.reason}`);
  return { text, json: { account, mode } };
}

interface Addition extends ToService {
  credentials: string;
  name?: string;
  mode?: (typeof firstAccountModes)[number];
  goLiveAt?: string;
}

/** The credentials come from a file: an argument is visible to every user of the machine. */
async function add(given: Addition, slug = ''): Promise<CommandResult> {
  const { credentials: file, name, mode, goLiveAt } = given;
  const credentials = await readCredentials(file);
  const body = { slug, name, mode, goLiveAt, credentials };
  const account = await serviceOf(given).call(createAccount, { body });
  return { text: [`Added ${lineOf(account)}`], json: { account } };
}

type Credentials = z.input<typeof createAccount.body>['credentials'];

async function readCredentials(file: string): Promise<Credentials> {
  try {
    const content = file === '-' ? await readStream(process.stdin) : await readFile(file, 'utf8');
    return JSON.parse(content) as Credentials;
  } catch (error) {
    // A message of the parser quotes the file, which has secrets.
    const { code = 'it is no JSON' } = error as { code?: string };
    throw new CommandFailure(`The credentials cannot be read from ${file}: ${code}.`);
  }
}

interface ModeChange extends ToService {
  actor: string;
  reason: string;
}

async function change(given: ModeChange, slug = '', mode = ''): Promise<CommandResult> {
  const { actor, reason } = given;
  const body = { mode: mode as AccountMode, actor, reason };
  const changed = await serviceOf(given).call(changeAccountMode, { params: { slug }, body });
  const [calls, waiting] = [Number(changed.callsUnderWay), Number(changed.waiting)];
  return {
    text: [`${slug} is ${changed.mode}: ${calls} calls under way, ${waiting} wait`],
    json: { mode: changed },
  };
}

export function accountsCommand(command: Command): void {
  const listing = withUrl(command.command('list').description('Every account.'));
  reports<ToService>(listing, 'accounts list', list);
  const showing = withUrl(command.command('show <slug>').description('One account, and its mode.'));
  reports<ToService>(showing, 'accounts show main', (options, [slug]) => show(options, slug));
  const adding = withUrl(command.command('add <slug>'))
    .description('Adds an account, registers its webhooks and starts to read its statement.')
    .requiredOption('--credentials <file>', 'JSON with apiKey, as POST /v1/accounts; -: stdin')
    .option('--name <text>', 'for people')
    .addOption(new Option('--mode <mode>', 'default: live').choices(firstAccountModes))
    .option('--go-live-at <time>', 'lines before it are not reconciled; default: now');
  const example = 'accounts add shop --credentials shop.json --mode reconcile_only';
  reports<Addition>(adding, example, (given, [slug]) => add(given, slug));
  const changing = withUrl(command.command('mode <slug> <mode>'))
    .description(`Sets the mode: ${Object.values(AccountMode).join(', ')}.`)
    .requiredOption('--actor <name>', 'who does it; it is stored')
    .requiredOption('--reason <text>', 'why; it is stored');
  const stop = "accounts mode main stopped --actor Ana --reason 'wrong price list'";
  reports<ModeChange>(changing, stop, (given, [slug, mode]) => change(given, slug, mode));
}
