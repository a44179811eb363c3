// The server process of an embedded cluster: its port, its settings, its log, its start and its shutdown.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, realpathSync } from 'node:fs';
import { readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './embedded-postgres-cluster.js';
import { hasCode, programEnvironment } from './embedded-postgres-programs.js';

const fastShutdownTimeoutMs = 30_000;
const immediateShutdownTimeoutMs = 5_000;
const maxLogBytes = 10 * 1024 * 1024;

export interface Postmaster {
  pid: number;
  /** Absent while the server has not got so far. */
  port?: number;
}

/** The live server of this cluster; a pid file that a crash left behind does not count. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  const content = await readIfPresent(pidFile);
  const lines = content?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  if (await isServing(pid, cluster.folder)) return { pid, port: Number(lines[3]) || undefined };
  // The number was given to another process since: PostgreSQL would take that one for a server and refuse to start.
  if (content === (await readIfPresent(pidFile))) await rm(pidFile, { force: true });
  return undefined;
}

/** The port of the last time while it is free, so that a developer's open connection settings stay right. */
export async function choosePort(cluster: Cluster): Promise<number> {
  const remembered = await readIfPresent(portFile(cluster));
  const port = Number(remembered);
  if (Number.isInteger(port) && port > 0 && port < 65_536) {
    const free = await bindOnce(port);
    if (free !== undefined) return free;
  }
  const free = await bindOnce(0);
  if (free === undefined) throw new Error('No free port on 127.0.0.1');
  return free;
}

export async function rememberPort(cluster: Cluster, port: number): Promise<void> {
  await writeFile(portFile(cluster), String(port));
}

/** Starts the server in a process group of its own, so that Ctrl-C reaches only Node, which then stops it in order. */
export async function launchServer(cluster: Cluster, port: number): Promise<ChildProcess> {
  const logFile = openSync(await rotatedLog(cluster), 'a', 0o600);
  try {
    const server = spawn(
      join(cluster.programs, 'postgres'),
      ['-D', cluster.folderForServer, ...settings(port).flatMap((setting) => ['-c', setting])],
      {
        ...cluster.account,
        cwd: cluster.folder,
        env: programEnvironment(),
        detached: true,
        stdio: ['ignore', logFile, logFile],
        windowsHide: true,
      },
    );
    await once(server, 'spawn');
    server.unref();
    return server;
  } finally {
    closeSync(logFile);
  }
}

/** Ends the server: open transactions are rolled back ("fast"); if that hangs, at once, to be recovered at the start. */
export async function shutDown(cluster: Cluster): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', fastShutdownTimeoutMs],
    ['SIGQUIT', immediateShutdownTimeoutMs],
  ] as const) {
    const postmaster = await findPostmaster(cluster);
    if (!postmaster) return;
    sendSignal(cluster, postmaster.pid, signal);
    const deadlineMs = Date.now() + timeoutMs;
    while (Date.now() < deadlineMs) {
      if ((await findPostmaster(cluster))?.pid !== postmaster.pid) return;
      await delay(20);
    }
  }
  throw new Error(`PostgreSQL did not stop. ${await tailOfLog(cluster)}`);
}

export async function tailOfLog(cluster: Cluster): Promise<string> {
  const content = (await readIfPresent(logPath(cluster))) ?? '';
  const lines = content.trimEnd().split('\n').slice(-20);
  return `The end of ${logPath(cluster)}:\n${lines.join('\n')}`;
}

function settings(port: number): string[] {
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=', // none: their paths may not exceed 107 bytes, and TCP serves on every platform
    'max_connections=200',
    'fsync=on',
    'synchronous_commit=on',
    'full_page_writes=on',
    'timezone=UTC',
    'log_timezone=UTC',
  ];
}

function sendSignal(cluster: Cluster, pid: number, signal: 'SIGINT' | 'SIGQUIT'): void {
  if (process.platform === 'win32') {
    // Node's kill would end the process without a shutdown there; pg_ctl speaks PostgreSQL's own way.
    spawnSync(join(cluster.programs, 'pg_ctl'), ['kill', signal.slice(3), String(pid)]);
    return;
  }
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

function portFile(cluster: Cluster): string {
  return join(cluster.dataDir, 'port');
}

export function logPath(cluster: Cluster): string {
  return join(cluster.dataDir, 'server.log');
}

async function rotatedLog(cluster: Cluster): Promise<string> {
  const path = logPath(cluster);
  try {
    if ((await stat(path)).size > maxLogBytes) await rename(path, `${path}.1`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return path;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

async function isServing(pid: number, folder: string): Promise<boolean> {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    try {
      return (await readlink(`/proc/${pid}/cwd`)) === realpathSync(folder); // a postmaster stays in its folder
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'EACCES', 'EPERM', 'ESRCH')) return false;
      throw error;
    }
  }
  const listed = spawnSync('ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' });
  return listed.stdout.includes('postgres');
}

/** The port that was bound for a moment, or undefined when it is taken. */
async function bindOnce(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE', 'EACCES')) return undefined;
    throw error;
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
}
