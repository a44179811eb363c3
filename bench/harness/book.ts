// Stores a book by SQL: an account with a statement, what its lines were decided to be, the breaks,
// the payments that were expected, the webhooks that reported the lines, and the counters. It takes
// a tenth of the time that the service would take. The leaf hashes are no hashes of the lines.
import type pg from 'pg';
import { Prisma } from '../../src/generated/service/client.js';
import { spansOf } from '../../src/webhooks/health/health.queries.js';

export interface Book {
  accountId: number;
  lines: number;
  /** The shares of the lines that are in an open break and that are classified, of 1. */
  inBreak: number;
  classified: number;
  /** The lines and webhooks are spread over this many days before now. */
  days: number;
  /** The first days of these, of which each has a certificate. */
  closedDays: number;
  /** How often one static QR code is paid: by the first of the matched lines. */
  paymentsOfOneCode: number;
  /** Expected payments without a line, each in an open break, and such that are not due yet. */
  overdue: number;
  open: number;
  transfers: number;
  /** How many names the payers of the lines have between them; no line has one without it. */
  names?: number;
}

/** A book of `lines`, most of which are in open breaks, or most of which are matched. */
export function bookOf(accountId: number, lines: number, kind: 'open breaks' | 'matched'): Book {
  const inBreak = kind === 'matched' ? 0.04 : 0.85;
  const part = (divisor: number) => Math.ceil(lines / divisor);
  return {
    ...{ accountId, lines, inBreak, classified: 0.02, days: 90, closedDays: 80 },
    ...{ paymentsOfOneCode: part(50), overdue: part(10), open: part(20), transfers: part(20) },
  };
}

export const codeOfManyPayments = 'static-code';

/** An id that grows with the number, and is unique by account and kind. */
export const idOf = (kind: number, number: string) =>
  `('0190' || lpad(to_hex(${number}), 8, '0') || '70008000' || lpad(to_hex($1::int), 8, '0') ||
    '000${kind}')::uuid`;

/** What a list shows of a certificate. */
const certificate = JSON.stringify({
  matched: { count: 0, credits: '0.00', debits: '0.00' },
  ...{ classified: {}, inBreak: {}, firstNsu: null, lastNsu: null, reconcilingItems: [] },
});

/** As SQL text, of a column. */
const joinSpansOf = (time: string) => spansOf(Prisma.raw(time)).sql;

/**
 * Counts the rows that were stored without the triggers that count them. Without statistics, the
 * lines and their outcomes would be joined by the account alone.
 */
export const countersSql = `
  ANALYZE line_outcome;
  ANALYZE statement_line;
  DELETE FROM account_counter WHERE account_id = $1;
  INSERT INTO account_counter (account_id, kind, key, value)
  SELECT $1, 'lines', state::text, count(*) FROM line_outcome WHERE account_id = $1 GROUP BY 3
  UNION ALL
  SELECT $1, 'open_payments', COALESCE(last_payment_day, ''), count(*)
  FROM expected_payment_total WHERE account_id = $1 AND settlement = 'open' GROUP BY 3
  UNION ALL
  SELECT $1, 'open_breaks', kind, count(*) FROM break
  WHERE account_id = $1 AND state = 'open' GROUP BY 3
  UNION ALL
  SELECT $1, 'webhooks', 'processed', sum(copies) FROM webhook_event
  WHERE account_id = $1 AND state = 'processed' HAVING count(*) > 0;
  DELETE FROM day_total WHERE account_id = $1;
  INSERT INTO day_total (account_id, day, state, line_count, credit_cents, debit_cents)
  SELECT $1, day_of_line(t.occurred_at), o.state, count(*),
         COALESCE(sum(t.amount_cents) FILTER (WHERE t.is_credit), 0),
         COALESCE(sum(t.amount_cents) FILTER (WHERE NOT t.is_credit), 0)
  FROM line_outcome o JOIN statement_line t ON t.account_id = o.account_id AND t.nsu = o.nsu
  WHERE o.account_id = $1 GROUP BY 2, 3;
  DELETE FROM open_break_total WHERE account_id = $1;
  INSERT INTO open_break_total (account_id, opened_day, kind, amount_steps, break_count)
  SELECT $1, opened_day_of(opened_day, opened_at), kind,
         reached_steps(amount_cents, amount_steps_of($1)), count(*)
  FROM break WHERE account_id = $1 AND state = 'open' GROUP BY 2, 3, 4`;

