// The service's PostgreSQL: one pool, Prisma on top of it, and transactions. No code calls the bank
// inside a transaction: a slow response would hold locks, and a rollback would delete the record of
// a call that was made.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { defaultDatabaseLimits, type DatabaseLimits } from '../settings/config.js';
import { Prisma, PrismaClient } from '../../generated/service/client.js';
import { invariant } from '../errors.js';
import {
  beginTransaction,
  prismaAdapter,
  surviveLostConnections,
  type TransactionLimits,
} from './prisma-adapter.js';
import {
  idleConnectionMs,
  statementsOutside,
  TransactionConnection,
  TransactionEnded,
  type StatementRunner,
} from './transaction-connection.js';
import { followDatabaseTime } from '../ids.js';
import { camelCaseRows } from './row-names.js';

/**
 * A database transaction. It is an explicit parameter of everything that must be committed
 * together.
 */
export type Tx = Prisma.TransactionClient;
/** The parameter of a query that only reads: a transaction, or the client without one. */
export type Db = Tx | PrismaClient;
/** The parameter of SQL that only reads, and needs nothing else of Prisma's client. */
export interface Reader {
  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows>;
}
/** The parameter of SQL, which needs nothing else of Prisma's client. A `Tx` is one. */
export interface SqlTx extends Reader {
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
}

/**
 * An account id that the planner cannot look up in its statistics. Statistics from before an import
 * say that the account has no rows. Then every index that begins with the account seems equally
 * good, and the planner may use a wrong one.
 */
export const opaqueAccountId = (accountId: number): Prisma.Sql =>
  Prisma.sql`(SELECT ${accountId}::int)`;

/** The same as a table `account` of one row, for statements that need it many times. */
export const accountColumn = (accountId: number): Prisma.Sql =>
  Prisma.sql`(SELECT ${accountId}::int AS id OFFSET 0) account`;

type ArrayType =
  | ('bigint' | 'boolean' | 'int' | 'text' | 'timestamptz' | 'uuid')
  | ('classification_category' | 'line_outcome_state' | 'match_role' | 'settlement');

/**
 * An array whose length the planner does not know, for look-ups row by row: many values do not
 * make it read the whole table.
 */
export const opaqueArray = (values: Iterable<unknown>, type: ArrayType): Prisma.Sql =>
  Prisma.sql`(SELECT ${[...values]}::${Prisma.raw(type)}[])`;

/** The columns of rows to write, each as an array. */
export const arrayColumns =
  <Row>(rows: readonly Row[]) =>
  (pick: (row: Row) => unknown, type: ArrayType): Prisma.Sql =>
    opaqueArray(rows.map(pick), type);

/** JSON texts as an array of texts, for `unnest`. */
export const jsonTexts = (documents: readonly string[]): Prisma.Sql =>
  jsonLines(documents.join('\n'));

/**
 * JSON texts that are joined already, a line each, as an array of texts. They are sent as one text:
 * in the text of an array, each quote would be escaped by this process and read back. No JSON text
 * has a line break of its own.
 */
export const jsonLines = (lines: string): Prisma.Sql =>
  Prisma.sql`(SELECT string_to_array(${lines}::text, chr(10)))`;

/**
 * A condition that is true. A statement outside of transactions that has it does not wait for the
 * disk when it commits. It is for what a crash of the server may forget: a claim, which is then as
 * if it had run out, and lines that the bank's statement shows again. It is never forgotten without
 * all that was committed after it.
 */
export const withoutWaitForDisk = Prisma.sql`
  set_config('synchronous_commit', 'off', true) IS NOT NULL`;

/** The connection of the transaction in progress, once it has begun. */
const insideTransaction = new AsyncLocalStorage<{ connection?: TransactionConnection }>();

interface LaterSteps {
  beforeCommit: (() => Promise<void>)[];
  afterCommit: (() => void)[];
}

const laterSteps = new WeakMap<SqlTx, LaterSteps>();

function laterStepsOf(tx: SqlTx): LaterSteps {
  const steps = laterSteps.get(tx);
  invariant(steps, 'the transaction is not of Database.transaction, or its work has ended');
  return steps;
}

