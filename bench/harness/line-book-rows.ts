// The rows of the books of `bench/reconciliation-book.ts`: payments, lines that pay them, lines
// that nothing explains, and what the product writes when it decides these. The parameters of a
// statement are the account, and the first and the last number of the rows.
import { idOf } from './book.js';

/** When the payments were requested; all lines are later. */
export const startedAt = '2026-07-01T00:30:00Z';
/** The charges are due on a holiday. */
const [dueDate, lastPaymentDay] = ['2030-01-01', '2030-01-02'];
/** From then on a charge and a transfer are missing. */
const deadlines = { charge: '2030-01-04T03:00:00Z', transfer: '2026-07-01T01:00:00Z' };

const payments = `
  SELECT n, ${idOf(1, 'n')} AS id, n % 4 <> 0 AS is_charge, 1000 + n % 5000 AS cents
  FROM generate_series($2::bigint, $3::bigint) n`;

/** Payment n is a transfer if n is divisible by four, else a charge that is due in years. */
export const paymentsSql = `
  WITH made AS MATERIALIZED (${payments}), sent AS (
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
           is_charge, cents, CASE WHEN is_charge THEN '${dueDate}' END, false,
           '2026-07-01', '2026-07-01' FROM made
  ), charged AS (
    INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
      amount_cents, created_at)
    SELECT $1, 'c' || n, id, id, 'BANKSLIP_PIX', cents, '2026-07-01'
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

/** The payments are due to be decided. */
export const paymentTasksSql = `
  INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
  SELECT $1, 'payment', id FROM (${payments}) made`;

/** The payments were decided: no line pays them. */
export const openPaymentTotalsSql = `
  INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents, reversed_cents,
    refunded_cents, unrefunded_cents, settlement, last_payment_day, deadline)
  SELECT $1, id, 0, 0, 0, 0, 'open', CASE WHEN is_charge THEN '${lastPaymentDay}' END,
         CASE WHEN is_charge THEN timestamptz '${deadlines.charge}'
              ELSE timestamptz '${deadlines.transfer}' END
  FROM (${payments}) made`;

/**
 * Of ten lines, $4 pay a payment. $5 is the first line of this kind, and $6 how many lines before
 * it pay one.
 */
const lines = `
  SELECT nsu, is_matched, n, is_matched AND n % 4 = 0 AS is_transfer,
         CASE WHEN is_matched THEN 1000 + n % 5000 ELSE 777 + nsu % 100000 END AS cents,
         CASE WHEN is_matched AND n % 4 = 0 THEN 'ET' || n
              ELSE 'E' || lpad(nsu::text, 31, '0') END AS end_to_end_id,
         timestamptz '2026-08-01T12:00:00Z' + nsu % 2000000 * interval '1 second' AS occurred_at
  FROM (
    SELECT nsu, nsu % 10 < $4::int AS is_matched,
           -- The number of the payment: how many lines up to this one are matched.
           $6::bigint + (nsu / 10 - ($5::bigint - 1) / 10) * $4::int
             + LEAST(nsu % 10 + 1, $4::int) - LEAST(($5::bigint - 1) % 10 + 1, $4::int) AS n
    FROM generate_series($2::bigint, $3::bigint) nsu
  ) numbered`;

export const linesSql = `
  INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
    end_to_end_id, movement_id, correlation_id, counterparty, counterparty_document,
    balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
  SELECT $1, nsu, 'b' || nsu, NOT is_transfer, cents,
         CASE WHEN is_transfer THEN 'DEBIT_PIX' ELSE 'CREDIT_PIX' END, end_to_end_id,
         CASE WHEN is_transfer THEN 'bank' || n ELSE md5(nsu::text) END,
         CASE WHEN is_matched AND NOT is_transfer THEN 'c' || n END,
         '12345678/0001/' || nsu % 1000, lpad((nsu % 20000)::text, 11, '0'), 0, 0, occurred_at,
         md5(nsu::text), repeat('x', 600)
  FROM (${lines}) line ORDER BY nsu`;

/** The outcomes of the lines, and all that is written with them. */
export const outcomesSql = [
  `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, rule,
     evidence)
   SELECT $1, ${idOf(2, 'nsu')}, nsu, ${idOf(1, 'n')}, cents, cents, 'reference',
          CASE WHEN is_transfer
            THEN jsonb_build_object('referenceKind', 'movement_id', 'referenceValue', 'bank' || n)
            ELSE jsonb_build_object('referenceKind', 'correlation_id', 'referenceValue', 'c' || n)
          END
   FROM (${lines}) line WHERE is_matched`,
  `INSERT INTO expected_payment_total (account_id, expected_payment_id, payment_count, paid_cents,
     reversed_cents, refunded_cents, unrefunded_cents, settlement, last_payment_day)
   SELECT $1, ${idOf(1, 'n')}, 1, cents, 0, 0, cents, 'settled',
          CASE WHEN NOT is_transfer THEN '${lastPaymentDay}' END
   FROM (${lines}) line WHERE is_matched`,
  `INSERT INTO line_outcome (account_id, nsu, state, label, version, leaf_hash, sequence)
   SELECT $1, nsu, CASE WHEN is_matched THEN 'matched' ELSE 'in_break' END::line_outcome_state,
          CASE WHEN NOT is_matched THEN 'unexpected' END, 1, sha256(nsu::text::bytea), 1
   FROM (${lines}) line`,
  `WITH opened AS (
     INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence,
       opened_day)
     SELECT $1, ${idOf(3, 'nsu')}, 'unexpected', 'open', 'nsu:' || nsu, cents, nsu,
            '{"candidates": []}',
            to_char(occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')
     FROM (${lines}) line WHERE NOT is_matched
     RETURNING account_id, id, evidence
   )
   INSERT INTO break_history_entry (account_id, break_id, action, detail)
   SELECT account_id, id, 'opened', jsonb_build_object('evidence', evidence) FROM opened`,
  // One event of a line that pays, and two of a line that does not.
  `WITH numbered AS MATERIALIZED (
     SELECT line.*, number = 2 AS is_of_break, trim_scale(cents / 100.0) AS amount,
            COALESCE(last.position, 0) + row_number() OVER (ORDER BY nsu, number) AS position
     FROM (${lines}) line
     CROSS JOIN LATERAL generate_series(1, CASE WHEN is_matched THEN 1 ELSE 2 END) number
     LEFT JOIN event_position last ON last.account_id = $1
   ), position AS (
     INSERT INTO event_position (account_id, position) SELECT $1, max(position) FROM numbered
     ON CONFLICT (account_id) DO UPDATE SET position = EXCLUDED.position
   )
   INSERT INTO event (account_id, id, position, type, resource_kind, resource_id, sequence, data)
   SELECT $1, ${idOf(4, 'position')}, position, type, kind, id, 1, data::text
   FROM numbered
   CROSS JOIN LATERAL (
     SELECT ${idOf(1, 'n')}::text AS payment, ${idOf(3, 'nsu')}::text AS break,
            to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"') AS at
   ) text
   CROSS JOIN LATERAL (
     SELECT 'break.opened' AS type, 'break' AS kind, text.break AS id, json_build_object(
       'breakId', text.break, 'breakKind', 'unexpected', 'amount', amount, 'nsu', nsu,
       'expectedPaymentId', NULL, 'resolution', NULL) AS data WHERE is_of_break
     UNION ALL
     SELECT 'transaction.unexpected', 'transaction', nsu::text, json_build_object(
       'breakKind', 'unexpected', 'isCredit', true, 'transactionType', 'CREDIT_PIX',
       'correlationId', NULL, 'nsu', nsu, 'amount', amount, 'endToEndId', end_to_end_id,
       'occurredAt', at, 'paidAt', at, 'creditedAt', at) WHERE NOT is_matched AND NOT is_of_break
     UNION ALL
     SELECT 'transfer.settled', 'transfer', payment, json_build_object('settlement', 'settled',
       'operationId', payment, 'transferId', payment, 'externalId', payment, 'nsu', nsu,
       'amount', amount, 'endToEndId', end_to_end_id, 'occurredAt', at) WHERE is_transfer
     UNION ALL
     SELECT 'charge.paid', 'charge', 'c' || n, json_build_object('settlement', 'settled',
       'correlationId', 'c' || n, 'chargeType', 'BANKSLIP_PIX', 'chargeAmount', amount, 'nsu', nsu,
       'amount', amount, 'endToEndId', end_to_end_id, 'occurredAt', at, 'paidAt', at,
       'creditedAt', at)
     WHERE is_matched AND NOT is_transfer
   ) event`,
];