const steps: ((book: Book) => string)[] = [
  () => `
    INSERT INTO statement_state (account_id, last_nsu, line_count, balance_cents, is_anchored,
      last_sync_started_at, synced_at, syncs, closed_from, closed_until, import_started_at)
    SELECT $1, max(nsu), count(*), count(*) * 1000, true, now(), now(), 1,
           min(at), now() - interval '1 minute', NULL FROM book_line
    ON CONFLICT (account_id) DO UPDATE
    SET last_nsu = EXCLUDED.last_nsu, line_count = EXCLUDED.line_count,
        balance_cents = EXCLUDED.balance_cents, closed_from = EXCLUDED.closed_from,
        closed_until = EXCLUDED.closed_until`,
  ({ names }) => `
    INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
      correlation_id, end_to_end_id, counterparty, counterparty_document, counterparty_name, notes,
      balance_previous_cents, current_balance_cents, occurred_at, recorded_at, content_hash,
      content)
    SELECT $1, nsu, 'b' || nsu, type_name LIKE 'CREDIT%', cents, type_name, correlation_id,
           'E' || nsu, lpad((nsu % 50000)::text, 11, '0'), lpad((nsu % 50000)::text, 11, '0'),
           ${names ? `'Payer ' || nsu % ${names}` : 'NULL'}, 'Pix ' || nsu,
           1000 * (nsu - 1), 1000 * nsu, at, at + interval '1 second',
           md5(nsu::text), '{"nsu":' || nsu || '}'
    FROM book_line ORDER BY nsu`,
  () => `
    INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
      response_status, response_body, ended_at, created_at, updated_at, counterparty, amount_cents)
    SELECT $1, id, kind, 'succeeded', md5(number::text), '{}', 1, 200,
           '{"correlationId":"' || correlation_id || '","status":"ACTIVE"}', created_at,
           created_at, created_at, document, cents FROM book_payment ORDER BY id`,
  () => `
    INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
      due_date, counterparty_document, is_multi_use, created_at, created_at_bank_time)
    SELECT $1, id, id, kind, is_credit, CASE WHEN is_code THEN NULL ELSE cents END, due_date,
           document, is_code, created_at, created_at FROM book_payment ORDER BY id`,
  () => `
    INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
    SELECT $1, CASE WHEN is_credit THEN 'correlation_id' ELSE 'end_to_end_id' END, correlation_id,
           id FROM book_payment`,
  () => `
    INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
      amount_cents, created_at)
    SELECT $1, correlation_id, id, id, CASE WHEN is_code THEN 'PIX_STATIC' ELSE 'BANKSLIP_PIX' END,
           CASE WHEN is_code THEN NULL ELSE cents END, created_at
    FROM book_payment WHERE is_credit ORDER BY id`,
  () => `
    INSERT INTO transfer (account_id, id, operation_id, shape, amount_cents, counterparty,
      end_to_end_id, external_id, bank_id, state, expected_payment_id, created_at, updated_at)
    SELECT $1, id, id, 'key', cents, document, correlation_id, 'x' || correlation_id,
           'bank' || number,
           (CASE WHEN number % 10000 = 7 THEN 'failed' ELSE 'effective' END)::transfer_state,
           id, created_at, created_at FROM book_payment WHERE NOT is_credit ORDER BY id`,
  () => `
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, role, owed_cents,
      rule, evidence, created_at)
    SELECT $1, ${idOf(2, 'l.nsu')}, l.nsu, p.id, l.cents, 'payment', l.cents,
           'correlation_id', '{"correlationId":"c"}', l.at
    FROM book_line l JOIN book_payment p ON p.number = l.payment ORDER BY l.nsu`,
  () => `
    INSERT INTO classification (account_id, nsu, rule, category, evidence)
    SELECT $1, nsu, 'type', 'fee', '{}' FROM book_line WHERE state = 'classified' ORDER BY nsu`,
  () => `
    INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu,
      expected_payment_id, evidence, opened_at, opened_day, resolved_at, resolution)
    SELECT $1, ${idOf(3, 'row_number() OVER (ORDER BY at, subject)')}, kind, state, subject, cents,
           nsu, payment_id, '{"why":"no_partner"}', at,
           to_char(at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'),
           CASE WHEN state = 'resolved' THEN at END,
           CASE WHEN state = 'resolved' THEN 'automatic' END
    FROM (
      SELECT CASE WHEN nsu % 20000 = 11 THEN 'amount_mismatch' ELSE 'unexpected' END AS kind,
             (CASE WHEN state = 'in_break' THEN 'open' ELSE 'resolved' END)::break_state AS state,
             'nsu:' || nsu AS subject, cents, nsu, NULL::uuid AS payment_id, at
      FROM book_line WHERE state = 'in_break' OR (state = 'matched' AND nsu % 50 = 0)
      UNION ALL
      SELECT 'missing', 'open', 'expected_payment:' || id, cents, NULL, id, created_at
      FROM book_payment WHERE is_overdue
    ) each ORDER BY at, subject`,
  () => `
    INSERT INTO break_history_entry (account_id, break_id, action, created_at)
    SELECT account_id, id, 'opened', opened_at FROM break WHERE account_id = $1 ORDER BY id`,
  () => `
    INSERT INTO line_outcome (account_id, nsu, state, label, version, leaf_hash, sequence)
    SELECT $1, nsu, state,
           CASE state WHEN 'in_break' THEN 'unexpected' WHEN 'classified' THEN 'fee' END, 1,
           sha256(nsu::text::bytea), 1 + nsu / 1000
    FROM book_line ORDER BY nsu`,
  () => `
    INSERT INTO expected_payment_total (account_id, expected_payment_id, payment_count,
      paid_cents, reversed_cents, refunded_cents, unrefunded_cents, settlement, last_payment_day)
    SELECT $1, id, COALESCE(lines, 0), COALESCE(paid.cents, 0), 0, 0, COALESCE(paid.cents, 0),
           (CASE WHEN is_paid THEN 'settled' ELSE 'open' END)::settlement,
           to_char(due_date::date + CASE extract(isodow FROM due_date::date)
             WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END, 'YYYY-MM-DD')
    FROM book_payment LEFT JOIN (
      SELECT payment, count(*) AS lines, sum(cents) AS cents FROM book_line GROUP BY payment
    ) paid ON paid.payment = number`,
  () => `
    INSERT INTO reconciliation_state (account_id, decided_arrival, as_of, outcome_sequence)
    SELECT $1, max(arrival), now(), 1 + count(*) / 1000
    FROM statement_line WHERE account_id = $1
    ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival,
      as_of = EXCLUDED.as_of, outcome_sequence = EXCLUDED.outcome_sequence`,
  () => `
    INSERT INTO webhook_event (account_id, event_type, body_hash, body, state, copies,
      reference_kind, reference, received_at, received_at_bank_time, processed_at)
    SELECT $1,
           CASE WHEN is_credit THEN 'PIX_RECEIVED' ELSE 'PIX_SENT' END,
           encode(sha256(nsu::text::bytea), 'hex'), NULL, 'processed', 1 + (nsu % 100 = 0)::int,
           CASE WHEN is_credit THEN 'nsu' ELSE 'end_to_end_id' END,
           CASE WHEN is_credit THEN nsu::text ELSE 'E' || nsu END,
           seen_at, seen_at, seen_at
    FROM (
      SELECT nsu, type_name LIKE 'CREDIT%' AS is_credit,
             at + (200 + nsu % 3000) * interval '1 millisecond' AS seen_at FROM book_line
      WHERE type_name <> 'DEBIT_FEE' AND nsu % 500 <> 3
    ) webhook ORDER BY nsu`,
  () => countersSql,
  // Half of a percent of the lines has no webhook.
  () => `
    INSERT INTO unnotified_line (account_id, nsu, type_name, end_to_end_id, correlation_id,
      occurred_at)
    SELECT $1, nsu, type_name, 'E' || nsu, correlation_id, at FROM book_line
    WHERE type_name <> 'DEBIT_FEE' AND nsu % 500 = 3`,
  () => `
    INSERT INTO notification_count (account_id, is_day, starts_at, type_name, lag_ms, lines)
    SELECT $1, is_day, starts_at, type_name,
           CASE WHEN nsu % 500 = 3 THEN -1 ELSE round(200 + nsu % 3000, -2) END, count(*)
    FROM book_line ${joinSpansOf('at')}
    WHERE type_name <> 'DEBIT_FEE' GROUP BY 2, 3, 4, 5`,
  () => `
    INSERT INTO webhook_event_count (account_id, is_day, starts_at, event_type, received, copies)
    SELECT $1, is_day, starts_at, event_type, count(*), sum(copies - 1)
    FROM webhook_event ${joinSpansOf('received_at_bank_time')}
    WHERE account_id = $1 GROUP BY 2, 3, 4`,
  () => `
    INSERT INTO webhook_health_state (account_id, compared_arrival)
    SELECT $1, max(arrival) FROM statement_line WHERE account_id = $1
    ON CONFLICT (account_id) DO UPDATE SET compared_arrival = EXCLUDED.compared_arrival`,
  ({ closedDays, days }) => `
    INSERT INTO day_close (account_id, sequence, date, revision, opening_cents, credit_cents,
      debit_cents, closing_cents, line_count, certificate, lines_root, last_arrival,
      outcome_sequence, previous_hash, hash)
    SELECT $1, n, to_char(now() - (${days} - n + 1) * interval '1 day', 'YYYY-MM-DD'), 1,
           0, 0, 0, 0, 0, '${certificate}', md5(n::text), n, n, md5((n - 1)::text), md5(n::text)
    FROM generate_series(1, ${closedDays}) n`,
];

