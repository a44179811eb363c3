// Books of statement lines for the benches of reconciliation, inserted by SQL: lines that pay
// charges and transfers by their ids, and lines without a partner, which become breaks.
import { Database } from '../src/database.service.js';
import { EventsService } from '../src/events/events.service.js';
import { DecisionWriter } from '../src/reconciliation/apply.service.js';
import { Breaks } from '../src/reconciliation/breaks.service.js';
import { ReconciliationService } from '../src/reconciliation/reconciliation.service.js';
import type pg from 'pg';

/** Rows of one statement, so that inserting a large book needs little memory. */
const rowsAtOnce = 20_000;

/** The reconciliation on this pool, without jobs. */
export function openReconciliation(pool: pg.Pool) {
  const database = new Database(pool);
  const jobQueue = { enqueue: async () => Promise.resolve() } as never;
  const events = new EventsService(database, jobQueue);
  const breaks = new Breaks(events);
  const bank = { profile: { visibilityBoundMs: 10_000 } } as never;
  const writer = new DecisionWriter(events, breaks);
  const reconciliation = new ReconciliationService(
    ...([database, bank, writer, breaks, events, jobQueue] as const),
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
       VALUES ($1, '2026-07-01T00:30:00Z', 0, 0, 0)`,
      [id],
    );
    return new LineBook(pool, id, matchedOfTen);
  }

  /** What the next lines pay: charges, and a transfer in each four. Decide them first. */
  async addPaymentsFor(lines: number): Promise<void> {
    const wanted = this.matchedLines + this.countMatched(lines);
    await this.inSteps(this.payments + 1, wanted, paymentsSql, []);
    this.payments = Math.max(this.payments, wanted);
  }

  /** Open expected payments that no line will pay. They are due to be decided. */
  async addOpenPayments(count: number): Promise<void> {
    await this.inSteps(1_000_000_001, 1_000_000_000 + count, paymentsSql, []);
  }

  async addLines(count: number): Promise<void> {
    const from = this.nextNsu;
    await this.inSteps(from, from + count - 1, linesSql, [
      this.matchedOfTen,
      from,
      this.matchedLines,
    ]);
    this.matchedLines += this.countMatched(count);
    this.nextNsu += count;
  }

  /** Lines that were decided before, and what was written about them. */
  async addDecidedLines(count: number): Promise<void> {
    const from = this.nextNsu;
    await this.addPaymentsFor(count);
    await this.addLines(count);
    const client = await this.pool.connect();
    try {
      // The written rows are those of the product. Its triggers only check and count them.
      await client.query('SET session_replication_role = replica');
      for (const sql of decidedSql)
        await client.query(sql, [this.accountId, from, this.nextNsu - 1]);
      await client.query(
        `INSERT INTO reconciliation_state (account_id, decided_arrival, outcome_sequence)
         SELECT $1, max(arrival), 1 FROM statement_line WHERE account_id = $1
         ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival`,
        [this.accountId],
      );
    } finally {
      await client.query('RESET session_replication_role');
      client.release();
    }
  }

  private countMatched(count: number): number {
    let matched = 0;
    for (let nsu = this.nextNsu; nsu < this.nextNsu + count; nsu += 1)
      if (nsu % 10 < this.matchedOfTen) matched += 1;
    return matched;
  }

  private async inSteps(from: number, until: number, sql: string, values: unknown[]) {
    for (let first = from; first <= until; first += rowsAtOnce) {
      const last = Math.min(until, first + rowsAtOnce - 1);
      await this.pool.query(sql, [this.accountId, first, last, ...values]);
    }
  }
}

/** Payment n is a transfer if n is divisible by four, else a charge that is due in years. */
const paymentsSql = `
  WITH made AS MATERIALIZED (
    SELECT n, gen_random_uuid() AS id, n % 4 <> 0 AS is_charge, 1000 + n % 5000 AS cents
    FROM generate_series($2::bigint, $3::bigint) n
  ), sent AS (
    INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
      response_status, ended_at, created_at, updated_at)
    SELECT $1, id, CASE WHEN is_charge THEN 'create_charge' ELSE 'create_transfer' END,
           'succeeded', 'h', '{}', 1, 200, '2026-07-01', '2026-07-01', '2026-07-01' FROM made
  ), attempted AS (
    INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by,
      clock_offset_ms, clock_offset_max_ms)
    SELECT $1, id, 1, '2026-07-01', '2026-07-01', 0, 0 FROM made
  ), expected AS (
    INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
      due_date, is_multi_use, created_at, created_at_bank_time)
    SELECT $1, id, id, CASE WHEN is_charge THEN 'create_charge' ELSE 'create_transfer' END,
           is_charge, cents, CASE WHEN is_charge THEN '2030-01-01' END, false,
           '2026-07-01', '2026-07-01' FROM made
  ), due AS (
    INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
    SELECT $1, 'payment', id FROM made
  ), charged AS (
    INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
      amount_cents, due_date, created_at)
    SELECT $1, 'c' || n, id, id, 'BANKSLIP_PIX', cents, '2030-01-01', '2026-07-01'
    FROM made WHERE is_charge
  ), transferred AS (
    INSERT INTO transfer (account_id, id, operation_id, position, shape, amount_cents, counterparty,
      end_to_end_id, external_id, bank_id, state, expected_payment_id, created_at, updated_at)
    SELECT $1, id, id, 0, 'manual', cents, '12345678/0001/' || n % 1000, 'ET' || n, id::text,
           'bank' || n, 'effective', id, '2026-07-01', '2026-07-01'
    FROM made WHERE NOT is_charge
  )
  INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
  SELECT $1, 'correlation_id', 'c' || n, id FROM made WHERE is_charge
  UNION ALL
  SELECT $1, kind, value, id FROM made CROSS JOIN LATERAL (VALUES
    ('end_to_end_id', 'ET' || n), ('movement_id', 'bank' || n), ('external_id', id::text),
    ('idempotency_key', id::text), ('counterparty', '12345678/0001/' || n % 1000)
  ) AS reference(kind, value) WHERE NOT is_charge`;

const linesSql = `
  INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
    end_to_end_id, movement_id, correlation_id, counterparty, counterparty_document,
    balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
  SELECT $1, nsu, 'b' || nsu, NOT is_transfer,
         CASE WHEN is_matched THEN 1000 + n % 5000 ELSE 777 + nsu % 100000 END,
         CASE WHEN is_transfer THEN 'DEBIT_PIX' ELSE 'CREDIT_PIX' END,
         CASE WHEN is_transfer THEN 'ET' || n ELSE 'E' || lpad(nsu::text, 31, '0') END,
         CASE WHEN is_transfer THEN 'bank' || n ELSE md5(nsu::text) END,
         CASE WHEN is_matched AND NOT is_transfer THEN 'c' || n END,
         '12345678/0001/' || nsu % 1000, lpad((nsu % 20000)::text, 11, '0'), 0, 0,
         timestamptz '2026-08-01T12:00:00Z' + nsu % 2000000 * interval '1 second',
         md5(nsu::text), repeat('x', 600)
  FROM (
    SELECT nsu, is_matched, n, is_matched AND n % 4 = 0 AS is_transfer FROM (
      SELECT nsu, nsu % 10 < $4::int AS is_matched,
             -- The number of the payment: how many lines up to this one are matched.
             $6::bigint + (nsu / 10 - ($5::bigint - 1) / 10) * $4::int
               + LEAST(nsu % 10 + 1, $4::int) - LEAST(($5::bigint - 1) % 10 + 1, $4::int) AS n
      FROM generate_series($2::bigint, $3::bigint) nsu
    ) numbered
  ) line
  ORDER BY nsu`;

const ofLines = 'account_id = $1 AND nsu BETWEEN $2 AND $3';
const matchedPairs = `
  SELECT t.nsu, t.amount_cents, r.expected_payment_id AS id FROM statement_line t
  JOIN expected_payment_reference r ON r.account_id = t.account_id
    AND (r.kind, r.value) = (CASE WHEN t.is_credit THEN 'correlation_id' ELSE 'end_to_end_id' END,
      CASE WHEN t.is_credit THEN t.correlation_id ELSE t.end_to_end_id END)
  WHERE t.account_id = $1 AND t.nsu BETWEEN $2 AND $3`;

const decidedSql = [
  `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, rule,
     evidence)
   SELECT $1, gen_random_uuid(), nsu, id, amount_cents, amount_cents, 'reference', '{}'
   FROM (${matchedPairs}) pair`,
  `INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents, reversed_cents,
     refunded_cents, unrefunded_cents, settlement)
   SELECT $1, id, amount_cents, 0, 0, amount_cents, 'settled' FROM (${matchedPairs}) pair`,
  `INSERT INTO line_outcome (account_id, nsu, state, label, version, leaf_hash, sequence)
   SELECT $1, nsu, CASE WHEN is_matched THEN 'matched' ELSE 'in_break' END::line_outcome_state,
          CASE WHEN NOT is_matched THEN 'unexpected' END, 1,
          sha256(nsu::text::bytea), 1
   FROM (
     SELECT nsu, EXISTS (
       SELECT FROM match m WHERE m.account_id = $1 AND m.nsu = t.nsu
     ) AS is_matched
     FROM statement_line t WHERE ${ofLines}
   ) line`,
  `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence)
   SELECT t.account_id, gen_random_uuid(), 'unexpected', 'open', 'nsu:' || t.nsu, t.amount_cents,
          t.nsu, '{"candidates": []}'
   FROM line_outcome o JOIN statement_line t USING (account_id, nsu)
   WHERE o.account_id = $1 AND o.nsu BETWEEN $2 AND $3 AND o.state = 'in_break'`,
  `INSERT INTO break_history_entry (account_id, break_id, action, detail)
   SELECT account_id, id, 'opened', jsonb_build_object('evidence', evidence) FROM break
   WHERE ${ofLines}`,
  `DELETE FROM reconciliation_task d USING match m
   WHERE d.account_id = $1 AND m.account_id = $1
     AND m.expected_payment_id = d.expected_payment_id AND m.nsu BETWEEN $2 AND $3`,
];
