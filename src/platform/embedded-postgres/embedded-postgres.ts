// Runs the embedded PostgreSQL, which is used without DATABASE_URL. It starts the server or uses
// the one that already runs, and stops the server when no other process uses it. A server that died
// is started again. Commits are durable, also when a process is killed.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { advisoryLocks } from '../postgres/advisory-locks.js';
import { openCluster, type Cluster } from './embedded-postgres-cluster.js';
import { hasCode } from './embedded-postgres-programs.js';
import {
  choosePort,
  findPostmaster,
  launchServer,
  logPath,
  storePort,
  shutDown,
  readLogTail,
} from './embedded-postgres-server.js';

export interface EmbeddedPostgres {
  url(database: string): string;
  ensureDatabase(name: string): Promise<void>;
  /**
   * Waits until clients have disconnected and shuts the server down, unless another process uses
   * the server.
   */
  stop(): Promise<void>;
}

/** A connection whose shared advisory lock shows that this process uses the server. */
interface Session {
  client: pg.Client;
  socket: Socket;
  port: number;
  /** Removes the handler that stops the server when this process exits. */
  detach?: () => void;
}

interface ConnectFailure {
  connectError: unknown;
}

const startTimeoutMs = 120_000; // Recovery after a crash may be slow.
const clientsTimeoutMs = 5_000;
const maxLaunches = 5;
/** A server that is lost more often within this time is not started again. */
const maxLosses = 5;
const lossPeriodMs = 600_000;

/**
 * Each process that uses the server holds this lock shared. A process that gets it exclusively is
 * the last one.
 */
const usersLock = advisoryLocks.useEmbeddedPostgres;

/**
 * Uses the running server of this data folder, or starts it. Two processes that start at once share
 * one server.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log: (message: string) => void;
  /** Of a process that takes its data with it: fast and small, and nothing survives a crash. */
  isTemporary?: boolean;
  /** Called when PostgreSQL begins to work, which takes a while: to be created, and to be ready. */
  onLaunch?: () => void;
  /** Called when a server that died cannot be started again. Without it, it is not tried. */
  onLost?: (error: unknown) => void;
}): Promise<EmbeddedPostgres> {
  const { dataDir, log, isTemporary = false, onLaunch = () => undefined, onLost } = options;
  const cluster = await openCluster(dataDir, isTemporary, log, onLaunch);
  let session = await connectOrLaunch(cluster, log, onLaunch);
  let stopped: Promise<void> | undefined;
  let revived: Promise<void> = Promise.resolve();
  let lostAtMs: number[] = [];
  const { port } = session;
  const revive = async () => {
    if (stopped) return;
    session.detach?.();
    log('PostgreSQL was lost: starting it again');
    try {
      lostAtMs = [...lostAtMs.filter((ms) => ms > Date.now() - lossPeriodMs), Date.now()];
      if (lostAtMs.length > maxLosses) throw new Error('PostgreSQL was lost again and again');
      session = await connectOrLaunch(cluster, log);
      // The pools of this process have the old address.
      if (session.port !== port) throw new Error(`The port ${port} of PostgreSQL is taken`);
      watch();
    } catch (error) {
      onLost?.(error);
    }
  };
  const watch = () => {
    session.client.once('end', () => {
      if (!stopped && onLost) revived = revive();
    });
  };
  watch();
  return {
    url: (database) => urlOf(cluster, port, database),
    ensureDatabase: (name) => ensureDatabase(session, name),
    stop: () => (stopped ??= revived.then(() => stopServer(cluster, session, log))),
  };
}

function urlOf(cluster: Cluster, port: number, database: string): string {
  const name = encodeURIComponent(database);
  return `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/${name}`;
}

