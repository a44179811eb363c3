// The people of the console, for whoever has the server: the first person of an installation, and
// one who has lost password and authenticator. It works on the database, because nobody can sign in
// before, and beside the service.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Option, type Command } from 'commander';
import { loadReencryptionSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import type { Database } from '../../platform/postgres/database.service.js';
import { encryptedColumns } from '../encrypted-columns.js';
import { CommandFailure } from '../exit.js';
import { Audit } from '../../access/people/audit.service.js';
import { commandLine, Operators } from '../../access/people/operators.service.js';
import { OperatorPasswords } from '../../access/people/passwords.service.js';
import { roleNames, type PersonRole } from '../../access/people/roles.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { SignInLimits } from '../../access/people/sign-in-limits.service.js';
import { withProgramDatabase } from '../program-database.js';
import { openSecretBox } from '../../access/secrets/credentials-keys.service.js';
import { reports, type CommandResult } from './definition.js';

interface Invitation {
  email: string;
  role: PersonRole;
  account: string;
  password?: true;
}

async function invite(operators: Operators, given: Invitation): Promise<CommandResult> {
  const { email, role, account: slug } = given;
  const accountId = slug === 'all' ? null : await operators.findAccountId(slug);
  if (slug !== 'all' && accountId === null)
    throw new CommandFailure(`There is no account ${slug}.`);
  const { linkToken } = await operators.invite(commandLine, email, { accountId, role });
  if (linkToken === null)
    return { text: [`${email} is known, and has the role ${role} now.`], json: { path: null } };
  return given.password ? setPassword(operators, linkToken) : linkOf(linkToken);
}

async function setPassword(operators: Operators, linkToken: string): Promise<CommandResult> {
  const password = await ask('Password (at least 12 characters): ');
  const { outcome } = await operators.useLink(linkToken, { email: '', password });
  if (outcome === 'set')
    return {
      text: ['The person can sign in, and sets up an authenticator then.'],
      json: { path: null },
    };
  const { text, json } = linkOf(linkToken);
  const refused = `The password is refused: ${outcome}. The link asks for another one.`;
  return { text: [refused, ...text], json };
}

/** Asks without showing what is typed. */
async function ask(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin } = process;
  const terminal = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY });
  process.stderr.write(question);
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

function linkOf(token: string): CommandResult {
  const path = `/console/link/${token}`;
  return {
    text: ['Open this path of the service within three days. It works once:', `  ${path}`],
    json: { path },
  };
}

async function list(operators: Operators): Promise<CommandResult> {
  const people: { email: string; state: string; roles: { account: string; role: string }[] }[] = [];
  let after: string | null = null;
  do {
    const found = await operators.list(null, { limit: 100, after });
    for (const { email, state, roleEverywhere, roles } of found.slice(0, 100)) {
      const everywhere = roleEverywhere ? [{ account: 'all', role: roleEverywhere }] : [];
      const here = roles.map(({ account, role }) => ({ account: account.slug, role }));
      people.push({ email, state, roles: [...everywhere, ...here] });
    }
    after = found.length > 100 ? (found[99]?.id ?? null) : null;
  } while (after !== null);
  const text = people.map(({ email, state, roles }) => {
    const shown = roles.map(({ account, role }) => `${account}: ${role}`).join(', ');
    return `${email}  ${state}  ${shown || 'no role'}`;
  });
  return { text, json: { people } };
}

interface Person {
  email: string;
  reason?: string;
}

async function findPerson(operators: Operators, email: string): Promise<string> {
  const id = await operators.findIdByEmail(email);
  if (id === null) throw new CommandFailure('There is no person with that e-mail.');
  return id;
}

async function reset(operators: Operators, { email, reason }: Person): Promise<CommandResult> {
  const id = await findPerson(operators, email);
  return linkOf(await operators.reset(commandLine, id, reason ?? null));
}

async function disable(operators: Operators, { email, reason }: Person): Promise<CommandResult> {
  const id = await findPerson(operators, email);
  await operators.disable(commandLine, id, reason ?? null);
  return { text: ['The person cannot sign in any more.'], json: { state: 'disabled' } };
}

/** The services of people, without the rest of the application. */
function servicesOn(
  database: Database,
  secretBox: Awaited<ReturnType<typeof openSecretBox>>,
): Operators {
  const audit = new Audit(database, secretBox);
  const passwords = new OperatorPasswords({ sso: null });
  const limits = new SignInLimits(database, secretBox);
  const sessions = new OperatorSessions(database, secretBox, passwords, limits, audit);
  return new Operators(database, secretBox, passwords, sessions, audit);
}

async function withPeople(
  work: (operators: Operators) => Promise<CommandResult>,
): Promise<CommandResult> {
  const settings = loadReencryptionSettings(readEnvironment());
  return withProgramDatabase(settings, async (database) => {
    // Ids ascend with PostgreSQL's time.
    await database.now();
    return work(servicesOn(database, await openSecretBox(database, settings, encryptedColumns)));
  });
}

export function peopleCommand(command: Command): void {
  const inviting = command
    .command('invite')
    .alias('create')
    .description('Gives a person a role. A new person gets a link, which is printed.')
    .requiredOption('--email <address>', 'who')
    .addOption(new Option('--role <role>', 'the role').choices(roleNames).makeOptionMandatory())
    .option('--account <slug>', 'the account of the role, or all', 'all')
    .option('--password', 'ask for a password instead of printing a link');
  const example = 'people invite --email ana@example.com --role admin';
  reports<Invitation>(inviting, example, (given) =>
    withPeople((operators) => invite(operators, given)),
  );
  reports(command.command('list').description('Everybody, with roles.'), 'people list', () =>
    withPeople(list),
  );
  const changes = { disable, reset } as const;
  const descriptions = {
    disable: 'Ends the access of a person.',
    reset: 'Takes password and authenticator away, and prints a link for new ones.',
  };
  for (const name of ['disable', 'reset'] as const) {
    const changing = command
      .command(name)
      .description(descriptions[name])
      .requiredOption('--email <address>', 'who')
      .option('--reason <text>', 'why; it is stored');
    reports<Person>(changing, `people ${name} --email ana@example.com`, (given) =>
      withPeople((operators) => changes[name](operators, given)),
    );
  }
}
