// Queries that share statements. The sweepers of one moment ask what is due; together they cost a
// process at rest one statement, not one each.
import pg from 'pg';
import { Prisma } from '../../generated/service/client.js';
import { invariant } from '../errors.js';
import { camelCaseRows } from './row-names.js';

/** Runs a query: a transaction, the client, or `SharedReads`. */
export interface Reader {
  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows>;
}

interface WaitingRead {
  query: Prisma.Sql;
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/** Longer than the timers of one moment are apart. */
const collectingMs = 10;
/** The server ends a shared statement after this time: the other queries do not wait longer. */
const defaultLimitMs = 5_000;
/** After a shared statement has failed, the queries are sent each by itself for so long. */
const apartForMs = 60_000;

/**
 * Runs the queries of one moment as one statement. A row is read as JSON: its columns are numbers
 * below 2^53, texts and uuids. A query that fails or takes too long does not fail the others.
 */
export class SharedReads implements Reader {
  private waiting: WaitingRead[] = [];
  private apartUntilMs = 0;

  constructor(
    private readonly pool: pg.Pool,
    private readonly limitMs = defaultLimitMs,
  ) {}

  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows> {
    const sql = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    return new Promise<object[]>((resolve, reject) => {
      this.waiting.push({ query: sql, resolve, reject });
      if (this.waiting.length === 1) setTimeout(() => void this.read(), collectingMs);
    }) as Promise<Rows>;
  }

  private async read(): Promise<void> {
    const reads = this.waiting;
    this.waiting = [];
    if (performance.now() < this.apartUntilMs) return this.readApart(reads);
    try {
      await this.readTogether(reads);
    } catch (error) {
      if (reads.length === 1) return reads[0]?.reject(error);
      this.apartUntilMs = performance.now() + apartForMs;
      await this.readApart(reads);
    }
  }

  private async readApart(reads: readonly WaitingRead[]): Promise<void> {
    await Promise.all(reads.map((one) => this.readTogether([one]).catch(one.reject)));
  }

  /**
   * The limit and the statement are one message, and so one transaction: a pooler may give the next
   * transaction another session.
   */
  private async readTogether(reads: readonly WaitingRead[]): Promise<void> {
    const parts = reads.map(
      ({ query }, index) =>
        `SELECT ${index} AS query, to_json(due) AS row FROM (${textOf(query)}) due`,
    );
    const answers = (await this.pool.query(
      `SET LOCAL statement_timeout = ${this.limitMs}; ${parts.join(' UNION ALL ')}`,
    )) as unknown as [unknown, pg.QueryResult<{ query: number; row: object }>];
    const found = reads.map((): object[] => []);
    for (const { query, row } of answers[1].rows) found[query]?.push(row);
    for (const [index, { resolve }] of reads.entries()) resolve(camelCaseRows(found[index] ?? []));
  }
}

/**
 * The query with its values as literals: a message of several statements has no parameters. Like a
 * parameter, a quoted literal has no type of its own.
 */
function textOf({ strings, values }: Prisma.Sql): string {
  return strings.reduce((text, next, index) => text + literalOf(values[index - 1]) + next);
}

function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (!Array.isArray(value)) return pg.escapeLiteral(plainTextOf(value));
  const elements = value.map((one) => `"${plainTextOf(one).replace(/["\\]/g, '\\$&')}"`);
  return pg.escapeLiteral(`{${elements.join()}}`);
}

function plainTextOf(value: unknown): string {
  const isPlain = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  invariant(isPlain, 'a shared read has plain values');
  return String(value);
}