async function connectOrLaunch(
  cluster: Cluster,
  log: (message: string) => void,
  onLaunch?: () => void,
): Promise<Session> {
  const startedAt = Date.now();
  let failure: unknown;
  for (let launches = 0; Date.now() - startedAt < startTimeoutMs; await delay(100)) {
    const postmaster = await findPostmaster(cluster);
    if (postmaster?.port) {
      const session = await openSession(cluster, postmaster.port);
      if ('client' in session) {
        log(`Using the PostgreSQL that already runs on 127.0.0.1:${session.port}`);
        return session;
      }
      failure = session.connectError; // The server is starting or stopping.
    } else if (!postmaster) {
      if (++launches > maxLaunches) break;
      const session = await launch(cluster, startedAt + startTimeoutMs, log, onLaunch);
      if ('client' in session) {
        const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
        log(`PostgreSQL is ready on 127.0.0.1:${session.port} (${seconds} s)`);
        return session;
      }
      failure = session.connectError; // Another process started the server first, or took the port.
    }
  }
  throw new Error(
    `The embedded PostgreSQL in ${cluster.dataDir} did not start. ${await readLogTail(cluster)}`,
    { cause: failure },
  );
}

async function launch(
  cluster: Cluster,
  deadlineMs: number,
  log: (message: string) => void,
  onLaunch: () => void = () => undefined,
): Promise<Session | ConnectFailure> {
  const port = await choosePort(cluster);
  const server = await launchServer(cluster, port);
  onLaunch();
  let connectError: unknown = new Error('PostgreSQL exited while starting');
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadlineMs) {
    const session = await openSession(cluster, port);
    if ('client' in session) {
      await storePort(cluster, port);
      // A process that exits without `stop()` can still send its server the signal to shut down.
      const endServer = () => server.kill('SIGINT');
      process.once('exit', endServer);
      session.detach = () => process.off('exit', endServer);
      server.once('exit', (code, signal) => {
        if (code !== 0) log(`PostgreSQL exited (${signal ?? code}): see ${logPath(cluster)}`);
      });
      return session;
    }
    connectError = session.connectError;
    await delay(25);
  }
  return { connectError };
}

/**
 * Connects with the cluster's password. SCRAM authenticates the server too, so a successful
 * connection proves that it is the server of this cluster.
 */
async function openSession(cluster: Cluster, port: number): Promise<Session | ConnectFailure> {
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: urlOf(cluster, port, 'postgres'),
    connectionTimeoutMillis: 2_000,
    application_name: 'concilia-embedded-postgres',
  });
  // Without a listener, a lost connection would end the process. The next query fails instead.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock_shared($1)', [usersLock]);
    socket.unref(); // This session alone must not keep the process alive.
    return { client, socket, port };
  } catch (error) {
    await client.end();
    return { connectError: error };
  }
}

async function ensureDatabase({ client, socket }: Session, name: string): Promise<void> {
  socket.ref();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Another process may have created the database meanwhile: duplicate_database,
    // unique_violation.
    if (!hasCode(error, '42P04', '23505')) throw error;
  } finally {
    socket.unref();
  }
}

async function stopServer(
  cluster: Cluster,
  session: Session,
  log: (message: string) => void,
): Promise<void> {
  const { client, socket } = await reconnectIfLost(cluster, session);
  session.detach?.();
  socket.ref();
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [usersLock]);
    const { rows } = await client.query<{ isLast: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS "isLast"',
      [usersLock],
    );
    if (!rows[0]?.isLast) {
      log('PostgreSQL keeps running: another process uses it');
      return;
    }
    await waitForClients(client);
    // The lock is still held, so that no process starts to use a server that is shutting down.
    await shutDown(cluster);
    log('PostgreSQL has stopped');
  } catch (error) {
    if (await findPostmaster(cluster)) throw error; // Otherwise the server has already stopped.
  } finally {
    await client.end();
  }
}

/**
 * The session, or a new one if it is lost. PostgreSQL drops all sessions when one of its processes
 * crashes.
 */
async function reconnectIfLost(cluster: Cluster, session: Session): Promise<Session> {
  session.socket.ref();
  try {
    await session.client.query('SELECT 1');
    return session;
  } catch {
    const opened = await openSession(cluster, session.port);
    return 'client' in opened ? opened : session;
  }
}

async function waitForClients(client: pg.Client): Promise<void> {
  const deadlineMs = Date.now() + clientsTimeoutMs;
  while (Date.now() < deadlineMs) {
    const others = await client.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
    );
    if (others.rowCount === 0) return;
    await delay(50);
  }
}
