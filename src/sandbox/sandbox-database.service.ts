// The sandbox's own database: one pool, shared by SQL and by Prisma, and transactions that tell when they are final.
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/sandbox/client.js';
import { SandboxSettings } from './sandbox-settings.js';

/** What a query runs on: the pool, or a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
}

const poolMax = 24;
const connectionTimeoutMs = 10_000;
const statementTimeoutMs = 60_000;

/** Whole numbers come as bigint and days as `yyyy-mm-dd`, never as floats and local midnights. */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.DATE, (text) => text],
]);

const statementNames = new Map<string, string>();

/** Each text is planned once a connection: planning is most of what a short statement costs. */
function prepared(text: string, values: unknown[]): pg.QueryConfig {
  let name = statementNames.get(text);
  if (!name) statementNames.set(text, (name = `sandbox_${statementNames.size}`));
  return { name, text, values };
}

@Injectable()
export class SandboxDatabase implements Queryable, OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;

  constructor(settings: SandboxSettings) {
    this.pool = new pg.Pool({
      connectionString: settings.databaseUrl,
      max: poolMax,
      connectionTimeoutMillis: connectionTimeoutMs,
      statement_timeout: statementTimeoutMs,
      types: {
        getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
          parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as never,
      },
    });
    // A connection that is cut between two queries reports here and would end the process unheard; the query that
    // needs it fails by itself, and the pool opens another.
    const noteLoss = (error: Error) => settings.log.warn({ err: error }, 'connection lost');
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', noteLoss));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(prepared(sql, values))).rows;
  }

  /** Runs `work` in one transaction; what it registered with `afterCommit` runs once that is final. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.run('BEGIN', work);
  }

  /** Reads one moment, however many queries `work` makes. */
  snapshot<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work);
  }

  private async run<Result>(begin: string, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect();
    const tx = new Tx(client);
    let result: Result;
    try {
      await client.query(begin);
      result = await work(tx);
      await client.query('COMMIT');
    } catch (error) {
      // A connection whose rollback fails is in an unknown state and is thrown away.
      await client.query('ROLLBACK').then(
        () => client.release(),
        () => client.release(true),
      );
      throw error;
    }
    client.release();
    tx.committed();
    return result;
  }

  /** A connection of its own for work that must not wait behind requests. */
  async reserve(): Promise<Session> {
    return new Session(await this.pool.connect());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** A reserved connection; its settings may be its own, so it never goes back to the pool. */
export class Session implements Queryable {
  constructor(private readonly client: pg.PoolClient) {}

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(prepared(sql, values))).rows;
  }

  discard(): void {
    this.client.release(true);
  }
}

/** One open transaction. */
export class Tx implements Queryable {
  private readonly callbacks: (() => void)[] = [];

  constructor(private readonly client: pg.PoolClient) {}

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(prepared(sql, values))).rows;
  }

  afterCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  committed(): void {
    for (const callback of this.callbacks) callback();
  }
}
