// Queries that share statements. The sweepers of one moment ask what is due; together they cost a
// process at rest one statement, not one each.
import type pg from 'pg';
import { Prisma } from './generated/service/client.js';
import { camelCaseRows } from './platform/row-names.js';

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

/**
 * Runs the queries of one moment as one statement. A row is read as JSON: its columns are numbers
 * below 2^53, texts and uuids. A query that fails does not fail the others.
 */
export class SharedReads implements Reader {
  private waiting: WaitingRead[] = [];

  constructor(private readonly pool: pg.Pool) {}

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
    try {
      await this.readTogether(reads);
    } catch (error) {
      if (reads.length === 1) reads[0]?.reject(error);
      else await Promise.all(reads.map((one) => this.readTogether([one]).catch(one.reject)));
    }
  }

  private async readTogether(reads: readonly WaitingRead[]): Promise<void> {
    const parts = reads.map(
      ({ query }, index) =>
        Prisma.sql`SELECT ${index}::int AS query, to_json(due) AS row FROM (${query}) due`,
    );
    const { text, values } = Prisma.join(parts, ' UNION ALL ');
    const { rows } = await this.pool.query<{ query: number; row: object }>(text, values);
    const found = reads.map((): object[] => []);
    for (const { query, row } of rows) found[query]?.push(row);
    for (const [index, { resolve }] of reads.entries()) resolve(camelCaseRows(found[index] ?? []));
  }
}
