// The server process of the embedded PostgreSQL: its port, settings, log, start and shutdown.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, realpathSync } from 'node:fs';
import { readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './embedded-postgres-cluster.js';
import { hasCode, programEnvironment } from './embedded-postgres-programs.js';

const fastShutdownTimeoutMs = 30_000;
const immediateShutdownTimeoutMs = 5_000;
const maxLogBytes = 10 * 1024 * 1024;

export interface Postmaster {
  pid: number;
  /** Absent until the server has written its port to the pid file. */
  port?: number;
}

/**
 * The running server of this cluster. A pid file that a crashed server left is ignored or deleted.
 */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  const content = await readIfPresent(pidFile);
  const lines = content?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  if (await isServing(pid, cluster.folder)) return { pid, port: Number(lines[3]) || undefined };
  // Another process has this pid now. PostgreSQL would mistake it for a running server and refuse
  // to start.
  if (content === (await readIfPresent(pidFile))) await rm(pidFile, { force: true });
  return undefined;
}

/**
 * The port of the previous start if it is free, so that a developer's connection settings stay
 * valid.
 */
export async function choosePort(cluster: Cluster): Promise<number> {
  const port = Number(await readIfPresent(portFile(cluster)));
  const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
  const free = (isPort ? await findFreePort(port) : undefined) ?? (await findFreePort(0));
  if (free === undefined) throw new Error('No free port on 127.0.0.1');
  return free;
}

export async function storePort(cluster: Cluster, port: number): Promise<void> {
  await writeFile(portFile(cluster), String(port));
}

/**
 * Starts the server in its own process group: Ctrl-C then reaches only Node, which shuts the server
 * down.
 */
export async function launchServer(cluster: Cluster, port: number): Promise<ChildProcess> {
  const logFile = openSync(await rotatedLog(cluster), 'a', 0o600);
  try {
    const server = spawn(
      join(cluster.programs, 'postgres'),
      ['-D', cluster.folderForServer, ...settings(cluster, port).flatMap((one) => ['-c', one])],
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

/**
 * Stops the server with a fast shutdown, which rolls back open transactions. After 30 s it uses an
 * immediate shutdown, from which PostgreSQL recovers at the next start. Throws when the server
 * still runs.
 */
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
  throw new Error(`PostgreSQL did not stop. ${await readLogTail(cluster)}`);
}

export async function readLogTail(cluster: Cluster): Promise<string> {
  const content = (await readIfPresent(logPath(cluster))) ?? '';
  const lines = content.trimEnd().split('\n').slice(-20);
  return `The end of ${logPath(cluster)}:\n${lines.join('\n')}`;
}

function settings({ isTemporary }: Cluster, port: number): string[] {
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    // No Unix sockets: their paths are limited to 107 bytes, and TCP works on every platform.
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(isTemporary
      ? temporarySettings
      : [
          'max_connections=500',
          `shared_buffers=${sharedBuffersMb()}MB`,
          'fsync=on',
          'synchronous_commit=on',
          'full_page_writes=on',
        ]),
  ];
}

/** Fast, and with few processes: each costs memory. */
const temporarySettings = [
  ...['max_connections=100', 'shared_buffers=16MB', 'jit=off', 'io_method=sync'],
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
  ...['wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=32MB', 'min_wal_size=2MB'],
  ...['max_worker_processes=0', 'max_parallel_workers_per_gather=0'],
  'max_logical_replication_workers=0',
];

/**
 * With PostgreSQL's default of 128 MB, the indexes of a large book are read from the disk again for
 * each page of lines. Memory is taken only as the tables grow.
 */
function sharedBuffersMb(): number {
  const limit = process.constrainedMemory();
  const memoryMb = Math.min(totalmem(), limit > 0 ? limit : Infinity) / 1_048_576;
  return Math.floor(Math.min(Math.max(memoryMb / 8, 128), 1_024));
}

function sendSignal(cluster: Cluster, pid: number, signal: 'SIGINT' | 'SIGQUIT'): void {
  if (process.platform === 'win32') {
    // On Windows, process.kill would end the server without a shutdown. pg_ctl sends PostgreSQL's
    // own signal.
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

/**
 * Whether the process is the server of this cluster, and not another process that has got its pid.
 */
async function isServing(pid: number, folder: string): Promise<boolean> {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    try {
      // The working directory of a postmaster is its data directory.
      return (await readlink(`/proc/${pid}/cwd`)) === realpathSync(folder);
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'EACCES', 'EPERM', 'ESRCH')) return false;
      throw error;
    }
  }
  const listed = spawnSync('ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' });
  return listed.stdout.includes('postgres');
}

/**
 * Binds the port (0: any free port) and releases it. Returns its number, or undefined when it is in
 * use.
 */
async function findFreePort(port: number): Promise<number | undefined> {
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