/**
 * Runs `step` at the end of a transaction of `Database`, after its work and before its commit. It
 * is for locks that many transactions take: taken last, a lock is held for a short time and is part
 * of no deadlock.
 */
export function beforeCommit(tx: SqlTx, step: () => Promise<void>): void {
  laterStepsOf(tx).beforeCommit.push(step);
}

/**
 * Runs `step` once the transaction is committed, and not if it is rolled back or repeated. It is
 * for counting what was done in memory: a process that dies has not run it.
 */
export function afterCommit(tx: SqlTx, step: () => void): void {
  laterStepsOf(tx).afterCommit.push(step);
}

/**
 * The transaction with its SQL sent on its connection. Prisma's client would interpret each
 * statement and copy each row several times: most of the CPU time of a batch of a thousand lines.
 */
function withDirectSql(tx: Tx): Tx {
  const transaction = insideTransaction.getStore();
  const methods = directSql(() => {
    invariant(transaction?.connection, 'the transaction has begun');
    return transaction.connection;
  });
  return new Proxy(tx, {
    get: (_, name) =>
      (methods as unknown as Record<string | symbol, unknown>)[name] ??
      (Reflect.get(tx, name) as unknown),
  });
}

/** SQL that is sent past Prisma's client. */
function directSql(runnerOf: () => StatementRunner): SqlTx {
  const sqlOf = (text: TemplateStringsArray | Prisma.Sql, values: unknown[]) =>
    text instanceof Prisma.Sql ? text : Prisma.sql(text, ...values);
  return {
    $queryRaw: async <Rows>(text: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      (await runnerOf().query(sqlOf(text, values))) as Rows,
    $executeRaw: (text, ...values) => runnerOf().execute(sqlOf(text, values)),
  };
}

async function runWithLaterSteps<Result, Transaction extends SqlTx>(
  tx: Transaction,
  work: (tx: Transaction) => Promise<Result>,
  afterCommit: (() => void)[],
): Promise<Result> {
  const beforeCommit: (() => Promise<void>)[] = [];
  laterSteps.set(tx, { beforeCommit, afterCommit });
  const result = await work(tx);
  laterSteps.delete(tx);
  for (const step of beforeCommit) await step();
  return result;
}

/** Throws inside a transaction. Every call of the bank is preceded by this check. */
export function assertOutsideTransaction(action: string): void {
  invariant(!insideTransaction.getStore(), `${action} inside a database transaction`);
}

/** Whether a transaction was rolled back because it took longer than its limit. */
export function isTransactionTimeout(error: unknown): boolean {
  if (error instanceof TransactionEnded) return true;
  // The same code stands for a transaction that never began.
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    error.code === 'P2028' &&
    !error.message.includes('Unable to start')
  );
}

/** The work of a transaction of SQL. */
type SqlWork<Result> = (tx: SqlTx, commitWith: (statement: Prisma.Sql) => void) => Promise<Result>;

const maxAttempts = 5;

export class Database {
  private readonly createClient: () => PrismaClient;
  private client: PrismaClient | null = null;
  /** SQL outside of transactions, for hot paths: Prisma's client costs more than a look-up. */
  readonly sql: SqlTx;
  private readonly beginOnConnection: string;
  private readonly transactionTimeoutMs: number;
  private hasReaders = false;

  constructor(
    readonly pool: pg.Pool,
    limits: DatabaseLimits = defaultDatabaseLimits,
  ) {
    const outside = statementsOutside(pool);
    this.sql = directSql(() => outside);
    const { statementTimeoutMs, connectTimeoutMs, transactionTimeoutMs } = limits;
    const transactionLimits = { statementTimeoutMs, idleTimeoutMs: statementTimeoutMs };
    this.beginOnConnection = beginTransaction({
      ...transactionLimits,
      statementTimeoutMs: Math.min(statementTimeoutMs, transactionTimeoutMs),
    });
    this.transactionTimeoutMs = transactionTimeoutMs;
    this.createClient = () =>
      createClient(pool, transactionLimits, {
        maxWait: connectTimeoutMs,
        timeout: transactionTimeoutMs,
      });
  }

