// The sandbox's own database: one pool, shared by SQL and by Prisma, and transactions that run
// callbacks after their commit.
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/sandbox/client.js';
import type { Log } from '../platform/log.js';

/** The sandbox bank's start-up settings. It is a class so that it can be injected. */
export class SandboxSettings {
  constructor(
    readonly databaseUrl: string,
    readonly log: Log,
    /** The API key of account 1000001. */
    readonly apiKey: string,
    /** The partner's key of the onboarding API. */
    readonly partnerKey: string,
  ) {}
}

/** The pool, a connection or a transaction: each can run a query. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
}

const poolMax = 24;
const connectionTimeoutMs = 10_000;
const statementTimeoutMs = 60_000;

/** Reads whole numbers as bigint and days as `yyyy-mm-dd`, never as floats and local midnights. */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.DATE, (text) => text],
]);

const statementNames = new Map<string, string>();

/** Each text is planned once per connection: planning is most of the cost of a short statement. */
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
    // A connection lost between two queries emits its error here; without a listener the process
    // would end. The next query on that connection fails, and the pool opens another connection.
    const logConnectionLoss = (error: Error) =>
      settings.log.warn({ err: error }, 'database connection lost');
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', logConnectionLoss));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(prepared(sql, values))).rows;
  }

  /**
   * Runs `work` in one transaction. Callbacks registered with `afterCommit` run after the commit.
   */
  transaction<Result>(work: (tx: SandboxTx) => Promise<Result>): Promise<Result> {
    return this.run('BEGIN', work);
  }

  /** Runs `work` on one consistent snapshot, however many queries it makes. */
  snapshot<Result>(work: (tx: SandboxTx) => Promise<Result>): Promise<Result> {
    return this.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work);
  }

  private async run<Result>(
    begin: string,
    work: (tx: SandboxTx) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.pool.connect();
    const tx = new SandboxTx(client);
    let result: Result;
    try {
      await client.query(begin);
      result = await work(tx);
      await client.query('COMMIT');
    } catch (error) {
      // A connection whose rollback fails is in an unknown state and is discarded.
      await client.query('ROLLBACK').then(
        () => client.release(),
        () => client.release(true),
      );
      throw error;
    }
    client.release();
    tx.runCallbacks();
    return result;
  }

  /** Reserves a connection for work that must not wait behind requests. */
  async reserve(): Promise<ReservedConnection> {
    return new ReservedConnection(await this.pool.connect());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** Its session settings may differ, so it is never returned to the pool. */
export class ReservedConnection implements Queryable {
  constructor(private readonly client: pg.PoolClient) {}

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(prepared(sql, values))).rows;
  }

  discard(): void {
    this.client.release(true);
  }
}

/** One open transaction. */
export class SandboxTx implements Queryable {
  private readonly callbacks: (() => void)[] = [];

  constructor(private readonly client: pg.PoolClient) {}

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(prepared(sql, values))).rows;
  }

  afterCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  runCallbacks(): void {
    for (const callback of this.callbacks) callback();
  }
}
