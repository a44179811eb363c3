// Runs the PostgreSQL that serves when no DATABASE_URL is given: starts it or adopts the one that already runs, and
// stops it when its last user leaves. Its settings are durable: what it has committed survives a kill of anything.
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { advisoryLocks } from './advisory-locks.js';
import { openCluster } from './embedded-postgres-cluster.js';
import type { Cluster } from './embedded-postgres-cluster.js';
import { hasCode } from './embedded-postgres-programs.js';
import {
  choosePort,
  findPostmaster,
  launchServer,
  logPath,
  rememberPort,
  shutDown,
  tailOfLog,
} from './embedded-postgres-server.js';

export interface EmbeddedPostgres {
  url(database: string): string;
  ensureDatabase(name: string): Promise<void>;
  /** Waits for clients to leave, then shuts down; leaves the server up while another process uses it. */
  stop(): Promise<void>;
}

/** A connection that marks this process as a user of the server. */
interface Session {
  client: pg.Client;
  socket: Socket;
  port: number;
  /** The server is stopped, or left to others: it is not ended with this process. */
  forget?: () => void;
}

interface Refusal {
  refusal: unknown;
}

const startTimeoutMs = 120_000; // recovery after a crash takes its time
const clientsTimeoutMs = 5_000;
const maxLaunches = 5;

/** Every user of the server holds this lock shared; who gets it alone is the last one and shuts the server down. */
const usersLock = advisoryLocks.useEmbeddedPostgres;

/** Adopts the server of this data folder, or starts it; two starters at once end up with one server. */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log: (message: string) => void;
}): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options;
  const cluster = await openCluster(dataDir, log);
  const session = await adoptOrLaunch(cluster, log);
  let stopped: Promise<void> | undefined;
  return {
    url: (database) => urlOf(cluster, session.port, database),
    ensureDatabase: (name) => ensureDatabase(urlOf(cluster, session.port, 'postgres'), name),
    stop: () => (stopped ??= stop(cluster, session, log)),
  };
}

function urlOf(cluster: Cluster, port: number, database: string): string {
  const name = encodeURIComponent(database);
  return `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/${name}`;
}

async function adoptOrLaunch(cluster: Cluster, log: (message: string) => void): Promise<Session> {
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
      failure = session.refusal; // starting, or stopping: look again
    } else if (!postmaster) {
      if (++launches > maxLaunches) break;
      const session = await launch(cluster, startedAt + startTimeoutMs, log);
      if ('client' in session) {
        const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
        log(`PostgreSQL is ready on 127.0.0.1:${session.port} (${seconds} s)`);
        return session;
      }
      failure = session.refusal; // another starter was faster, or took the port: look again
    }
  }
  throw new Error(
    `The embedded PostgreSQL in ${cluster.dataDir} did not start. ${await tailOfLog(cluster)}`,
    { cause: failure },
  );
}

async function launch(
  cluster: Cluster,
  deadlineMs: number,
  log: (message: string) => void,
): Promise<Session | Refusal> {
  const port = await choosePort(cluster);
  const server = await launchServer(cluster, port);
  let refusal: unknown = new Error('PostgreSQL exited while starting');
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadlineMs) {
    const session = await openSession(cluster, port);
    if ('client' in session) {
      await rememberPort(cluster, port);
      // A process that is made to end at once has no time to stop its server: it asks it to.
      const endServer = () => server.kill('SIGINT');
      process.once('exit', endServer);
      session.forget = () => process.off('exit', endServer);
      server.once('exit', (code, signal) => {
        if (code !== 0) log(`PostgreSQL exited (${signal ?? code}): see ${logPath(cluster)}`);
      });
      return session;
    }
    refusal = session.refusal;
    await delay(25);
  }
  return { refusal };
}

/** Connecting with our password proves both ways that this is our server: SCRAM makes the server prove itself too. */
async function openSession(cluster: Cluster, port: number): Promise<Session | Refusal> {
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: urlOf(cluster, port, 'postgres'),
    connectionTimeoutMillis: 2_000,
    application_name: 'concilia-embedded-postgres',
  });
  // A lost connection shows at the next use; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock_shared($1)', [usersLock]);
    socket.unref(); // this session alone must not keep a finished process alive
    return { client, socket, port };
  } catch (error) {
    await client.end();
    return { refusal: error };
  }
}

async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    if (!hasCode(error, '42P04', '23505')) throw error; // another starter created it meanwhile
  } finally {
    await client.end();
  }
}

async function stop(
  cluster: Cluster,
  session: Session,
  log: (message: string) => void,
): Promise<void> {
  const { client, socket } = await revived(cluster, session);
  session.forget?.();
  socket.ref();
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [usersLock]);
    const alone = await client.query<{ last: boolean }>('SELECT pg_try_advisory_lock($1) AS last', [
      usersLock,
    ]);
    if (!alone.rows[0]?.last) {
      log('Leaving PostgreSQL up: another process uses it');
      return;
    }
    await waitForClients(client);
    // Still holding the lock, so that nobody joins a server that is going down.
    await shutDown(cluster);
    log('PostgreSQL has stopped');
  } catch (error) {
    if (await findPostmaster(cluster)) throw error; // else it has gone by itself: nothing is left to stop
  } finally {
    await client.end();
  }
}

/** The session, or a new one where the server has dropped it (it drops all when one of its processes crashes). */
async function revived(cluster: Cluster, session: Session): Promise<Session> {
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
