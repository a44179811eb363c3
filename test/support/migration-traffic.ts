// Readers and writers on a database while it is migrated: how long each statement waits, and what
// it waits for.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const pauseMs = 3;
const samplePauseMs = 20;
/** A report reads in one transaction for so long, and begins again after as long a pause. */
const reportMs = 1_500;
const application = 'traffic';

/** Rows are copied from those of the account, with these columns changed. */
const inserted: Record<string, (n: number) => object> = {
  statement_line: (n) => ({
    ...{ nsu: n, arrival: n, bank_id: `t${n}`, counterparty_name: `New payer ${n % 500}` },
  }),
  webhook_event: (n) => ({ body_hash: `t${n}` }),
  webhook_counterparty: (n) => ({ reference: `t${n}`, name: `New payer ${n % 500}` }),
  operation: () => ({ id: randomUUID() }),
  expected_payment_reference: (n) => ({ value: `t${n}` }),
  pix_lookup: (n) => ({ end_to_end_id: `t${n}` }),
  break: (n) => ({
    ...{ id: randomUUID(), subject: `t:${n}`, nsu: null, expected_payment_id: null },
    ...{ state: 'open', resolved_at: null, resolution: null },
  }),
  event: (n) => ({ id: randomUUID(), position: n, resource_id: `t${n}` }),
};
/** Greater than each number of the account's own rows. */
const firstNumber = 1_000_000_000;

interface Blocked {
  ms: number;
  /** The lock, and the statement that waited for it. */
  lock: string;
  waiting: string;
  /** The statement that holds it, or waits before it. */
  blocker: string;
}

export class MigrationTraffic {
  /** The statement that took longest. */
  longest = { ms: 0, text: '' };
  statements = 0;
  readonly failures = new Set<string>();
  private readonly blockedOf = new Map<string, Blocked>();
  private number = firstNumber;
  private isStopping = false;
  private lanes: Promise<unknown>[] = [];

  private constructor(
    private readonly url: string,
    private readonly accountId: number,
    private readonly tables: string[],
  ) {}

  /** On all tables that have rows of the account. */
  static async start(url: string, accountId: number): Promise<MigrationTraffic> {
    const tables = await onClient(url, async (client) => {
      const { rows } = await client.query<{ name: string; hasRows: boolean }>(
        `SELECT table_name AS name, (xpath('/row/c/text()', query_to_xml(format(
           'SELECT count(*) AS c FROM (SELECT FROM %I WHERE account_id = %s LIMIT 1) r',
           table_name, $1::int), false, true, '')))[1]::text = '1' AS "hasRows"
         FROM information_schema.columns
         WHERE table_schema = 'public' AND column_name = 'account_id'`,
        [accountId],
      );
      return rows.filter(({ hasRows }) => hasRows).map(({ name }) => name);
    });
    const traffic = new MigrationTraffic(url, accountId, [...tables, 'bank_account']);
    const kinds = [traffic.read, traffic.read, traffic.write, traffic.write, traffic.insert];
    traffic.lanes = [...kinds, traffic.insert, traffic.erase, traffic.report].map((kind, lane) =>
      traffic.run(kind.bind(traffic), lane),
    );
    traffic.lanes.push(traffic.sample());
    return traffic;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
  }

  /** What waited for a lock, the longest first. */
  blocked(): Blocked[] {
    return [...this.blockedOf.values()].sort((one, other) => other.ms - one.ms);
  }

  private async run(work: (client: pg.Client, turn: number) => Promise<unknown>, lane: number) {
    await onClient(this.url, async (client) => {
      for (let turn = lane * 5; !this.isStopping; turn += 1) {
        try {
          await work(client, turn);
        } catch (error) {
          this.failures.add(String(error));
          await client.query('ROLLBACK');
        }
        await sleep(pauseMs);
      }
    });
  }

  private async timed(client: pg.Client, text: string, values: unknown[] = []) {
    const startedAtMs = performance.now();
    const result = await client.query<{ nsu?: string }>(text, values);
    const ms = performance.now() - startedAtMs;
    this.statements += 1;
    if (ms > this.longest.ms) this.longest = { ms: Math.round(ms), text };
    return result;
  }