/** Temporary tables that the steps read: the lines, and the payments that were expected. */
const sources = ({ lines, inBreak, classified, days, ...book }: Book) => [
  `CREATE TEMPORARY TABLE book_line AS
   SELECT nsu, state, 100 + nsu * 7919 % 500000 AS cents,
          now() - (${lines} - nsu) * (${days} * interval '1 day') / ${lines} - interval '2 minutes'
            AS at,
          CASE WHEN state = 'matched' THEN rank END AS rank, NULL::bigint AS payment,
          CASE WHEN state = 'classified' THEN 'DEBIT_FEE'
               WHEN state = 'in_break' AND nsu % 7 = 0 THEN 'DEBIT_PIX'
               ELSE 'CREDIT_PIX' END AS type_name, NULL::text AS correlation_id
   FROM (
     SELECT nsu, state, row_number() OVER (PARTITION BY state ORDER BY nsu) AS rank
     FROM generate_series(1::bigint, ${lines}) nsu CROSS JOIN LATERAL (
       SELECT (CASE WHEN share < ${inBreak} THEN 'in_break'
                    WHEN share < ${inBreak + classified} THEN 'classified'
                    ELSE 'matched' END)::line_outcome_state AS state
       FROM (SELECT nsu * 7919 % 10007 / 10007.0 AS share) spread
     ) decided
   ) each`,
  // The first of the matched lines pay the code, the last ones are transfers, and the others pay
  // a charge each.
  `UPDATE book_line SET
     payment = CASE WHEN rank <= ${book.paymentsOfOneCode} THEN 1
                    ELSE 2 + rank - ${book.paymentsOfOneCode} END,
     type_name = CASE WHEN rank > last.rank_of_last - ${book.transfers} THEN 'DEBIT_PIX'
                      ELSE type_name END
   FROM (SELECT max(rank) AS rank_of_last FROM book_line) last WHERE rank IS NOT NULL`,
  `CREATE TEMPORARY TABLE book_payment AS
   SELECT number, ${idOf(1, 'number')} AS id, number = 1 AS is_code, is_paid, is_overdue,
          is_credit, cents, created_at,
          CASE WHEN is_credit THEN 'create_charge' ELSE 'create_transfer' END AS kind,
          CASE WHEN number = 1 OR NOT is_credit THEN NULL
               ELSE to_char(created_at + CASE WHEN is_paid OR is_overdue THEN interval '0'
                 ELSE interval '60 days' END, 'YYYY-MM-DD') END AS due_date,
          CASE WHEN number = 1 THEN '${codeOfManyPayments}' WHEN is_credit THEN 'c' || number
               ELSE 'E' || nsu END AS correlation_id,
          lpad((number % 50000)::text, 11, '0') AS document
   FROM (
     SELECT payment AS number, true AS is_paid, false AS is_overdue,
            bool_and(type_name LIKE 'CREDIT%') AS is_credit, min(cents) AS cents,
            min(at) AS created_at, min(nsu) AS nsu
     FROM book_line WHERE payment IS NOT NULL GROUP BY payment
     UNION ALL
     SELECT last.number + n, false, n <= ${book.overdue}, true, 100 + n * 7919 % 500000,
            now() - (3 + n % ${Math.max(1, days - 3)}) * interval '1 day', NULL
     FROM (SELECT max(payment) AS number FROM book_line) last,
          generate_series(1, ${book.overdue + book.open}) n
   ) each`,
  `UPDATE book_line l SET correlation_id = p.correlation_id FROM book_payment p
   WHERE p.number = l.payment AND p.is_credit`,
  'ANALYZE book_line',
  'CREATE INDEX ON book_line (payment)',
  'ANALYZE book_payment',
];

/** Stores the book in an account that has none. */
export async function storeBook(pool: pg.Pool, book: Book): Promise<void> {
  const client = await pool.connect();
  try {
    // The triggers would check and count row by row what is written consistently here.
    await client.query(`SET session_replication_role = replica; SET synchronous_commit = off;
      SET work_mem = '256MB'; SET temp_buffers = '256MB'`);
    const run = (sql: string) =>
      client.query(
        sql.replaceAll('$1::int', String(book.accountId)).replaceAll('$1', String(book.accountId)),
      );
    // A service that is already running finds the whole book or nothing: it would count half of
    // one itself.
    await client.query('BEGIN');
    for (const sql of sources(book)) await run(sql);
    for (const step of steps) await run(step(book));
    await client.query('DROP TABLE book_line, book_payment');
    await client.query('COMMIT');
  } finally {
    client.release(true);
  }
}

/** An account that a book can be stored in. */
export async function addBookAccount(pool: pg.Pool, slug: string): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO bank_account (slug, go_live_at, created_at, updated_at)
     VALUES ($1, now() - interval '1 year', now() - interval '1 year', now()) RETURNING id`,
    [slug],
  );
  if (!rows[0]) throw new Error('the account was not inserted');
  return rows[0].id;
}
