// The connection of one transaction. Statements may be sent on it past Prisma's client, in the
// order of the calls, and none after the transaction has ended: the connection is then another's.
import pg from 'pg';
import { camelCase } from './row-names.js';

/** A statement with numbered parameters. `Prisma.sql` makes one. */
export interface SqlStatement {
  text: string;
  values: unknown[];
}

/** The transaction had ended, by its time limit, before a statement of it was sent. */
export class TransactionEnded extends Error {
  override readonly name = 'TransactionEnded';
}

export class TransactionConnection {
  /** Without the server's answer, a statement may still run on the connection. */
  isBroken = false;
  private hasEnded = false;

  constructor(private readonly client: pg.PoolClient) {}

  /** Call it when the end of the transaction is sent. */
  end(): void {
    this.hasEnded = true;
  }

  async send(query: string | pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await this.client.query(query);
    } catch (error) {
      this.isBroken ||= !(error instanceof pg.DatabaseError);
      throw error;
    }
  }

  /** The rows, with names in camel case. */
  async query(statement: SqlStatement): Promise<object[]> {
    const { fields, rows } = await this.run(statement);
    return toObjects(fields, rows as unknown as unknown[][]);
  }

  /** The number of rows that the statement wrote. */
  async execute(statement: SqlStatement): Promise<number> {
    const { rowCount } = await this.run(statement);
    return rowCount ?? 0;
  }

  private async run({ text, values }: SqlStatement): Promise<pg.QueryResult> {
    if (this.hasEnded) throw new TransactionEnded('the transaction has ended');
    const config = { text, values, types: rowTypes, rowMode: 'array' };
    return this.send(config);
  }
}

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

function toObjects(fields: pg.FieldDef[], rows: unknown[][]): object[] {
  const names = fields.map(({ name }) => camelCase(name));
  const jsonColumns = fields.flatMap(({ dataTypeID }, index) =>
    dataTypeID === JSON_TYPE || dataTypeID === JSONB ? [index] : [],
  );
  return rows.map((row) => {
    for (const index of jsonColumns)
      if (row[index] !== null) row[index] = JSON.parse(row[index] as string);
    const named: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index += 1) named[names[index]!] = row[index];
    return named;
  });
}