  /**
   * Created at its first use, and its query compiler with its first query: together they take
   * longer than anything else of a start, so nothing that a start waits for uses them.
   */
  get prisma(): PrismaClient {
    return (this.client ??= this.createClient());
  }

  /**
   * Runs `work` in one transaction. After a deadlock or serialization failure it runs `work` again,
   * up to five times, so `work` must have no effect outside the database. `timeoutMs` replaces the
   * time after which a transaction is rolled back.
   */
  async transaction<Result>(
    work: (tx: Tx) => Promise<Result>,
    options: { timeoutMs?: number } = {},
  ): Promise<Result> {
    const { timeoutMs } = options;
    const limits = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    return repeatAfterConflicts((committed) =>
      insideTransaction.run({}, () =>
        this.prisma.$transaction(
          (tx) => runWithLaterSteps(withDirectSql(tx), work, committed),
          limits,
        ),
      ),
    );
  }

  /**
   * A transaction like that of `transaction`, for a few statements of SQL. It is for hot paths:
   * beginning and ending it through Prisma's client costs more than such statements. Its beginning
   * shares a round trip with the first statement, and its end with the statement that `work` passes
   * to `commitWith`. Nobody reads the result of that one, so it must fail where it has not done all
   * that it should.
   */
  async sqlTransaction<Result>(work: SqlWork<Result>): Promise<Result> {
    return repeatAfterConflicts((committed) =>
      insideTransaction.run({}, () => this.runOnConnection(work, committed)),
    );
  }

  /**
   * A transaction whose statements are all sent with its beginning and its end, in one round trip.
   * Returns the rows of `reading`. If the transaction must not be committed, one of the others must
   * fail. Only the limits of its statements bound its time.
   */
  async sqlAtOnce<Row extends object>(
    reading: Prisma.Sql,
    others: readonly Prisma.Sql[],
  ): Promise<Row[]> {
    return repeatAfterConflicts(() =>
      this.withConnection(async (connection) => {
        const read = Promise.all([
          connection.send(this.beginOnConnection),
          connection.query(reading),
        ]);
        connection.sendLast(others);
        const committed = connection.commit();
        // Where `reading` has failed, its error is thrown, and not that of the commit behind it.
        committed.catch(() => undefined);
        const [, rows] = await read;
        await committed;
        return rows as Row[];
      }),
    );
  }

  /**
   * Runs `work` with up to `count` (at least 1) more connections, on which a long transaction reads
   * what is committed while its own connection writes. There are none while another transaction has
   * readers, and the pool keeps one to spare: transactions that wait for connections while they
   * hold one could wait for each other.
   */
  async withReaders<Result>(
    count: number,
    work: (readers: readonly SqlTx[]) => Promise<Result>,
  ): Promise<Result> {
    if (this.hasReaders || !this.canSpareConnection()) return work([]);
    this.hasReaders = true;
    try {
      return await this.withMoreReaders([], count, work);
    } finally {
      this.hasReaders = false;
    }
  }

  private async withMoreReaders<Result>(
    readers: readonly SqlTx[],
    count: number,
    work: (readers: readonly SqlTx[]) => Promise<Result>,
  ): Promise<Result> {
    if (readers.length === count || !this.canSpareConnection()) return work(readers);
    return this.runOnConnection(
      (reader) => this.withMoreReaders([...readers, reader], count, work),
      [],
    );
  }

  private canSpareConnection(): boolean {
    const { options, totalCount, idleCount, waitingCount } = this.pool;
    return waitingCount === 0 && options.max - totalCount + idleCount > 1;
  }

  private async runOnConnection<Result>(
    work: SqlWork<Result>,
    committed: (() => void)[],
  ): Promise<Result> {
    return this.withConnection(async (connection) => {
      const runWork = async (tx: SqlTx) => {
        const last: Prisma.Sql[] = [];
        const done = await work(tx, (statement) => last.push(statement));
        connection.sendLast(last);
        return done;
      };
      const sql = directSql(() => connection);
      const [, result] = await Promise.all([
        connection.send(this.beginOnConnection),
        runWithLaterSteps(sql, runWork, committed),
      ]);
      await connection.commit();
      return result;
    });
  }

