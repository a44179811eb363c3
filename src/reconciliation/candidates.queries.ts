// Loads the candidates of a batch of lines by their references. Debits without a reference can only
// match the few open payments whose operation has no response from the bank.
import { opaqueAccountId, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Candidate, OpenDebit } from './line-outcome.js';
import { incomingTypes } from './reversals.js';

/** More candidates than this cannot be distinguished from each other. */
const maxCandidates = 50;

/** How far our clock or the bank's clock may differ from the time of an effect at the bank. */
const skewMs = 30_000;
/** Whether a person unlinked the line from the expected payment: nothing matches them again. */
const isUnlinkedManually = (
  expected: Prisma.Sql,
  nsu: Prisma.Sql,
  accountId: number,
) => Prisma.sql`EXISTS (
  SELECT 1 FROM match unlinked WHERE unlinked.account_id = ${opaqueAccountId(accountId)}
    AND unlinked.expected_payment_id = ${expected}
    AND unlinked.nsu = ${nsu} AND unlinked.unlinked_by IS NOT NULL)`;

/** Which expected payments a person unlinked these lines from. */
export async function listUnlinkedManually(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ nsu: bigint; expectedPaymentId: string }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT nsu, expected_payment_id AS "expectedPaymentId" FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND unlinked_by IS NOT NULL`;
}

type OfLine<Row> = Row & { nsu: bigint };

/**
 * Columns of an expected payment `e`, its operation `o`, and its paid and reversed cents `totals`.
 */
const candidateColumns = Prisma.sql`
  e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind, o.state AS "operationState",
  e.is_credit AS "isCredit", e.amount_cents AS "amountCents", e.is_multi_use AS "isMultiUse",
  e.due_date AS "dueDate", e.terms, totals.paid AS "paidCents", totals.reversed AS "reversedCents",
  e.withdrawn_at IS NOT NULL AND totals.paid = 0 AS "isWithdrawn"`;

const openColumns = Prisma.sql`
  "expectedPaymentId", "operationId", kind, "operationState", "isCredit", "amountCents",
  "isMultiUse", "dueDate", terms, "paidCents", "reversedCents", "isWithdrawn"`;

// Not in WHERE: without statistics, PostgreSQL would scan the index of live matches by nsu.
const isLive = Prisma.sql`m.unlinked_at IS NULL`;
const totalsOfExpectedPayment = Prisma.sql`
  SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment' AND ${isLive}), 0)::bigint
    AS paid,
         COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal' AND ${isLive}), 0)::bigint
           AS reversed
  FROM match m WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
    -- A static QR code has thousands of payments, each decided alone.
    AND NOT (e.is_credit AND e.is_multi_use)`;

/** The cents of a credit that the account's own rules matched in periods that are still open. */
const provisionalOfExpectedPayment = Prisma.sql`
  SELECT COALESCE(sum(ruled.amount_cents), 0)::bigint AS cents
  FROM (
    SELECT m.nsu, m.amount_cents, m.rule, m.role, ${isLive} AS is_live FROM match m
    WHERE e.is_credit AND NOT e.is_multi_use AND m.account_id = e.account_id
      AND m.expected_payment_id = e.id
    OFFSET 0
  ) ruled
  JOIN statement_line line ON line.account_id = e.account_id AND line.nsu = ruled.nsu
  WHERE ruled.is_live AND ruled.role = 'payment' AND ruled.rule = 'declared'
    AND line.occurred_at >= COALESCE(clock.closed_until, '-infinity')`;

/** The first line that paid a debit; manual matches precede all others. */
const payingLineOfExpectedPayment = Prisma.sql`
  SELECT paid.nsu, paid.rule, line.occurred_at, line.occurred_at < clock.closed_until AS is_closed
  FROM (
    SELECT m.nsu, m.rule, m.role, ${isLive} AS is_live FROM match m
    WHERE NOT e.is_credit AND m.account_id = e.account_id AND m.expected_payment_id = e.id
    OFFSET 0 -- Start from the few matches of the payment.
  ) paid
  JOIN statement_line line ON line.account_id = e.account_id AND line.nsu = paid.nsu
  WHERE paid.is_live AND paid.role = 'payment'
  ORDER BY paid.rule = 'manual' DESC, line.occurred_at, paid.nsu LIMIT 1`;

/** When a payment was debited a second time, from its open `duplicate_payment` breaks. */
const secondDebitOf = Prisma.sql`
  SELECT min(line.occurred_at) AS at FROM break b
  JOIN statement_line line ON line.account_id = b.account_id AND line.nsu = b.nsu
  WHERE t.is_credit AND NOT e.is_credit AND b.account_id = e.account_id
    AND b.kind = 'duplicate_payment'
    AND b.state = 'open' AND b.expected_payment_id = e.id`;

type ReferencedRow = OfLine<Omit<Candidate, 'paidBy'>> & {
  payingNsu: bigint | null;
  payingRule: string | null;
  payingTime: Date | null;
  isPayingClosed: boolean | null;
};

function withPayingLine(row: ReferencedRow): OfLine<Candidate> {
  const { payingNsu: nsu, payingRule: rule, payingTime, isPayingClosed, ...candidate } = row;
  if (nsu === null || rule === null || payingTime === null)
    return { ...candidate, payingLine: null };
  const isClosed = isPayingClosed === true;
  return { ...candidate, payingLine: { nsu, rule, occurredAt: payingTime, isClosed } };
}

/**
 * The expected payments that a line (t) references: by its ids, and by the endToEndId of a debit
 * that it reverses.
 */
const referencesOfLine = (accountId: number) => Prisma.sql`
  SELECT id.kind, id.value, id.is_original, r.expected_payment_id
  FROM (VALUES ('idempotency_key', 'idempotency_key', t.idempotency_key, false),
               ('nsu', 'nsu', t.nsu::text, false),
               ('movement_id', 'movement_id', t.movement_id, false),
               ('end_to_end_id', 'end_to_end_id', t.end_to_end_id, false),
               ('external_id', 'external_id', t.external_id, false),
               ('correlation_id', 'correlation_id', t.correlation_id, false),
               ('bill_code', 'bill_code', t.bill_code, false),
               ('original_end_to_end_id', 'end_to_end_id',
                CASE WHEN t.is_credit THEN t.original_end_to_end_id END, true)
       ) AS id(kind, reference_kind, value, is_original)
  CROSS JOIN LATERAL (
    SELECT expected_payment_id FROM expected_payment_reference
    WHERE account_id = ${opaqueAccountId(accountId)} AND kind = id.reference_kind
      AND value = id.value OFFSET 0
  ) r
  UNION
  SELECT id.kind, id.value, id.is_original, m.expected_payment_id
  FROM (VALUES ('end_to_end_id', t.end_to_end_id, false),
               ('original_end_to_end_id', t.original_end_to_end_id, true)
       ) AS id(kind, value, is_original)
  CROSS JOIN LATERAL (
    SELECT nsu FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND end_to_end_id = id.value
      AND NOT is_credit LIMIT ${maxCandidates}
  ) debit
  CROSS JOIN LATERAL (
    SELECT expected_payment_id FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = debit.nsu AND unlinked_at IS NULL
      LIMIT ${maxCandidates}
  ) m
  WHERE t.is_credit AND t.type_name <> ALL (${incomingTypes})`;

/**
 * The candidates by the lines' references, and the payments of debits whose endToEndId the lines
 * contain.
 */
export async function loadReferencedCandidates(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<OfLine<Candidate>[]> {
  const rows = await tx.$queryRaw<ReferencedRow[]>`
    SELECT t.nsu, ${candidateColumns}, paying.nsu AS "payingNsu", paying.rule AS "payingRule",
           paying.occurred_at AS "payingTime", paying.is_closed AS "isPayingClosed",
           provisional.cents AS "provisionalRuleCents",
           e.created_at + clock.offset - ${skewMs} * interval '1 millisecond' > t.occurred_at
             AS "isLater",
           second_debit.at AS "debitedAgainAt", reference.kind AS "referenceKind",
           reference.value AS "referenceValue", reference.is_original AS "isOriginal"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    -- OFFSET 0 makes each step use its index: there may be no statistics while a long history is
    -- imported.
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${opaqueAccountId(accountId)}
        AND nsu = wanted.nsu OFFSET 0
    ) t
    CROSS JOIN LATERAL (
      ${referencesOfLine(accountId)}
    ) reference
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${opaqueAccountId(accountId)}
        AND id = reference.expected_payment_id OFFSET 0
    ) e
    LEFT JOIN LATERAL (
      SELECT state FROM operation WHERE account_id = ${opaqueAccountId(accountId)}
        AND id = e.operation_id OFFSET 0
    ) o ON true
    CROSS JOIN (
      SELECT max(closed_until) AS closed_until,
        COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS "offset"
      FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}
    ) clock
    CROSS JOIN LATERAL (${totalsOfExpectedPayment}) totals
    CROSS JOIN LATERAL (${provisionalOfExpectedPayment}) provisional
    LEFT JOIN LATERAL (${payingLineOfExpectedPayment}) paying ON true
    CROSS JOIN LATERAL (${secondDebitOf}) second_debit
    WHERE NOT ${isUnlinkedManually(Prisma.sql`e.id`, Prisma.sql`t.nsu`, accountId)}
    ORDER BY t.nsu, reference.kind, e.id`;
  return rows.map(withPayingLine);
}

/** For banks without a known visibility bound: their analysis of a Pix takes up to an hour. */
const defaultBoundMs = 3_600_000;

const idsOfExpectedPayment = Prisma.sql`
  SELECT COALESCE(jsonb_object_agg(kind, value), '{}') AS ids,
         max(value) FILTER (WHERE kind = 'original_end_to_end_id') AS original,
         max(value) FILTER (WHERE kind = 'counterparty') AS counterparty
  FROM expected_payment_reference WHERE account_id = e.account_id AND expected_payment_id = e.id`;

/**
 * Pairs of a line and an open payment with the same amount. Both have the same counterparty, or at
 * least one has none.
 */
const pairsOfAmount = Prisma.sql`
  -- Each branch joins by equality, so that thousands of one amount are not compared pairwise.
  SELECT line.*, ranked.*, true AS "isSameCounterparty" FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty = line.line_counterparty
  WHERE "rankOfCounterparty" <= ${maxCandidates}
  UNION ALL
  SELECT line.*, ranked.*, true FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty = line.account
  WHERE "rankOfCounterparty" <= ${maxCandidates}
  UNION ALL
  SELECT line.*, ranked.*, false FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty IS NULL
  WHERE "rankOfCounterparty" <= ${maxCandidates}
  UNION ALL
  SELECT line.*, ranked.*, false FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty IS NOT NULL
  WHERE line.line_counterparty IS NULL AND "rankOfAmount" <= ${maxCandidates}`;

/** Unpaid debits of the amounts in `line`, of the operations in `without_response`. */
const openPayments = (accountId: number, boundMs: number) => Prisma.sql`
  SELECT ${candidateColumns}, e.created_at AS "createdAt",
         known.ids, known.original, known.counterparty,
         -- An endToEndId proves nothing: a key look-up assigns it before the payment is sent.
         known.ids ?| ARRAY['nsu', 'movement_id'] AS "isKnownToBank",
         attempts.from + clock.offset - ${skewMs} * interval '1 millisecond' AS "from",
         GREATEST(attempts.until + clock.offset, o.effective_from)
           + ${boundMs} * interval '1 millisecond' AS "until"
  FROM without_response o
  CROSS JOIN LATERAL (
    SELECT * FROM expected_payment
    WHERE account_id = o.account_id AND operation_id = o.id AND NOT is_credit
    OFFSET 0 -- Start from the few operations.
  ) e
  JOIN (SELECT DISTINCT amount_cents FROM line) amounts ON amounts.amount_cents = e.amount_cents
  CROSS JOIN LATERAL (${totalsOfExpectedPayment}) totals
  CROSS JOIN LATERAL (
    SELECT COALESCE(min(started_at), o.created_at) AS "from",
      COALESCE(max(send_by), o.created_at) AS "until"
    FROM operation_attempt WHERE account_id = o.account_id AND operation_id = o.id
  ) attempts
  CROSS JOIN LATERAL (${idsOfExpectedPayment}) known
  CROSS JOIN (
    SELECT COALESCE((SELECT clock_offset_ms FROM statement_state
      WHERE account_id = ${opaqueAccountId(accountId)}), 0)
           * interval '1 millisecond' AS "offset"
  ) clock
  WHERE totals.paid = 0`;

/**
 * Unpaid debits that have the lines' amounts and belong to operations without a response. An id
 * that contradicts the line excludes the debit.
 */
export async function loadOpenDebits(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  visibilityBoundMs: number | null,
): Promise<OfLine<OpenDebit>[]> {
  return tx.$queryRaw`
    WITH line AS MATERIALIZED (
      SELECT t.nsu, t.amount_cents, t.idempotency_key, t.movement_id, t.end_to_end_id,
             t.external_id, t.bill_code, t.original_end_to_end_id,
             t.counterparty AS line_counterparty, split_part(t.counterparty, '/', 3) AS account
      FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
      JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = wanted.nsu
    ), without_response AS MATERIALIZED (
      SELECT o.account_id, o.id, o.state, o.created_at, o.effective_from FROM operation o
      WHERE o.account_id = ${opaqueAccountId(accountId)} AND ${isWithoutResponse}
    ), open AS MATERIALIZED (
      ${openPayments(accountId, visibilityBoundMs ?? defaultBoundMs)}
    ), ranked AS MATERIALIZED (
      SELECT open.*, row_number() OVER by_counterparty AS "rankOfCounterparty",
             row_number() OVER by_amount AS "rankOfAmount"
      FROM open
      WINDOW by_counterparty AS (
               PARTITION BY "amountCents", original, ids ? 'end_to_end_id', ids ? 'external_id',
                            ids ->> 'bill_code', counterparty
               ORDER BY "createdAt", "expectedPaymentId"),
             by_amount AS (
               PARTITION BY "amountCents", original, ids ? 'end_to_end_id', ids ? 'external_id',
                            ids ->> 'bill_code'
               ORDER BY "createdAt", "expectedPaymentId")
    ), pair AS (
      ${pairsOfAmount}
    )
    SELECT nsu, ${openColumns}, false AS "isOriginal", "isKnownToBank", "createdAt", "from",
           "until",
           CASE WHEN original = original_end_to_end_id THEN 'original'
                WHEN "isSameCounterparty" THEN 'counterparty' END AS "sharedReference",
           CASE WHEN original = original_end_to_end_id THEN 'original_end_to_end_id'
             ELSE 'counterparty' END AS "referenceKind",
           COALESCE(CASE WHEN original = original_end_to_end_id THEN original
             ELSE counterparty END, '') AS "referenceValue"
    FROM pair
    -- Different ids of one kind: the line is not the payment.
    WHERE COALESCE(ids ->> 'idempotency_key' = idempotency_key, true)
      AND COALESCE(ids ->> 'end_to_end_id' = end_to_end_id, true)
      AND COALESCE(ids ->> 'nsu' = nsu::text, true)
      AND COALESCE(ids ->> 'movement_id' = movement_id, true)
      AND COALESCE(ids ->> 'external_id' = external_id, true)
      AND COALESCE(ids ->> 'bill_code' = bill_code, true)
      AND COALESCE(original = original_end_to_end_id, true)
      AND NOT ${isUnlinkedManually(
        Prisma.sql`"expectedPaymentId"`,
        Prisma.sql`pair.nsu`,
        accountId,
      )}
    ORDER BY nsu, "createdAt", "expectedPaymentId"`;
}

/** Must equal the condition of the index operation_without_response, so that PostgreSQL uses it. */
export const isWithoutResponse = Prisma.sql`(o.state <> 'rejected'
  AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;
