// Statements that are sent past Prisma's client. On the connection of a transaction they are sent
// in the order of the calls, and none after the transaction has ended: the connection is then
// another's.
import pg from 'pg';
import { invariant } from '../errors.js';
import { ObjectQuery } from './object-query.js';

/**
 * After this time without use, a pool closes a connection. A new one costs a server process and an
 * authentication, and its first plans read the catalog again: at rest that was more than the
 * statements themselves.
 */
export const idleConnectionMs = 300_000;

/** A statement with numbered parameters. `Prisma.sql` makes one. */
export interface SqlStatement {
  text: string;
  values: unknown[];
}

/** Runs statements. */
export interface StatementRunner {
  /** The rows, with names in camel case. */
  query(statement: SqlStatement): Promise<object[]>;
  /** The number of rows that the statement wrote. */
  execute(statement: SqlStatement): Promise<number>;
}

/** Runs each statement outside of transactions, on any connection of the pool. */
export function statementsOutside(pool: pg.Pool): StatementRunner {
  // The types of the package leave out that the pool waits for the answer.
  const run = (query: ObjectQuery) => pool.query(query) as unknown as Promise<pg.QueryResult>;
  return {
    query: async (statement) => {
      const query = queryOf(statement);
      await run(query);
      return query.objects;
    },
    execute: async (statement) => (await run(queryOf(statement))).rowCount ?? 0,
  };
}

/** Sends the query, and waits for its answer. Its rows are then in the query. */
async function answerOf(client: pg.PoolClient, query: ObjectQuery): Promise<pg.QueryResult> {
  const send = client.query.bind(client) as (query: ObjectQuery, answer: Answer) => unknown;
  try {
    return await new Promise((resolve, reject) => {
      send(query, (error, result) => (error ? reject(error) : resolve(result)));
    });
  } catch (error) {
    // Its stack would lead to the socket, and not to the code that sent the query.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

type Answer = (error: Error | null | undefined, result: pg.QueryResult) => void;

/** The transaction had ended, by its time limit, before a statement of it was sent. */
export class TransactionEnded extends Error {
  override readonly name = 'TransactionEnded';
}

export class TransactionConnection implements StatementRunner {
  /** Without the server's answer, a statement may still run on the connection. */
  isBroken = false;
  private hasEnded = false;
  private readonly last: Promise<unknown>[] = [];

  constructor(private readonly client: pg.PoolClient) {}

  /** Call it when the end of the transaction is sent. */
  end(): void {
    this.hasEnded = true;
  }

  async send(query: string | pg.QueryConfig | ObjectQuery): Promise<pg.QueryResult> {
    try {
      if (query instanceof ObjectQuery) return await answerOf(this.client, query);
      return await this.client.query(query);
    } catch (error) {
      this.isBroken ||= !(error instanceof pg.DatabaseError);
      throw error;
    }
  }

  async query(statement: SqlStatement): Promise<object[]> {
    this.assertOpen();
    const query = queryOf(statement);
    await this.send(query);
    return query.objects;
  }

  async execute(statement: SqlStatement): Promise<number> {
    this.assertOpen();
    return (await this.send(queryOf(statement))).rowCount ?? 0;
  }

  /**
   * Sends statements whose results nobody reads. `commit` throws the error of the one that fails.
   * Throws where one of them cannot be sent: then the transaction must not be committed.
   */
  sendLast(statements: readonly SqlStatement[]): void {
    this.assertOpen();
    for (const query of statements.map(queryOf)) this.last.push(this.send(query));
    // Their errors are thrown by `commit`, or follow an earlier error.
    for (const sent of this.last) sent.catch(() => undefined);
  }

  /** Sends COMMIT right behind the statements of `sendLast`. */
  async commit(): Promise<void> {
    this.assertOpen();
    this.end();
    const [{ command }] = await Promise.all([this.send('COMMIT'), ...this.last]);
    invariant(command === 'COMMIT', 'a transaction whose statement failed is not committed');
  }

  private assertOpen(): void {
    if (this.hasEnded) throw new TransactionEnded('the transaction has ended');
  }
}

/**
 * The text of an array as PostgreSQL reads it, in a fraction of the driver's time. Arrays with
 * elements of other types are left to the driver.
 */
function arrayText(elements: readonly unknown[]): unknown {
  if (elements.length === 0) return '{}';
  if (elements.every(isPlainText)) return inBraces([...elements] as string[], '"');
  const texts: string[] = [];
  for (const element of elements) {
    if (typeof element === 'string') texts.push(quoted(element));
    else if (typeof element === 'bigint' || typeof element === 'boolean') texts.push(`${element}`);
    else if (typeof element === 'number') texts.push(`${element}`);
    else if (element === null) texts.push('NULL');
    else return elements;
  }
  return inBraces(texts, '');
}

/**
 * The texts (at least one, they are changed) with this quote around each. Braces that were put
 * around the joined text would have it copied once more, when it is sent.
 */
function inBraces(texts: string[], quote: string): string {
  texts[0] = `{${quote}${texts[0]}`;
  texts[texts.length - 1] += `${quote}}`;
  return texts.join(`${quote},${quote}`);
}

const isPlainText = (element: unknown): boolean =>
  typeof element === 'string' && !/["\\]/.test(element);

const quoted = (text: string): string =>
  isPlainText(text) ? `"${text}"` : `"${text.replace(/["\\]/g, '\\$&')}"`;

function queryOf({ text, values }: SqlStatement): ObjectQuery {
  const parameters = values.map((value) => (Array.isArray(value) ? arrayText(value) : value));
  return new ObjectQuery({ text, values: parameters });
}
