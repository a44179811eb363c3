// The data folder of the embedded PostgreSQL. It is created completely or not at all, and the
// account that runs the server owns it. Layout: server/cluster (PostgreSQL's own files),
// server/password (mode 0600), port, server.log.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, type Stats } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  findCacheFolder,
  findProgramError,
  findPrograms,
  hasCode,
  programEnvironment,
  type Account,
} from './embedded-postgres-programs.js';

export interface Cluster {
  dataDir: string;
  /** Nothing of it survives its process: it is small, and its commits are not durable. */
  isTemporary: boolean;
  /** PostgreSQL's data directory, as a path of this process. */
  folder: string;
  /** The data directory as a path that the server's account can open. See `nameForServer`. */
  folderForServer: string;
  account: Account;
  programs: string;
  password: string;
}

/** Opens the cluster under the data folder, creating it when there is none. */
export async function openCluster(
  dataDir: string,
  isTemporary: boolean,
  log: (message: string) => void,
  onLaunch: () => void,
): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true });
  const absolute = await realpath(dataDir);
  const folder = join(absolute, 'server', 'cluster');
  const account = await chooseAccount(folder);
  const isCreated = existsSync(folder);
  const [programs, name] = await Promise.all([
    findPrograms(account, log),
    isCreated ? nameForServer(folder, account) : null,
  ]);
  const how = { programs, account, onLaunch };
  if (!isCreated) {
    log(`Creating a PostgreSQL database cluster in ${dataDir}`);
    if (isTemporary) await copyTemplate(absolute, how);
    else await createCluster(absolute, how);
  }
  const password = (await readFile(join(absolute, 'server', 'password'), 'utf8')).trim();
  const folderForServer = name ?? (await nameForServer(folder, account));
  return { dataDir: absolute, isTemporary, folder, folderForServer, account, programs, password };
}

/**
 * The account that runs the server. PostgreSQL refuses to run as root. For root, this is the owner
 * of an existing cluster, else `postgres`, else `nobody`. Throws when the cluster belongs to
 * another user.
 */
async function chooseAccount(folder: string): Promise<Account> {
  const uid = process.getuid?.();
  let owner: Stats | undefined;
  try {
    owner = await stat(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EACCES')) throw error;
    if (hasCode(error, 'EACCES')) throw otherOwnerError(folder, error);
  }
  if (uid !== 0) {
    if (owner !== undefined && uid !== undefined && owner.uid !== uid)
      throw otherOwnerError(folder);
    return {};
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const user = users.find((fields) => fields[0] === name);
    if (user) return { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 };
  }
  return { uid: 65_534, gid: 65_534 };
}

function otherOwnerError(folder: string, cause?: unknown): Error {
  return new Error(
    `${folder} belongs to another user. Start as that user, or set DATA_DIR or DATABASE_URL.`,
    { cause },
  );
}

/**
 * The path by which the server's account can open the cluster. That account may lack the right to
 * enter a parent folder, for example /root (mode 700). The data must still be in this folder: it
 * must survive a restart and be deleted with the user's `.data` folder. Node enters the folder
 * before it changes the account. Then /proc/self/cwd leads to the cluster without its parent
 * folders. Throws when neither path works.
 */
async function nameForServer(folder: string, account: Account): Promise<string> {
  if (account.uid === undefined) return folder;
  const canRead = async (cwd: string, path: string): Promise<boolean> => {
    const argv = ['-c', 'cd "$1" && test -w .', 'sh', path];
    return (await findProgramError('/bin/sh', argv, { ...account, cwd })) === undefined;
  };
  if (await canRead('/', folder)) return folder;
  if (await canRead(folder, '/proc/self/cwd')) return '/proc/self/cwd';
  throw new Error(
    `User ${account.uid}, which runs PostgreSQL in place of root, cannot open ${folder}. ` +
      `Set DATA_DIR to a folder that all users can enter, or set DATABASE_URL.`,
  );
}

interface Creation {
  programs: string;
  account: Account;
  /** Called when PostgreSQL begins to work for a while. */
  onLaunch: () => void;
}

/**
 * A temporary cluster is a copy of one that no server has opened: `initdb` takes longer than all
 * the rest of a start. Nothing of a template is ever changed.
 */
async function copyTemplate(dataDir: string, how: Creation): Promise<void> {
  const options = ['--no-sync', '--wal-segsize=1'];
  const template = await findCacheFolder('cluster', how.account);
  if (template === undefined) return createCluster(dataDir, how, options);
  await mkdir(template, { recursive: true });
  const server = join(template, 'server');
  if (!existsSync(server)) await createCluster(template, how, options);
  how.onLaunch();
  const copy = join(dataDir, 'server');
  // `cp` keeps the owner, and copies faster than Node.js. Windows has none.
  if (process.platform !== 'win32') await promisify(execFile)('cp', ['-a', server, copy]);
  else await cp(server, copy, { recursive: true });
}

/**
 * Creates the cluster and its password in a temporary folder and moves both into place by one
 * rename. A process that is killed meanwhile leaves no partial cluster. Of two processes, the
 * second uses the cluster of the first.
 */
async function createCluster(
  dataDir: string,
  how: Creation,
  options: string[] = [],
): Promise<void> {
  const { account } = how;
  const folder = join(dataDir, 'server', 'cluster');
  const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const partial = join(dataDir, `initializing-${unique}`);
  const partialCluster = join(partial, 'cluster');
  const passwordFile = join(partial, 'password');
  try {
    await mkdir(partialCluster, { recursive: true });
    await chmod(partial, 0o755);
    await chmod(partialCluster, 0o700);
    await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    if (account.uid !== undefined) {
      await chown(partialCluster, account.uid, account.gid ?? account.uid);
      await chown(passwordFile, account.uid, account.gid ?? account.uid);
    }
    await runInitdb(partialCluster, passwordFile, how, options);
    await rename(partial, join(dataDir, 'server'));
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('initializing-')) continue;
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runInitdb(
  folder: string,
  passwordFile: string,
  { programs, account, onLaunch }: Creation,
  options: string[],
): Promise<void> {
  const folderForServer = await nameForServer(folder, account);
  const password = openSync(passwordFile, 'r');
  const output: string[] = [];
  const code = await new Promise<number | null>((resolve, reject) => {
    const initdb = spawn(
      join(programs, 'initdb'),
      [
        `--pgdata=${folderForServer}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        // The password is read from standard input: the account may be unable to open the file by
        // its path.
        `--pwfile=${process.platform === 'win32' ? passwordFile : '/dev/stdin'}`,
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
        ...options,
      ],
      {
        ...account,
        cwd: folder,
        env: programEnvironment(),
        detached: true, // Ctrl-C must not stop initdb halfway
        stdio: [password, 'pipe', 'pipe'],
        windowsHide: true,
      },
    );
    initdb.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    initdb.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    initdb.once('spawn', onLaunch);
    initdb.once('error', reject);
    initdb.once('close', resolve);
  }).finally(() => closeSync(password));
  if (code !== 0) {
    throw new Error(`initdb failed with exit code ${code}:\n${output.join('').slice(-2_000)}`);
  }
}
