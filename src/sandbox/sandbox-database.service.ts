// The sandbox's own database: a pool, and transactions that run callbacks after their commit.
// Prisma makes its schema, its migrations and the types of its rows. Its client is left out: with
// its query compiler it would be half of the memory of a bank in somebody's tests.
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { advisoryLocks } from '../platform/postgres/advisory-locks.js';
import { parseJson, stringifyJson } from '../platform/json/exact-json.js';
import type { Log } from '../platform/log.js';
import { idleConnectionMs } from '../platform/postgres/transaction-connection.js';
import { camelCaseRows } from '../platform/postgres/row-names.js';
import type { BankHabits } from '../bank-contract/bank-profile.js';
import type { Preset } from './presets/presets.js';

/** The sandbox bank's start-up settings. It is a class so that it can be injected. */
export class SandboxSettings {
  constructor(
    readonly databaseUrl: string,
    readonly log: Log,
    /** The partner's key of the onboarding API. */
    readonly partnerKey: string,
    /** The preset of a bank whose modes were never changed. */
    readonly preset: Preset,
    /** Of the bank that is imitated while the process runs; null for none. */
    readonly habits: BankHabits | null,
    /** The clock of a bank whose clock was never changed, and the largest pool. */
    readonly limits: { startsAt: Date | null; isFrozen: boolean; maxConnections: number },
  ) {}
}

const connectionTimeoutMs = 10_000;
const statementTimeoutMs = 60_000;

/**
 * Reads whole numbers as bigint, days as `yyyy-mm-dd`, and JSON with exact numbers; never as floats
 * and local midnights.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.JSON, (text) => parseJson(text)],
]);

const statementNames = new Map<string, string>();

/** Each text is planned once per connection: planning is most of the cost of a short statement. */
function prepared(text: string, values: unknown[]): pg.QueryConfig {
  let name = statementNames.get(text);
  if (!name) statementNames.set(text, (name = `sandbox_${statementNames.size}`));
  return { name, text, values };
}

const columnNames = new Map<string, string>();

function snakeCase(name: string): string {
  let column = columnNames.get(name);
  if (column === undefined) {
    column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columnNames.set(name, column);
  }
  return column;
}

/** A column as SQL names it: `authorization` is also a word of SQL. */
function quoted(name: string): string {
  return `"${snakeCase(name)}"`;
}

/** The row with the names of its columns. PostgreSQL reads whole numbers from text, too. */
export function columnsOf(row: object): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row))
    columns[snakeCase(name)] = typeof value === 'bigint' ? String(value) : value;
  return columns;
}

/** A value of a column: an object is JSON. */
function parameterOf(value: unknown): unknown {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Date);
  return isJson ? stringifyJson(value) : value;
}

/**
 * The pool, a connection or a transaction. Rows have camel-case names in both directions: SQL reads
 * `amount_cents`, and its rows have `amountCents`.
 */
export abstract class Queryable {
  constructor(private readonly connection: pg.Pool | pg.PoolClient) {}

  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return camelCaseRows((await this.connection.query<Row>(prepared(sql, values))).rows);
  }

  /** The first row, or null. */
  async find<Row extends object>(sql: string, values: unknown[] = []): Promise<Row | null> {
    const [row] = await this.query<Row>(sql, values);
    return row ?? null;
  }

  /** Inserts a row. False when `onConflict` left it out. */
  async insert<Row extends object>(table: string, row: Row, onConflict = ''): Promise<boolean> {
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    const { rowCount } = await this.connection.query(
      prepared(
        `INSERT INTO ${table} (${Object.keys(row).map(quoted).join(', ')})
         VALUES (${places.join(', ')}) ${onConflict}`,
        Object.values(row).map(parameterOf),
      ),
    );
    return rowCount === 1;
  }

  /**
   * Inserts many rows of the same fields in one statement. JSON values hold no exact numbers:
   * JSON.stringify, which is several times faster than `stringifyJson`, writes the rows.
   */
  async insertAll<Row extends object>(table: string, rows: readonly Row[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const columns = Object.keys(first).map(quoted).join(', ');
    await this.query(
      `INSERT INTO ${table} (${columns})
       SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json)`,
      [JSON.stringify(rows.map(columnsOf))],
    );
  }

  /** The row with the values of `key`, or null. */
  findRow<Row extends object>(
    table: string,
    key: Partial<Row>,
    columns = '*',
  ): Promise<Row | null> {
    return this.find(selectRow(table, key, columns), Object.values(key));
  }

  /** The rows with the values of `key`, in the order of the columns. */
  list<Row extends object>(table: string, key: Partial<Row>, order: string): Promise<Row[]> {
    const where =
      Object.keys(key).length > 0 ? selectRow(table, key, '*') : `SELECT * FROM ${table}`;
    return this.query(`${where} ORDER BY ${order}`, Object.values(key));
  }

  /** Like `findRow`. The row is locked until the transaction ends. */
  lockRow<Row extends object>(
    table: string,
    key: Partial<Row>,
    columns = '*',
  ): Promise<Row | null> {
    return this.find(`${selectRow(table, key, columns)} FOR NO KEY UPDATE`, Object.values(key));
  }

  /** Changes the rows with the values of `key`. */
  async update<Row extends object>(
    table: string,
    key: Partial<Row>,
    changes: Partial<Row>,
  ): Promise<void> {
    const conditions = assignments(key, Object.keys(changes).length).join(' AND ');
    await this.query(
      `UPDATE ${table} SET ${assignments(changes).join(', ')} WHERE ${conditions}`,
      [...Object.values(changes), ...Object.values(key)].map(parameterOf),
    );
  }

  /** Deletes the rows with the values of `key`. */
  async remove<Row extends object>(table: string, key: Partial<Row>): Promise<void> {
    await this.query(`DELETE FROM ${table} WHERE ${assignments(key).join(' AND ')}`, [
      ...Object.values(key),
    ]);
  }
}

