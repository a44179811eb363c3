// BullMQ on Redis when there is one, on PostgreSQL otherwise; the rooms see no difference. The queue holds
// nothing that PostgreSQL does not remember, so that its schema may be made anew at any time.
import { setTimeout as sleep } from 'node:timers/promises';
import { BullModule } from '@nestjs/bullmq';
import type { DynamicModule } from '@nestjs/common';
import { createPostgresBackend, runMigrations, setDefaultBackendFactory } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { allJobs } from '../queues.js';
import { advisoryLocks } from './advisory-locks.js';
import type { Log } from './log.js';

/** Jobs of a killed worker are given to another after this long. */
export const jobLockMs = 10_000;
export const stalledCheckMs = 5_000;

/** Other processes at work on the same tables may make one that starts give way this many times. */
const maxPreparations = 5;

export interface QueueConnection {
  /** What BullMQ is given. */
  connection: object;
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

/** Connects to the queue's backend. The choice is one for the whole process. */
export async function connectQueue(
  { redisUrl, databaseUrl }: { redisUrl: string | null; databaseUrl: string },
  log: Log,
): Promise<QueueConnection> {
  return redisUrl ? connectRedis(redisUrl, log) : connectPostgres(databaseUrl, log);
}

async function connectPostgres(databaseUrl: string, log: Log): Promise<QueueConnection> {
  setDefaultBackendFactory(createPostgresBackend);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    options: '-c search_path=bullmq',
    // Each worker keeps a client for LISTEN.
    max: allJobs.length + 8,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  pool.setMaxListeners(0);
  pool.on('error', (error) => log.warn({ err: error }, 'queue connection lost'));
  await prepareSchema(pool, log);
  return {
    connection: pool as unknown as object,
    isReady: async () => {
      await pool.query('SELECT 1');
      return true;
    },
    close: () => pool.end(),
  };
}

async function prepareSchema(pool: pg.Pool, log: Log): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const client = await pool.connect();
    try {
      await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.prepareQueue]);
      await forgetTruncatedSchema(client);
      await runMigrations(client);
      return;
    } catch (error) {
      if (tries === maxPreparations) throw error;
      log.warn({ err: error }, 'the queue could not be prepared; trying again');
      await sleep(tries * 200);
    } finally {
      // Ends the lock with the session.
      client.release(true);
    }
  }
}

/**
 * A wiped queue may have lost the note of its own migrations while its tables stand: they would be created
 * twice. It holds nothing worth keeping, so it is made anew.
 */
async function forgetTruncatedSchema(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('bullmq.migration') IS NOT NULL AS exists`,
  );
  if (!rows[0]?.exists) return;
  const notes = await client.query('SELECT 1 FROM bullmq.migration LIMIT 1');
  if (notes.rowCount === 0) await client.query('DROP SCHEMA bullmq CASCADE');
}

async function connectRedis(redisUrl: string, log: Log): Promise<QueueConnection> {
  setDefaultBackendFactory();
  // Producers share this one and fail at once when Redis is away; BullMQ gives each worker a blocking copy.
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    lazyConnect: true,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
  });
  redis.on('error', (error: Error) => log.warn({ err: error }, 'Redis connection failed'));
  try {
    await redis.connect();
  } catch (error) {
    // Not ready until it comes; what is committed meanwhile is woken by the sweepers.
    log.warn({ err: error }, 'Redis is away; going on without');
  }
  return {
    connection: redis as unknown as object,
    isReady: async () => (await redis.ping()) === 'PONG',
    close: async () => {
      redis.disconnect();
    },
  };
}

/** BullMQ's modules: the connection and the queues of the catalogue. `Workers` starts the workers. */
export function queueModules(connection: object): DynamicModule[] {
  return [
    BullModule.forRoot({ connection: connection as never }),
    ...allJobs.map((job) => ({ ...BullModule.registerQueue({ name: job.name }), global: true })),
  ];
}
