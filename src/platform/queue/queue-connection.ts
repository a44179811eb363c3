// Connects BullMQ to Redis if REDIS_URL is set, else to PostgreSQL. The modules are the same for
// both. Tables of the modules store all pending work, so the queue's schema may be dropped and
// created again at any time.
import { setTimeout as sleep } from 'node:timers/promises';
import { BullModule } from '@nestjs/bullmq';
import type { DynamicModule } from '@nestjs/common';
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  setDefaultBackendFactory,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { defaultDatabaseLimits } from '../settings/config.js';
import {
  defaultLockWait,
  LockNotAvailable,
  takeAdvisoryLock,
  type LockWait,
} from '../postgres/lock-waits.queries.js';
import type { Log } from '../log.js';
import { surviveLostConnections } from '../postgres/prisma-adapter.js';
import { idleConnectionMs } from '../postgres/transaction-connection.js';

/** Preparing the schema may fail by a deadlock with other processes that use its tables. */
const maxPrepareAttempts = 5;

export interface QueueConnection {
  /** BullMQ's `connection` option: an ioredis client or a pg pool. */
  connection: object;
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

interface QueueOptions {
  redisUrl: string | null;
  /** A direct connection: the workers wait for notifications, which a pooler does not pass on. */
  databaseUrl: string;
  poolSize?: number;
  connectTimeoutMs?: number;
  /** Whether the queue's schema in PostgreSQL may be changed; otherwise it is only checked. */
  preparesSchema?: boolean;
  wait?: Partial<LockWait>;
}

/** Connects to the queue's backend. BullMQ's default backend is set for the whole process. */
export async function connectQueue(options: QueueOptions, log: Log): Promise<QueueConnection> {
  return options.redisUrl ? connectRedis(options.redisUrl, log) : connectPostgres(options, log);
}

async function connectPostgres(options: QueueOptions, log: Log): Promise<QueueConnection> {
  const { databaseUrl, preparesSchema = true, wait } = options;
  setDefaultBackendFactory(createPostgresBackend);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    // A job that a crash of the database loses is enqueued again, as any lost job is: no request
    // and no job waits for the disk.
    options: '-c search_path=bullmq -c synchronous_commit=off',
    max: options.poolSize ?? defaultDatabaseLimits.queuePoolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultDatabaseLimits.connectTimeoutMs,
    idleTimeoutMillis: idleConnectionMs,
    keepAlive: true,
  });
  pool.setMaxListeners(0);
  pool.on('error', (error) => log.warn({ err: error }, 'queue connection lost'));
  surviveLostConnections(pool);
  try {
    if (preparesSchema) await prepareSchema(pool, { ...defaultLockWait, ...wait }, log);
    else await assertSchemaCompatibility(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    connection: pool as unknown as object,
    isReady: async () => {
      await pool.query('SELECT 1');
      return true;
    },
    close: () => pool.end(),
  };
}

async function prepareSchema(pool: pg.Pool, wait: LockWait, log: Log): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    const client = await pool.connect();
    try {
      await takeAdvisoryLock(client, 'prepareQueue', wait, (message) => log.info(message));
      await client.query(`SET lock_timeout = ${wait.totalMs}`);
      await dropTruncatedSchema(client);
      await runMigrations(client);
      return;
    } catch (error) {
      if (error instanceof LockNotAvailable || attempts === maxPrepareAttempts) throw error;
      log.warn({ err: error }, 'queue schema could not be prepared; retrying');
      await sleep(attempts * 200);
    } finally {
      // Closes the session, which releases the lock.
      client.release(true);
    }
  }
}

/**
 * Drops the queue's schema when its list of applied migrations is empty. That happens when all its
 * tables were truncated: BullMQ would then create the existing tables again and fail. No work is
 * lost with the schema.
 */
async function dropTruncatedSchema(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('bullmq.migration') IS NOT NULL AS exists`,
  );
  if (!rows[0]?.exists) return;
  const applied = await client.query('SELECT 1 FROM bullmq.migration LIMIT 1');
  if (applied.rowCount === 0) await client.query('DROP SCHEMA bullmq CASCADE');
}

async function connectRedis(redisUrl: string, log: Log): Promise<QueueConnection> {
  setDefaultBackendFactory();
  // Producers share this client and fail at once while Redis is down. BullMQ creates a blocking
  // copy for each worker.
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    lazyConnect: true,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
  });
  redis.on('error', (error: Error) => log.warn({ err: error }, 'redis connection failed'));
  try {
    await redis.connect();
  } catch (error) {
    // The process is not ready until Redis is reachable. Sweepers later enqueue the work that is
    // committed until then.
    log.warn({ err: error }, 'redis is not reachable; starting without it');
  }
  return {
    connection: redis as unknown as object,
    isReady: async () => (await redis.ping()) === 'PONG',
    close: async () => {
      redis.disconnect();
    },
  };
}

/** BullMQ's connection for all modules. `JobWorkers` starts the workers. */
export function queueModule(connection: object): DynamicModule {
  return BullModule.forRoot({
    connection: connection as never,
    extraOptions: { manualRegistration: true },
  });
}
