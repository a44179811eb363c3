// The rows that the service stores of a request, for the forwarder of G9 that stores as many: those
// of an operation of the service, with new ids and the bodies of each request. Its tables have the
// same columns, indexes and checks, and no foreign keys and triggers. Everything else is constant.
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { readCopiedColumns, type CopiedColumn } from './copied-columns.js';

/** The tables with rows of one operation (o) whose payments are e. */
const tables: Record<string, string> = {
  operation: 't.id = o.id',
  operation_identity: 't.operation_id = o.id',
  operation_attempt: 't.operation_id = o.id',
  expected_payment: 't.operation_id = o.id',
  expected_payment_reference: 't.expected_payment_id IN (SELECT id FROM e)',
  charge: 't.operation_id = o.id',
  transfer: 't.operation_id = o.id',
  reconciliation_task: 't.expected_payment_id IN (SELECT id FROM e)',
};
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

export interface ForwardedRequest {
  id: string;
  body: string;
}

export interface ForwardedAnswer {
  id: string;
  status: number;
  body: string;
}

export class OperationRows {
  /** What each request has of its own, as the stored operation has it. Its id comes first. */
  private readonly own: string[];
  private readonly requestNumber: string;
  private readonly insertSql: string;
  private count = 0;

  private constructor(
    private readonly pool: pg.Pool,
    private readonly kind: string,
    private readonly stored: { table: string; columns: CopiedColumn[]; row: (string | null)[] }[],
  ) {
    const [operation] = stored;
    const valueOf = (name: string) =>
      operation?.row[operation.columns.findIndex((column) => column.name === name)] ?? '';
    this.requestNumber = /\d+$/.exec(valueOf('idempotency_key'))?.[0] ?? '';
    const bankReference = valueOf('bank_reference');
    const isOwn = (value: string) =>
      uuid.test(value) || value.includes(this.requestNumber) || value === bankReference;
    const values = stored.flatMap(({ row }) => row.filter((value) => value !== null));
    const bodies = [valueOf('request_body'), valueOf('response_body')];
    const found = values.filter((value) => isOwn(value) && !bodies.includes(value));
    this.own = [...new Set([valueOf('id'), ...found])];
    this.insertSql = this.insertAll();
  }

  /** Reads the newest operation of a kind that the service has stored. */
  static async read(service: pg.Pool, pool: pg.Pool, kind: string): Promise<OperationRows> {
    const stored = [];
    await pool.query('CREATE SCHEMA IF NOT EXISTS copy');
    for (const [table, condition] of Object.entries(tables)) {
      await pool.query(`CREATE TABLE IF NOT EXISTS copy.${table} (LIKE ${table} INCLUDING ALL)`);
      const columns = (await readCopiedColumns(service, table)).filter(
        ({ isNumbered }) => !isNumbered,
      );
      const texts = columns.map(({ name }) => `t.${name}::text`).join(', ');
      const { rows } = await service.query<(string | null)[]>({
        text: `WITH o AS (SELECT id FROM operation WHERE kind = $1 AND state = 'succeeded'
                          ORDER BY id DESC LIMIT 1),
                    e AS (SELECT p.id FROM expected_payment p JOIN o ON p.operation_id = o.id)
               SELECT ${texts} FROM ${table} t, o WHERE ${condition}`,
        values: [kind],
        rowMode: 'array',
      });
      stored.push(...rows.map((row) => ({ table, columns, row })));
    }
    return new OperationRows(pool, kind, stored);
  }

  /** All rows of each request, before the bank is called. */
  async insert(requests: readonly ForwardedRequest[]): Promise<void> {
    const values = requests.map(({ id }) => {
      this.count += 1;
      // As long as the numbers of the requests.
      const number = String(10 ** this.requestNumber.length - this.count);
      return [id, ...this.own.slice(1).map((value) => this.renewed(value, number))];
    });
    const arrays = [
      ...this.own.map((_, index) => values.map((row) => row[index])),
      requests.map(({ body }) => body),
    ];
    await this.pool.query({ name: `insert ${this.kind}`, text: this.insertSql, values: arrays });
  }

  /** The bank's answers to them. */
  async complete(answers: readonly ForwardedAnswer[]): Promise<void> {
    const transfers = `, transferred AS (
      UPDATE copy.transfer t SET state = 'accepted', updated_at = clock_timestamp()
      FROM answer WHERE t.account_id = 1 AND t.operation_id = answer.id)`;
    await this.pool.query({
      name: `complete ${this.kind}`,
      text: `
        WITH answer AS (
          SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[]) AS r(id, status, body)
        ), finished AS (
          UPDATE copy.operation_attempt t
          SET finished_at = clock_timestamp(), outcome = 'succeeded', status = answer.status
          FROM answer WHERE t.account_id = 1 AND t.operation_id = answer.id
        ) ${this.stored.some(({ table }) => table === 'transfer') ? transfers : ''}
        UPDATE copy.operation t
        SET state = 'succeeded', response_status = answer.status, response_body = answer.body,
            ended_at = clock_timestamp(), updated_at = clock_timestamp()
        FROM answer WHERE t.account_id = 1 AND t.id = answer.id`,
      values: [
        answers.map(({ id }) => id),
        answers.map(({ status }) => status),
        answers.map(({ body }) => body),
      ],
    });
  }

  private renewed(value: string, number: string): string {
    if (uuid.test(value)) return uuidv7();
    if (value.includes(this.requestNumber)) return value.replaceAll(this.requestNumber, number);
    return value.replace(/\d+$/, number);
  }

  private insertAll(): string {
    const names = [...this.own.map((_, index) => `v${index}`), 'body'];
    const arrays = names.map((_, index) => `$${index + 1}::text[]`);
    const textOf = (name: string, value: string | null) => {
      if (name === 'request_body') return 'request.body';
      if (value === null || name.startsWith('response_')) return 'NULL';
      const index = this.own.indexOf(value);
      return index < 0 ? pg.escapeLiteral(value) : `request.v${index}`;
    };
    const inserts = this.stored.map(({ table, columns, row }) => {
      const list = columns.map(({ name }) => `"${name}"`).join(', ');
      const values = columns.map(
        ({ name, type }, index) => `(${textOf(name, row[index] ?? null)})::${type}`,
      );
      return `INSERT INTO copy.${table} (${list}) SELECT ${values.join(', ')} FROM request`;
    });
    const others = inserts.slice(1).map((insert, index) => `, i${index} AS (${insert})`);
    return `WITH request AS (SELECT * FROM unnest(${arrays.join(', ')}) AS r(${names.join(', ')}))
      ${others.join('')} ${inserts[0] ?? ''}`;
  }
}
