// The API keys of a bank account of the running service, by the admin key.
import { InvalidArgumentError, Option, type Command } from 'commander';
import { LosslessNumber } from 'lossless-json';
import type { z } from 'zod';
import {
  createKey,
  keyView,
  listKeys,
  revokeKey,
  rotateKey,
} from '../../access/accounts/accounts.schema.js';
import { scopes, type Scope } from '../../access/accounts/scope.decorator.js';
import { reports, serviceOf, withUrl, type CommandResult, type ToService } from './definition.js';

type Key = z.input<typeof keyView>;

function lineOf({ id, name, kind, hint, scopes: granted, expiresAt, revokedAt }: Key): string {
  const state = revokedAt ? `revoked ${revokedAt}` : expiresAt ? `expires ${expiresAt}` : 'in use';
  return [id, state, kind, name ?? hint ?? 'of the settings', granted.join(',')].join('  ');
}

async function list(options: ToService, slug = ''): Promise<CommandResult> {
  const keys = await serviceOf(options).listAll<Key>(listKeys, { slug });
  return { text: keys.map(lineOf), json: { keys } };
}

/** The only time that the key is shown. */
function describeNew(created: Key & { key: string }): CommandResult {
  return {
    text: [lineOf(created), `The key, which is not shown again: ${created.key}`],
    json: created,
  };
}

interface NewKeyOptions extends ToService {
  name: string;
  scopes: Scope[];
  partner?: true;
}

async function create(given: NewKeyOptions, slug = ''): Promise<CommandResult> {
  const { name, scopes: granted, partner } = given;
  const body = { name, scopes: granted, kind: partner ? 'partner' : 'api' } as const;
  return describeNew(await serviceOf(given).call(createKey, { params: { slug }, body }));
}

interface Rotation extends ToService {
  overlap?: LosslessNumber;
}

async function rotate(given: Rotation, slug = '', id = ''): Promise<CommandResult> {
  const body = { overlapSeconds: given.overlap };
  return describeNew(await serviceOf(given).call(rotateKey, { params: { slug, id }, body }));
}

async function revoke(options: ToService, slug = '', id = ''): Promise<CommandResult> {
  const revoked = await serviceOf(options).call(revokeKey, { params: { slug, id } });
  return { text: [lineOf(revoked)], json: revoked };
}

function readSeconds(text: string): LosslessNumber {
  if (/^\d{1,9}$/.test(text)) return new LosslessNumber(text);
  throw new InvalidArgumentError('It must be a number of seconds.');
}

export function keysCommand(command: Command): void {
  const listing = withUrl(command.command('list <account>').description('Keys, newest first.'));
  reports<ToService>(listing, 'keys list main', (options, [slug]) => list(options, slug));
  const creating = withUrl(command.command('create <account>'))
    .description('Creates a key, which is printed once.')
    .requiredOption('--name <text>', 'who uses it')
    .addOption(
      new Option('--scopes <scope...>', 'what it may do').choices(scopes).makeOptionMandatory(),
    )
    .option('--partner', 'a key for onboarding, with the scope onboard alone');
  const example = 'keys create main --name shop --scopes read charge';
  reports<NewKeyOptions>(creating, example, (given, [slug]) => create(given, slug));
  const rotating = withUrl(command.command('rotate <account> <id>'))
    .description('Creates a successor, which is printed once. The old key works for some time.')
    .option('--overlap <seconds>', 'how long the old key works; default: a day', readSeconds);
  const id = '019a7c9e-5b1f-7f3c-9b9a-0d6f2c3e4a51';
  reports<Rotation>(rotating, `keys rotate main ${id}`, (given, [slug, key]) =>
    rotate(given, slug, key),
  );
  const revoking = withUrl(command.command('revoke <account> <id>').description('Ends a key.'));
  reports<ToService>(revoking, `keys revoke main ${id}`, (given, [slug, key]) =>
    revoke(given, slug, key),
  );
}
