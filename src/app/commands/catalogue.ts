// Every command of `concilia`, a file each, which is loaded only when it is named, so that `--help`
// answers at once. To add a command: a row here, and its file, which exports its definition.
import { Command } from 'commander';
import { build } from '../../platform/build.js';
import { describeExitCodes } from '../exit-codes.js';
import type { DefineCommand } from './definition.js';

interface CatalogueEntry {
  summary: string;
  load: () => Promise<DefineCommand>;
}

export const catalogue: Readonly<Record<string, CatalogueEntry>> = {
  start: {
    summary: 'Starts the service and the sandbox bank, or what ROLES names (the default).',
    load: async () => (await import('./start.js')).startCommand,
  },
  sandbox: {
    summary: 'Starts the sandbox bank alone.',
    load: async () => (await import('./sandbox.js')).sandboxCommand,
  },
  'bank-check': {
    summary: 'Finds out how a bank behaves, at its test environment, and writes its profile.',
    load: async () => (await import('./bank-check.js')).bankCheckCommand,
  },
  migrate: {
    summary: 'Brings the schema of the database up to date, before a rollout.',
    load: async () => (await import('./migrate.js')).migrateCommand,
  },
  doctor: {
    summary: 'Examines settings, database, queue, bank, addresses and clocks.',
    load: async () => (await import('./doctor.js')).doctorCommand,
  },
  people: {
    summary: 'The people of the console: invite, list, disable, reset.',
    load: async () => (await import('./people.js')).peopleCommand,
  },
  accounts: {
    summary: 'The bank accounts: list, show, add, mode.',
    load: async () => (await import('./accounts.js')).accountsCommand,
  },
  keys: {
    summary: 'The API keys of an account: list, create, rotate, revoke.',
    load: async () => (await import('./keys.js')).keysCommand,
  },
  runs: {
    summary: 'Reconciliation runs: list, start, watch.',
    load: async () => (await import('./runs.js')).runsCommand,
  },
  months: {
    summary: 'The close of months: list, show.',
    load: async () => (await import('./months.js')).monthsCommand,
  },
  export: {
    summary: 'Writes lines, open items, certificates or an audit pack into a file.',
    load: async () => (await import('./export.js')).exportCommand,
  },
  verify: {
    summary: 'Recomputes every certificate and outcome from the database.',
    load: async () => (await import('./verify.js')).verifyCommand,
  },
  erase: {
    summary: 'Erases the personal data of a certified statement line.',
    load: async () => (await import('./erase.js')).eraseCommand,
  },
  reencrypt: {
    summary: 'Encrypts every stored secret with the current CREDENTIALS_KEY.',
    load: async () => (await import('./reencrypt.js')).reencryptCommand,
  },
  'signing-keys': {
    summary: 'The keys that sign certificates: list, rotate.',
    load: async () => (await import('./signing-keys.js')).signingKeysCommand,
  },
  restored: {
    summary: 'The steps after a backup was restored.',
    load: async () => (await import('./restored.js')).restoredCommand,
  },
};

const epilogue = [
  'Example:',
  '  concilia start --demo',
  '',
  'Exit codes:',
  ...describeExitCodes(),
  '',
  'Settings are read from the environment and from .env in the working directory.',
].join('\n');

/** The program, with the options of the commands that `isNamed` selects. */
export async function buildProgram(isNamed: (name: string) => boolean): Promise<Command> {
  const program = new Command('concilia')
    .description('Reconciles a company with its Brazilian bank-as-a-service, to the cent.')
    .version(build.version)
    .helpCommand(false)
    .exitOverride()
    .addHelpText('after', `\n${epilogue}`);
  for (const [name, { summary, load }] of Object.entries(catalogue)) {
    const command = program.command(name).description(summary).helpCommand(false);
    if (isNamed(name)) (await load())(command);
  }
  return program;
}
