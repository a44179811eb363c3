// The program of `npm run operator`: the people of the console, for whoever has the server. It
// makes the first person of an installation, and helps one who has lost password and authenticator.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { loadReencryptionSettings, readEnvironment } from '../platform/settings/config.js';
import type { Database } from '../platform/postgres/database.service.js';
import { encryptedColumns } from './encrypted-columns.js';
import { exitWith, printError } from './exit.js';
import { Audit } from '../access/people/audit.service.js';
import { commandLine, Operators } from '../access/people/operators.service.js';
import { OperatorPasswords } from '../access/people/passwords.service.js';
import { roleNames } from '../access/people/roles.js';
import { OperatorSessions } from '../access/people/sessions.service.js';
import { SignInLimits } from '../access/people/sign-in-limits.service.js';
import { AppError } from '../platform/errors.js';
import { withProgramDatabase } from './program-database.js';
import { openSecretBox } from '../access/secrets/credentials-keys.service.js';

const usage = `Usage:
  npm run operator -- create --email E-MAIL --role ROLE [--account SLUG|all] [--password]
      gives a person a role (${roleNames.join(', ')}), in every account by default. A new person gets
      a link, or with --password the password that you type
  npm run operator -- list
  npm run operator -- disable --email E-MAIL [--reason TEXT]
  npm run operator -- reset --email E-MAIL [--reason TEXT]
      takes password and authenticator away, and prints a link for new ones`;

const print = (message: string) => process.stdout.write(`${message}\n`);

/** What the person at the terminal did wrong: printed without a stack. */
class WrongInput extends Error {}

function readOptions() {
  const text = { type: 'string' } as const;
  const options = {
    ...{ email: text, role: text, account: text, reason: text },
    password: { type: 'boolean' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [command = '', ...others] = positionals;
    return others.length === 0 ? { command, ...values } : null;
  } catch {
    return null;
  }
}

type Options = NonNullable<ReturnType<typeof readOptions>>;

async function create(operators: Operators, { email = '', ...given }: Options): Promise<void> {
  const role = roleNames.find((name) => name === given.role);
  if (!role) throw new WrongInput(`--role must be one of ${roleNames.join(', ')}.`);
  const slug = given.account ?? 'all';
  const accountId = slug === 'all' ? null : await operators.findAccountId(slug);
  if (slug !== 'all' && accountId === null) throw new WrongInput(`There is no account ${slug}.`);
  const { linkToken } = await operators.invite(commandLine, email, { accountId, role });
  if (linkToken === null) print(`${email} is known, and has the role ${role} now.`);
  else if (given.password) await setPassword(operators, linkToken);
  else printLink(linkToken);
}

async function setPassword(operators: Operators, linkToken: string): Promise<void> {
  const password = await ask('Password (at least 12 characters): ');
  const result = await operators.useLink(linkToken, { email: '', password });
  if (result.outcome === 'set') print('The person can sign in, and sets up an authenticator then.');
  else {
    print(`The password is refused: ${result.outcome}. The link asks for another one.`);
    printLink(linkToken);
  }
}

/** Asks without showing what is typed. */
async function ask(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin } = process;
  const terminal = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY });
  process.stdout.write(question);
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stdout.write('\n');
  }
}

function printLink(token: string): void {
  print('Open this path of the service within three days. It works once:');
  print(`  /console/link/${token}`);
}

async function list(operators: Operators): Promise<void> {
  let after: string | null = null;
  do {
    const found = await operators.list(null, { limit: 100, after });
    for (const { email, state, roleEverywhere, roles } of found.slice(0, 100)) {
      const everywhere = roleEverywhere ? [`all: ${roleEverywhere}`] : [];
      const here = roles.map(({ account, role }) => `${account.slug}: ${role}`);
      print(`${email}  ${state}  ${[...everywhere, ...here].join(', ') || 'no role'}`);
    }
    after = found.length > 100 ? (found[99]?.id ?? null) : null;
  } while (after !== null);
}

async function findPerson(operators: Operators, email = ''): Promise<string> {
  const id = await operators.findIdByEmail(email);
  if (id === null) throw new WrongInput('There is no person with that e-mail.');
  return id;
}

async function run(operators: Operators, options: Options): Promise<void> {
  const { command, email, reason = null } = options;
  if (command === 'create') return create(operators, options);
  if (command === 'list') return list(operators);
  const id = await findPerson(operators, email);
  if (command === 'reset') return printLink(await operators.reset(commandLine, id, reason));
  await operators.disable(commandLine, id, reason);
  print('The person cannot sign in any more.');
}

/** The services of people, without the rest of the application. */
function servicesOn(
  database: Database,
  secretBox: Awaited<ReturnType<typeof openSecretBox>>,
): Operators {
  const audit = new Audit(database, secretBox);
  const passwords = new OperatorPasswords();
  const limits = new SignInLimits(database, secretBox);
  const sessions = new OperatorSessions(database, secretBox, passwords, limits, audit);
  return new Operators(database, secretBox, passwords, sessions, audit);
}

async function main(): Promise<void> {
  const options = readOptions();
  if (!options || !['create', 'list', 'disable', 'reset'].includes(options.command)) {
    printError(usage);
    process.exitCode = 1;
    return;
  }
  const settings = loadReencryptionSettings(readEnvironment());
  await withProgramDatabase(settings, async (database) => {
    // Ids ascend with PostgreSQL's time.
    await database.now();
    const secretBox = await openSecretBox(database, settings, encryptedColumns);
    await run(servicesOn(database, secretBox), options);
  });
}

await main().catch((error: unknown) => {
  const isExpected = error instanceof WrongInput || error instanceof AppError;
  if (!isExpected) exitWith(error);
  const { errors } = error instanceof AppError ? error.details : {};
  printError(Object.values(errors ?? {}).flat()[0] ?? error.message);
  process.exitCode = 1;
});