function selectRow(table: string, key: object, columns: string): string {
  return `SELECT ${columns} FROM ${table} WHERE ${assignments(key).join(' AND ')}`;
}

/** `column = $1` for each field, numbered after the parameters before it. */
function assignments(fields: object, parametersBefore = 0): string[] {
  return Object.keys(fields).map(
    (name, index) => `${quoted(name)} = $${parametersBefore + index + 1}`,
  );
}

@Injectable()
export class SandboxDatabase extends Queryable implements OnApplicationShutdown {
  readonly pool: pg.Pool;

  constructor(settings: SandboxSettings) {
    const pool = new pg.Pool({
      connectionString: settings.databaseUrl,
      max: settings.limits.maxConnections,
      connectionTimeoutMillis: connectionTimeoutMs,
      idleTimeoutMillis: idleConnectionMs,
      statement_timeout: statementTimeoutMs,
      // Statements of a transaction that do not wait for each other share a round trip.
      pipeline: true,
      types: {
        getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
          parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as never,
      },
    });
    super(pool);
    this.pool = pool;
    // A connection lost between two queries emits its error here; without a listener the process
    // would end. The next query on that connection fails, and the pool opens another connection.
    const logConnectionLoss = (error: Error) =>
      settings.log.warn({ err: error }, 'database connection lost');
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', logConnectionLoss));
  }

  /** Runs `work` in one transaction, and its `afterCommit` callbacks after the commit. */
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
      // Sent together with the first statement of the work, which fails where this one fails.
      const begun = client.query(begin);
      begun.catch(() => undefined);
      result = await work(tx);
      await begun;
      await tx.endUnfinished();
      await client.query('COMMIT');
    } catch (error) {
      await tx.endUnfinished().catch(() => undefined);
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

  async isReachable(): Promise<boolean> {
    return this.query('SELECT 1').then(
      () => true,
      () => false,
    );
  }

  /** Reserves a connection for work that must not wait behind requests. */
  async reserve(): Promise<ReservedConnection> {
    return new ReservedConnection(await this.pool.connect());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

/** Its session settings may differ, so it is never returned to the pool. */
export class ReservedConnection extends Queryable {
  constructor(private readonly client: pg.PoolClient) {
    super(client);
  }

  discard(): void {
    this.client.release(true);
  }
}

/** One open transaction. */
export class SandboxTx extends Queryable {
  private readonly callbacks: (() => void)[] = [];
  private readonly unfinished: Promise<void>[] = [];

  /**
   * For writes that nothing else in the transaction reads: what follows does not wait for them, and
   * the commit does.
   */
  doAlongside(write: Promise<void>): void {
    write.catch(() => undefined);
    this.unfinished.push(write);
  }

  /** Waits until each of them has ended, and throws the error of the first that failed. */
  async endUnfinished(): Promise<void> {
    await Promise.allSettled(this.unfinished);
    await Promise.all(this.unfinished);
  }

  /** Waits for other transactions with this lock, and holds it until the transaction ends. */
  async lockAdvisory(lock: keyof typeof advisoryLocks): Promise<void> {
    await this.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks[lock]]);
  }

  afterCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  runCallbacks(): void {
    for (const callback of this.callbacks) callback();
  }
}
