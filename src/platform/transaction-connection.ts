// Statements that are sent past Prisma's client. On the connection of a transaction they are sent
// in the order of the calls, and none after the transaction has ended: the connection is then
// another's.
import pg from 'pg';
import { invariant } from './errors.js';
import { lostPlanCodes, statementNameOf } from './named-statements.js';
import { camelCase } from './row-names.js';

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
  const run = (statement: SqlStatement): Promise<pg.QueryResult> => pool.query(configOf(statement));
  return {
    query: async (statement) => toObjects(await run(statement)),
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
  };
}

/** The transaction had ended, by its time limit, before a statement of it was sent. */
export class TransactionEnded extends Error {
  override readonly name = 'TransactionEnded';
}

export class TransactionConnection implements StatementRunner {
  /**
   * Without the server's answer, a statement may still run on the connection. One that lost its
   * plans is replaced by one that names statements again.
   */
  isBroken = false;
  private hasEnded = false;
  private readonly last: Promise<unknown>[] = [];

  constructor(private readonly client: pg.PoolClient) {}

  /** Call it when the end of the transaction is sent. */
  end(): void {
    this.hasEnded = true;
  }

  async send(query: string | pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await this.client.query(query);
    } catch (error) {
      this.isBroken ||= !(error instanceof pg.DatabaseError) || lostPlanCodes.has(error.code ?? '');
      throw error;
    }
  }

  async query(statement: SqlStatement): Promise<object[]> {
    return toObjects(await this.run(statement));
  }

  async execute(statement: SqlStatement): Promise<number> {
    const { rowCount } = await this.run(statement);
    return rowCount ?? 0;
  }

  /**
   * Sends statements whose results nobody reads. `commit` throws the error of the one that fails.
   * Throws where one of them cannot be sent: then the transaction must not be committed.
   */
  sendLast(statements: readonly SqlStatement[]): void {
    this.assertOpen();
    for (const config of statements.map(configOf)) this.last.push(this.send(config));
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

  private async run(statement: SqlStatement): Promise<pg.QueryResult> {
    this.assertOpen();
    return this.send(configOf(statement));
  }
}

/**
 * The text of an array as PostgreSQL reads it, in a fraction of the driver's time. Arrays with
 * elements of other types are left to the driver.
 */
function arrayText(elements: readonly unknown[]): unknown {
  if (elements.length > 0 && elements.every(isPlainText)) return `{"${elements.join('","')}"}`;
  const texts: string[] = [];
  for (const element of elements) {
    if (typeof element === 'string') texts.push(quoted(element));
    else if (typeof element === 'bigint' || typeof element === 'boolean') texts.push(`${element}`);
    else if (typeof element === 'number') texts.push(`${element}`);
    else if (element === null) texts.push('NULL');
    else return elements;
  }
  return `{${texts.join(',')}}`;
}

const isPlainText = (element: unknown): boolean =>
  typeof element === 'string' && !/["\\]/.test(element);

const quoted = (text: string): string =>
  isPlainText(text) ? `"${text}"` : `"${text.replace(/["\\]/g, '\\$&')}"`;

const { INT8, TIMESTAMPTZ, JSON: JSON_TYPE, JSONB } = pg.types.builtins;
/** The arrays of these types, which the package does not name. */
const int8Array: number = 1016;
const timestamptzArray: number = 1185;

const textArray: number = 1009;

const arrayOf = (parse: (text: string) => unknown) => (text: string) =>
  (pg.types.getTypeParser(textArray)(text) as (string | null)[]).map((one) => one && parse(one));

/** A time of a session in UTC, which most are, in the form that is parsed fastest. */
const toDate = (text: string): unknown =>
  text.endsWith('+00') && text.length <= 26
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : pg.types.getTypeParser(TIMESTAMPTZ)(text);

const asText = (text: string): string => text;

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, BigInt],
  [TIMESTAMPTZ, toDate],
  // Parsed below, so that the driver's rows are those that Prisma's adapter reads.
  [JSON_TYPE, asText],
  [JSONB, asText],
  [int8Array, arrayOf(BigInt)],
  [timestamptzArray, arrayOf(toDate)],
]);

const rowTypes = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as never,
};

function configOf({ text, values }: SqlStatement): pg.QueryConfig {
  const parameters = values.map((value) => (Array.isArray(value) ? arrayText(value) : value));
  const name = statementNameOf(text, values);
  const config = { name, text, values: parameters, types: rowTypes, rowMode: 'array' };
  return config;
}

function toObjects({ fields, rows: arrays }: pg.QueryResult): object[] {
  const rows = arrays as unknown as unknown[][];
  if (rows.length === 0) return [];
  const jsonColumns = fields.flatMap(({ dataTypeID }, index) =>
    dataTypeID === JSON_TYPE || dataTypeID === JSONB ? [index] : [],
  );
  for (const row of rows)
    for (const index of jsonColumns)
      if (row[index] !== null) row[index] = JSON.parse(row[index] as string);
  return rows.map(namingOf(fields));
}

type RowNaming = (row: readonly unknown[]) => object;

/** By the names of the columns. */
const namings = new Map<string, RowNaming>();
const maxNamings = 1_000;

/**
 * Names the columns of a row. It is compiled for these names, which are those of our SQL, and which
 * are written as JSON texts: objects whose fields are added one by one take ten times as long to
 * make, and longer to read.
 */
function namingOf(fields: readonly pg.FieldDef[]): RowNaming {
  const key = fields.map(({ name }) => name).join();
  let naming = namings.get(key);
  if (!naming) {
    const columns = fields.map(({ name }, at) => `${JSON.stringify(camelCase(name))}: row[${at}]`);
    naming = new Function('row', `return { ${columns.join(', ')} };`) as RowNaming;
    if (namings.size === maxNamings) namings.clear();
    namings.set(key, naming);
  }
  return naming;
}