  private tableOf = (turn: number) =>
    pg.escapeIdentifier(this.tables[turn % this.tables.length] ?? '');

  private read(client: pg.Client, turn: number): Promise<unknown> {
    const [name, column] = [this.tableOf(turn), this.columnOf(turn)];
    return this.timed(client, `SELECT * FROM ${name} WHERE ${column} = $1 LIMIT 5`, [
      this.accountId,
    ]);
  }

  /** Takes the locks of a write. It finds no row, because rows of many tables never change. */
  private write(client: pg.Client, turn: number): Promise<unknown> {
    const [name, column] = [this.tableOf(turn), this.columnOf(turn)];
    return this.timed(client, `UPDATE ${name} SET ${column} = ${column} WHERE ${column} = -1`);
  }

  private columnOf = (turn: number) =>
    this.tableOf(turn) === '"bank_account"' ? 'id' : 'account_id';

  private async insert(client: pg.Client, turn: number): Promise<void> {
    const tables = Object.entries(inserted);
    const [table = '', changesOf = () => ({})] = tables[turn % tables.length] ?? [];
    const name = pg.escapeIdentifier(table);
    const { accountId } = this;
    await this.timed(client, 'BEGIN');
    this.number += 1;
    const changes = changesOf(this.number) as { position?: number };
    if (table === 'event') {
      await this.timed(
        client,
        'UPDATE event_position SET position = greatest(position, $2) WHERE account_id = $1',
        [accountId, changes.position],
      );
    }
    await this.timed(
      client,
      `INSERT INTO ${name} SELECT (jsonb_populate_record(NULL::${name}, to_jsonb(r) || $2)).*
       FROM (SELECT * FROM ${name} WHERE account_id = $1 LIMIT 1) r`,
      [accountId, changes],
    );
    await this.timed(client, 'COMMIT');
  }

  /** The personal data of a line that was inserted. */
  private async erase(client: pg.Client): Promise<void> {
    await this.timed(client, 'BEGIN');
    const { rows } = await this.timed(
      client,
      `INSERT INTO line_erasure (account_id, nsu, reason, commitment)
       SELECT account_id, nsu, 'test', 'c' FROM statement_line
       WHERE account_id = $1 AND nsu > $2 AND content <> '' ORDER BY nsu LIMIT 1 RETURNING nsu`,
      [this.accountId, firstNumber],
    );
    await this.timed(
      client,
      `UPDATE statement_line SET content = '', content_hash = '', salt = NULL, notes = NULL,
         counterparty = NULL, counterparty_document = NULL, counterparty_name = NULL
       WHERE account_id = $1 AND nsu = $2`,
      [this.accountId, rows[0]?.nsu],
    );
    await this.timed(client, 'COMMIT');
  }

  /** Holds the locks of a reader for longer than a migration may wait. */
  private async report(client: pg.Client): Promise<void> {
    await this.timed(client, 'BEGIN');
    for (const [turn] of this.tables.entries()) await this.read(client, turn);
    await sleep(reportMs);
    await this.timed(client, 'COMMIT');
    await sleep(reportMs);
  }

  private async sample(): Promise<void> {
    await onClient(this.url, async (client) => {
      while (!this.isStopping) {
        const { rows } = await client.query<Blocked & { id: string }>(
          `SELECT l.pid || ' ' || l.waitstart AS id, waiting.query AS waiting,
                  concat_ws(' ', l.mode, l.locktype, l.relation::regclass) AS lock,
                  (extract(epoch FROM clock_timestamp() - l.waitstart) * 1000)::int AS ms,
                  COALESCE((
                    SELECT query FROM pg_stat_activity
                    WHERE pid = ANY (pg_blocking_pids(l.pid))
                    ORDER BY application_name = $1 LIMIT 1
                  ), '') AS blocker
           FROM pg_locks l JOIN pg_stat_activity waiting ON waiting.pid = l.pid
           WHERE l.waitstart IS NOT NULL AND waiting.application_name = $1`,
          [application],
        );
        for (const { id, ...blocked } of rows) this.blockedOf.set(id, blocked);
        await sleep(samplePauseMs);
      }
    });
  }
}

async function onClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: application });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
