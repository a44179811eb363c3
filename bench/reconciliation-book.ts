// Books of statement lines for the benches of reconciliation, inserted by SQL: lines that pay
// charges and transfers by their ids, and lines without a partner, which become breaks.
import { bankProfileOf } from '../src/bank/profiles.js';
import { Database } from '../src/platform/postgres/database.service.js';
import { EventsService } from '../src/events/events.service.js';
import { DecisionWriter } from '../src/reconciliation/apply/decision-writer.service.js';
import { BreakWriter } from '../src/reconciliation/apply/break-writer.service.js';
import { FeeBreaks } from '../src/reconciliation/apply/fee-breaks.service.js';
import { ReconciliationService } from '../src/reconciliation/apply/reconciliation.service.js';
import { countersSql } from './harness/book.js';
import {
  linesSql,
  openPaymentTotalsSql,
  outcomesSql,
  paymentsSql,
  paymentTasksSql,
  startedAt,
} from './harness/line-book-rows.js';
import type pg from 'pg';

/** Rows of one statement, so that inserting a large book needs little memory. */
const rowsAtOnce = 20_000;
/** The numbers of the payments that lines pay are less. */
const firstOpenPayment = 1_000_000_001;

/** The reconciliation on this pool, without jobs. */
export function openReconciliation(pool: pg.Pool) {
  const database = new Database(pool);
  const queue = { enqueue: async () => Promise.resolve() } as never;
  const events = new EventsService(database, queue);
  const breaks = new BreakWriter(events);
  const bank = { profile: bankProfileOf({ profile: 'sandbox' }) } as never;
  const writer = new DecisionWriter(events, breaks);
  const reconciliation = new ReconciliationService(
    ...([database, bank, writer, breaks, new FeeBreaks(breaks), events] as const),
    ...([queue, queue, queue] as const),
  );
  return {
    reconcile: (accountId: number) => reconciliation.reconcile({ accountId }),
    disconnect: () => database.prisma.$disconnect(),
  };
}

/** An account's book: lines of the kinds take turns, ten at a time. */
export class LineBook {
  private nextNsu = 1;
  private matchedLines = 0;
  private payments = 0;

  private constructor(
    private readonly pool: pg.Pool,
    readonly accountId: number,
    /** Of the next ten lines, so many pay a charge or a transfer. */
    public matchedOfTen: number,
  ) {}

  static async open(pool: pg.Pool, slug: string, matchedOfTen: number): Promise<LineBook> {
    const { rows } = await pool.query<{ id: number }>(
      `INSERT INTO bank_account (slug, go_live_at, updated_at)
       VALUES ($1, '2026-01-01', now()) RETURNING id`,
      [slug],
    );
    const id = rows[0]?.id ?? 0;
    await pool.query(
      `INSERT INTO statement_state (account_id, last_sync_started_at, clock_offset_ms,
         clock_offset_max_ms, first_clock_offset_ms)
       VALUES ($1, $2, 0, 0, 0)`,
      [id, startedAt],
    );
    return new LineBook(pool, id, matchedOfTen);
  }

  /** What the next lines pay: charges, and a transfer in each four. Decide them first. */
  async addPaymentsFor(lines: number): Promise<void> {
    const wanted = this.matchedLines + this.countMatched(lines);
    await this.inSteps(this.payments + 1, wanted, [paymentsSql, paymentTasksSql]);
    this.payments = Math.max(this.payments, wanted);
  }

  /** Expected payments that no line pays. They are due to be decided. */
  async addDuePayments(count: number): Promise<void> {
    const last = firstOpenPayment + count - 1;
    await this.inSteps(firstOpenPayment, last, [paymentsSql, paymentTasksSql]);
  }

  async addLines(count: number): Promise<void> {
    await this.insertLines(count, [linesSql]);
  }

  /** Lines that were decided before, their payments, and what was written about both. */
  async addDecidedLines(count: number): Promise<void> {
    const wanted = this.matchedLines + this.countMatched(count);
    await this.withoutTriggers(async (clients) => {
      await this.inSteps(this.payments + 1, wanted, [paymentsSql], [], clients);
      await this.insertLines(count, [linesSql, ...outcomesSql], clients);
    });
    this.payments = Math.max(this.payments, wanted);
    await this.pool.query(
      `INSERT INTO reconciliation_state (account_id, decided_arrival, as_of, outcome_sequence)
       SELECT $1, max(arrival), $2, 1 FROM statement_line WHERE account_id = $1
       ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival`,
      [this.accountId, startedAt],
    );
  }

  /** Expected payments that were decided before, and that no line pays. */
  async addOpenPayments(count: number): Promise<void> {
    const sql = [paymentsSql, openPaymentTotalsSql];
    await this.withoutTriggers((clients) =>
      this.inSteps(firstOpenPayment, firstOpenPayment + count - 1, sql, [], clients),
    );
  }

  /**
   * The rows are those of the product. Its triggers and foreign keys only check and count them. A
   * large book takes long, so `work` has a connection for each of two cores.
   */
  private async withoutTriggers(work: (clients: pg.PoolClient[]) => Promise<void>): Promise<void> {
    const clients = await Promise.all([this.pool.connect(), this.pool.connect()]);
    try {
      for (const client of clients)
        await client.query(`SET session_replication_role = replica; SET synchronous_commit = off`);
      await work(clients);
      await clients[0].query(countersSql.replaceAll('$1', String(this.accountId)));
    } finally {
      // With their settings.
      for (const client of clients) client.release(true);
    }
  }

  private async insertLines(count: number, sql: string[], dbs?: pg.PoolClient[]): Promise<void> {
    const from = this.nextNsu;
    const values = [this.matchedOfTen, from, this.matchedLines];
    await this.inSteps(from, from + count - 1, sql, values, dbs);
    await this.pool.query(
      `UPDATE statement_state SET last_nsu = $2, line_count = line_count + $3
       WHERE account_id = $1`,
      [this.accountId, from + count - 1, count],
    );
    this.matchedLines += this.countMatched(count);
    this.nextNsu += count;
  }

  private countMatched(count: number): number {
    let matched = 0;
    for (let nsu = this.nextNsu; nsu < this.nextNsu + count; nsu += 1)
      if (nsu % 10 < this.matchedOfTen) matched += 1;
    return matched;
  }

  private async inSteps(
    from: number,
    until: number,
    statements: string[],
    more: unknown[] = [],
    dbs: readonly (pg.Pool | pg.PoolClient)[] = [this.pool],
  ): Promise<void> {
    for (let first = from; first <= until; first += rowsAtOnce) {
      const values = [this.accountId, first, Math.min(until, first + rowsAtOnce - 1), ...more];
      // No statement reads what another one of its step writes.
      const inserting = dbs.map(async (db, index) => {
        for (const [at, sql] of statements.entries())
          if (at % dbs.length === index) await db.query(sql, values);
      });
      await Promise.all(inserting);
    }
  }
}