  /** Rolls back what `work` has begun and not committed when it throws. */
  private async withConnection<Result>(
    work: (connection: TransactionConnection) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.pool.connect();
    const connection = new TransactionConnection(client);
    // It may be lost while no statement waits for its answer.
    const onLost = () => {
      connection.isBroken = true;
    };
    client.on('error', onLost);
    const limit = setTimeout(() => connection.end(), this.transactionTimeoutMs);
    try {
      return await work(connection);
    } catch (error) {
      connection.end();
      // Where even this fails, the connection is closed, and the server rolls back.
      if (!connection.isBroken) await connection.send('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(limit);
      client.removeListener('error', onLost);
      client.release(connection.isBroken);
    }
  }

  /**
   * PostgreSQL's time. What is stored and what is compared with a stored time goes by it, because
   * the clocks of two processes may differ.
   */
  async now(): Promise<Date> {
    const { rows } = await this.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const [row] = rows;
    invariant(row, 'PostgreSQL returned no time');
    followDatabaseTime(row.now);
    return row.now;
  }

  /** Whether it answers and can write: a replica, or a server that was set so, cannot. */
  async isReady(): Promise<boolean> {
    const { rows } = await this.pool.query<{ mode: string }>(
      `SELECT current_setting('transaction_read_only') AS mode`,
    );
    return rows[0]?.mode === 'off';
  }

  /**
   * Closes the connections. It is called last, when no other part of the process uses the database.
   */
  async close(): Promise<void> {
    await this.client?.$disconnect();
    await this.pool.end();
  }
}

function createClient(
  pool: pg.Pool,
  limits: TransactionLimits,
  transactionOptions: { maxWait: number; timeout: number },
): PrismaClient {
  const client = new PrismaClient({
    adapter: prismaAdapter(pool, limits, (connection) => {
      const transaction = insideTransaction.getStore();
      // The first one: what else the work calls may begin transactions of its own.
      if (transaction) transaction.connection ??= connection;
    }),
    transactionOptions,
  });
  // Rows of SQL are named like those of the client.
  return client.$extends({
    query: {
      $queryRaw: async ({ args, query }) => camelCaseRows((await query(args)) as object[]),
    },
  }) as unknown as PrismaClient;
}

/** How much longer a process waits for the server's answer than the server works on it. */
const answerGraceMs = 5_000;

/**
 * The pool that Prisma and the hot paths share. A connection has no start-up options and needs no
 * state of its session, so a transaction-mode pooler may stand in between. Outside transactions,
 * this process bounds a statement, and in them the server does.
 */
export function createPool(
  databaseUrl: string,
  onError: (error: Error) => void,
  limits: DatabaseLimits = defaultDatabaseLimits,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: limits.poolSize,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    idleTimeoutMillis: idleConnectionMs,
    query_timeout: limits.statementTimeoutMs + answerGraceMs,
    keepAlive: true,
    // Statements of a transaction that do not wait for each other share a round trip.
    pipeline: true,
  });
  pool.on('error', onError);
  surviveLostConnections(pool);
  return pool;
}

/** `attempt` gets the list of what runs once it is committed. */
async function repeatAfterConflicts<Result>(
  attempt: (committed: (() => void)[]) => Promise<Result>,
): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    const committed: (() => void)[] = [];
    try {
      const result = await attempt(committed);
      for (const step of committed) step();
      return result;
    } catch (error) {
      if (!isConflict(error) || attempts === maxAttempts) throw error;
      await sleep(attempts * 20 * (1 + Math.random()));
    }
  }
}

/** Whether PostgreSQL has refused a statement, and so its transaction. */
export const isRefusedStatement = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** serialization_failure, deadlock_detected */
const conflictCodes = new Set(['40001', '40P01']);

/**
 * Whether PostgreSQL reports that the transaction may be retried. Prisma wraps that error in
 * several ways.
 */
function isConflict(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return conflictCodes.has(error.code ?? '');
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  if (error.code === 'P2034') return true;
  const { driverAdapterError } = (error.meta ?? {}) as {
    driverAdapterError?: { cause?: { kind?: string; originalCode?: string } };
  };
  const { kind, originalCode } = driverAdapterError?.cause ?? {};
  return kind === 'TransactionWriteConflict' || conflictCodes.has(originalCode ?? '');
}
