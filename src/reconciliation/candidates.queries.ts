// What lines could be, gathered a batch at a time: by key look-ups of the references that they carry, and for debits
// that carry none of ours among the few payments whose operation was never answered.
import type { Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Candidate, OpenDebit } from './judged.js';

type OfLine<Named> = Named & { nsu: bigint };

/** An expected payment `e` with its operation `o`, and what was paid and returned of it so far, as `sums`. */
const candidateColumns = Prisma.sql`
  e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind, o.state AS "operationState",
  e.is_credit AS "isCredit", e.amount_cents AS "amountCents", e.is_multi_use AS "isMultiUse",
  e.due_date AS "dueDate", e.terms, sums.paid AS "paidCents", sums.returned AS "returnedCents",
  e.withdrawn_at IS NOT NULL AND sums.paid = 0 AND o.state IS DISTINCT FROM 'not_executed' AS "isWithdrawn"`;

const sumsOfExpected = Prisma.sql`
  SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS paid,
         COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'return'), 0)::bigint AS returned
  FROM match m
  WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL`;

/** What the references on the lines name, or what was paid by a line under the id that they give back. */
export async function gatherNamed(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<OfLine<Candidate>[]> {
  return tx.$queryRaw`
    SELECT t.nsu, ${candidateColumns}, named.kind AS "referenceKind", named.value AS "referenceValue",
           named.is_original AS "isOriginal"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN "transaction" t ON t.account_id = ${accountId} AND t.nsu = wanted.nsu
    CROSS JOIN LATERAL (
      SELECT told.kind, told.value, told.is_original, r.expected_payment_id
      FROM (VALUES ('idempotency_key', 'idempotency_key', t.idempotency_key, false),
                   ('nsu', 'nsu', t.nsu::text, false),
                   ('movement_id', 'movement_id', t.movement_id, false),
                   ('end_to_end_id', 'end_to_end_id', t.end_to_end_id, false),
                   ('external_id', 'external_id', t.external_id, false),
                   ('correlation_id', 'correlation_id', t.correlation_id, false),
                   ('bill_code', 'bill_code', t.bill_code, false),
                   ('original_end_to_end_id', 'end_to_end_id',
                    CASE WHEN t.is_credit THEN t.original_end_to_end_id END, true)
           ) AS told(kind, sought, value, is_original)
      CROSS JOIN LATERAL (
        SELECT expected_payment_id FROM expected_payment_reference
        WHERE account_id = ${accountId} AND kind = told.sought AND value = told.value
      ) r
      UNION
      SELECT told.kind, told.value, told.is_original, m.expected_payment_id
      FROM (VALUES ('end_to_end_id', t.end_to_end_id, false),
                   ('original_end_to_end_id', t.original_end_to_end_id, true)
           ) AS told(kind, value, is_original)
      CROSS JOIN LATERAL (
        SELECT nsu FROM "transaction"
        WHERE account_id = ${accountId} AND end_to_end_id = told.value AND NOT is_credit
      ) debit
      CROSS JOIN LATERAL (
        SELECT expected_payment_id FROM match
        WHERE account_id = ${accountId} AND nsu = debit.nsu AND unlinked_at IS NULL
      ) m
      WHERE t.is_credit
    ) named
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${accountId} AND id = named.expected_payment_id
    ) e
    LEFT JOIN LATERAL (
      SELECT state FROM operation WHERE account_id = ${accountId} AND id = e.operation_id
    ) o ON true
    CROSS JOIN LATERAL (${sumsOfExpected}) sums
    ORDER BY t.nsu, named.kind, e.id`;
}

/** What an effect at the bank can be away from our clock and the bank's, either way. */
const skewMs = 30_000;
/** Of so many that could be one line, none will be told from the others. */
const maxOpenOfLine = 50;

/** A bound for banks of which nobody has said how late an effect may show: their analysis of a Pix takes up to an hour. */
const unsaidBoundMs = 3_600_000;

/** Unpaid debits of the lines' amounts, of operations that the bank has not answered, unless an id speaks against it. */
export async function gatherOpenDebits(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  visibilityBoundMs: number | null,
): Promise<OfLine<OpenDebit>[]> {
  return tx.$queryRaw`
    WITH line AS MATERIALIZED (
      SELECT t.* FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
      JOIN "transaction" t ON t.account_id = ${accountId} AND t.nsu = wanted.nsu
    ), open AS MATERIALIZED (
      SELECT ${candidateColumns}, e.created_at AS "createdAt",
             told.ids, told.original, told.counterparty, told.ids ?| ARRAY['nsu', 'movement_id', 'end_to_end_id'] AS "isKnownToBank",
             tried.from + clock.offset - ${skewMs} * interval '1 millisecond' AS "from",
             GREATEST(tried.until + clock.offset, o.effective_from)
               + ${visibilityBoundMs ?? unsaidBoundMs} * interval '1 millisecond' AS "until"
      FROM operation o
      JOIN expected_payment e ON e.account_id = o.account_id AND e.operation_id = o.id
        AND NOT e.is_credit AND e.amount_cents IN (SELECT amount_cents FROM line)
        AND (e.withdrawn_at IS NULL OR o.state = 'not_executed')
      CROSS JOIN LATERAL (${sumsOfExpected}) sums
      CROSS JOIN LATERAL (
        SELECT COALESCE(min(started_at), o.created_at) AS "from", COALESCE(max(send_by), o.created_at) AS "until"
        FROM operation_attempt WHERE account_id = o.account_id AND operation_id = o.id
      ) tried
      CROSS JOIN LATERAL (
        SELECT COALESCE(jsonb_object_agg(kind, value), '{}') AS ids,
               max(value) FILTER (WHERE kind = 'original_end_to_end_id') AS original,
               max(value) FILTER (WHERE kind = 'counterparty') AS counterparty
        FROM expected_payment_reference WHERE account_id = e.account_id AND expected_payment_id = e.id
      ) told
      CROSS JOIN (
        SELECT COALESCE((SELECT clock_offset_ms FROM statement_state WHERE account_id = ${accountId}), 0)
               * interval '1 millisecond' AS "offset"
      ) clock
      WHERE o.account_id = ${accountId} AND ${isUnanswered} AND sums.paid = 0
    )
    SELECT * FROM (
      SELECT line.nsu, open.*, false AS "isOriginal", tied.by AS tie,
             COALESCE(tied.kind, '') AS "referenceKind", COALESCE(tied.value, '') AS "referenceValue",
             row_number() OVER (PARTITION BY line.nsu ORDER BY tied.by DESC NULLS LAST, "createdAt") AS place
      FROM line
      JOIN open ON open."amountCents" = line.amount_cents
      CROSS JOIN LATERAL (
        SELECT open.counterparty IN (line.counterparty, split_part(line.counterparty, '/', 3)) AS "isSameSide"
      ) sides
      CROSS JOIN LATERAL (
        SELECT CASE WHEN open.original = line.original_end_to_end_id THEN 'original'
                    WHEN sides."isSameSide" THEN 'counterparty' END AS by,
               CASE WHEN open.original = line.original_end_to_end_id THEN 'original_end_to_end_id'
                    WHEN sides."isSameSide" THEN 'counterparty' END AS kind,
               CASE WHEN open.original = line.original_end_to_end_id THEN open.original
                    WHEN sides."isSameSide" THEN open.counterparty END AS value
      ) tied
      WHERE sides."isSameSide" IS NOT FALSE
        -- Both tell an id of one kind, and it is not the same: they are two.
        AND COALESCE(open.ids ->> 'idempotency_key' = line.idempotency_key, true)
        AND COALESCE(open.ids ->> 'end_to_end_id' = line.end_to_end_id, true)
        AND COALESCE(open.ids ->> 'external_id' = line.external_id, true)
        AND COALESCE(open.original = line.original_end_to_end_id, true)
    ) could
    WHERE place <= ${maxOpenOfLine}
    ORDER BY nsu, place`;
}

/** The condition of the index operation_unanswered, to the letter. */
export const isUnanswered = Prisma.sql`(o.state <> 'rejected' AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;
