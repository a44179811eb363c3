// What lines could be, gathered a batch at a time: by key look-ups of the references that they carry, and for debits
// that carry none of ours among the few payments whose operation was never answered.
import { ofAccount, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Candidate, OpenDebit } from './line-outcome.js';
import { receipts } from './returns.js';

/** Of so many that are alike, none will be told from the others. */
const maxAlike = 50;

/** What an effect at the bank can be away from our clock and the bank's, either way. */
const skewMs = 30_000;
/** What a person unlinked stays so, whatever names it: of an expected payment and a line. */
const isUnlinkedManually = (
  expected: Prisma.Sql,
  nsu: Prisma.Sql,
  accountId: number,
) => Prisma.sql`EXISTS (
  SELECT 1 FROM match undone WHERE undone.account_id = ${ofAccount(accountId)} AND undone.expected_payment_id = ${expected}
    AND undone.nsu = ${nsu} AND undone.unlinked_by IS NOT NULL)`;

/** Which expected payments a person unlinked these lines from. */
export async function listUnlinkedManually(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ nsu: bigint; expectedPaymentId: string }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT nsu, expected_payment_id AS "expectedPaymentId" FROM match
    WHERE account_id = ${ofAccount(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND unlinked_by IS NOT NULL`;
}

type OfLine<Named> = Named & { nsu: bigint };

/** An expected payment `e` with its operation `o`, and what was paid and returned of it so far, as `sums`. */
const candidateColumns = Prisma.sql`
  e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind, o.state AS "operationState",
  e.is_credit AS "isCredit", e.amount_cents AS "amountCents", e.is_multi_use AS "isMultiUse",
  e.due_date AS "dueDate", e.terms, sums.paid AS "paidCents", sums.returned AS "returnedCents",
  e.withdrawn_at IS NOT NULL AND sums.paid = 0 AS "isWithdrawn"`;

const openColumns = Prisma.sql`
  "expectedPaymentId", "operationId", kind, "operationState", "isCredit", "amountCents", "isMultiUse", "dueDate", terms,
  "paidCents", "returnedCents", "isWithdrawn"`;

// Not in WHERE: it would bid PostgreSQL, before it has statistics, to walk the index of live matches by nsu.
const isLive = Prisma.sql`m.unlinked_at IS NULL`;
const sumsOfExpected = Prisma.sql`
  SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment' AND ${isLive}), 0)::bigint AS paid,
         COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal' AND ${isLive}), 0)::bigint AS returned
  FROM match m WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
    -- A static QR code is paid thousands of times, and each payment stands for itself.
    AND NOT (e.is_credit AND e.is_multi_use)`;

/** What rules of the account's own hold of a credit while the windows of their lines are open. */
const heldOfExpected = Prisma.sql`
  SELECT COALESCE(sum(held.amount_cents), 0)::bigint AS cents
  FROM (
    SELECT m.nsu, m.amount_cents, m.rule, m.role, ${isLive} AS is_live FROM match m
    WHERE e.is_credit AND NOT e.is_multi_use AND m.account_id = e.account_id AND m.expected_payment_id = e.id
    OFFSET 0
  ) held
  JOIN statement_line line ON line.account_id = e.account_id AND line.nsu = held.nsu
  WHERE held.is_live AND held.role = 'payment' AND held.rule = 'declared'
    AND line.occurred_at >= COALESCE(clock.closed_until, '-infinity')`;

/** The first of the lines that paid a debit; what a person linked before all others. */
const payerOfExpected = Prisma.sql`
  SELECT paid.nsu, paid.rule, line.occurred_at, line.occurred_at < clock.closed_until AS is_closed
  FROM (
    SELECT m.nsu, m.rule, m.role, ${isLive} AS is_live FROM match m
    WHERE NOT e.is_credit AND m.account_id = e.account_id AND m.expected_payment_id = e.id
    OFFSET 0 -- From the few matches of the payment to their lines.
  ) paid
  JOIN statement_line line ON line.account_id = e.account_id AND line.nsu = paid.nsu
  WHERE paid.is_live AND paid.role = 'payment'
  ORDER BY paid.rule = 'manual' DESC, line.occurred_at, paid.nsu LIMIT 1`;

/** When a debit was debited again, by the lines that stand in breaks for it. */
const secondDebitOf = Prisma.sql`
  SELECT min(line.occurred_at) AS at FROM break b
  JOIN statement_line line ON line.account_id = b.account_id AND line.nsu = b.nsu
  WHERE t.is_credit AND NOT e.is_credit AND b.account_id = e.account_id AND b.kind = 'duplicate_payment'
    AND b.state = 'open' AND b.expected_payment_id = e.id`;

type NamedRow = OfLine<Omit<Candidate, 'paidBy'>> & {
  payerNsu: bigint | null;
  payerRule: string | null;
  payerTime: Date | null;
  isPayerClosed: boolean | null;
};

function withPayer(row: NamedRow): OfLine<Candidate> {
  const { payerNsu: nsu, payerRule: rule, payerTime, isPayerClosed, ...named } = row;
  if (nsu === null || rule === null || payerTime === null) return { ...named, paidBy: null };
  const isClosed = isPayerClosed === true;
  return { ...named, paidBy: { nsu, rule, occurredAt: payerTime, isClosed } };
}

/** What the references on the lines name, or what was paid by a line under the id that they give back. */
export async function gatherNamed(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<OfLine<Candidate>[]> {
  const rows = await tx.$queryRaw<NamedRow[]>`
    SELECT t.nsu, ${candidateColumns}, payer.nsu AS "payerNsu", payer.rule AS "payerRule",
           payer.occurred_at AS "payerTime", payer.is_closed AS "isPayerClosed", held.cents AS "heldByRuleCents",
           e.created_at + clock.offset - ${skewMs} * interval '1 millisecond' > t.occurred_at AS "isLater", again.at AS "debitedAgainAt", named.kind AS "referenceKind", named.value AS "referenceValue",
           named.is_original AS "isOriginal"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    -- From each to the next by its index: statistics may know nothing yet of an account whose long history comes in.
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${ofAccount(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) t
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
        WHERE account_id = ${ofAccount(accountId)} AND kind = told.sought AND value = told.value OFFSET 0
      ) r
      UNION
      SELECT told.kind, told.value, told.is_original, m.expected_payment_id
      FROM (VALUES ('end_to_end_id', t.end_to_end_id, false),
                   ('original_end_to_end_id', t.original_end_to_end_id, true)
           ) AS told(kind, value, is_original)
      CROSS JOIN LATERAL (
        SELECT nsu FROM statement_line
        WHERE account_id = ${ofAccount(accountId)} AND end_to_end_id = told.value AND NOT is_credit LIMIT ${maxAlike}
      ) debit
      CROSS JOIN LATERAL (
        SELECT expected_payment_id FROM match
        WHERE account_id = ${ofAccount(accountId)} AND nsu = debit.nsu AND unlinked_at IS NULL LIMIT ${maxAlike}
      ) m
      WHERE t.is_credit AND t.type_name <> ALL (${receipts})
    ) named
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${ofAccount(accountId)} AND id = named.expected_payment_id OFFSET 0
    ) e
    LEFT JOIN LATERAL (
      SELECT state FROM operation WHERE account_id = ${ofAccount(accountId)} AND id = e.operation_id OFFSET 0
    ) o ON true
    CROSS JOIN (
      SELECT max(closed_until) AS closed_until, COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS "offset"
      FROM statement_state WHERE account_id = ${ofAccount(accountId)}
    ) clock
    CROSS JOIN LATERAL (${sumsOfExpected}) sums
    CROSS JOIN LATERAL (${heldOfExpected}) held
    LEFT JOIN LATERAL (${payerOfExpected}) payer ON true
    CROSS JOIN LATERAL (${secondDebitOf}) again
    WHERE NOT ${isUnlinkedManually(Prisma.sql`e.id`, Prisma.sql`t.nsu`, accountId)}
    ORDER BY t.nsu, named.kind, e.id`;
  return rows.map(withPayer);
}

/** A bound for banks of which nobody has said how late an effect may show: their analysis of a Pix takes up to an hour. */
const unsaidBoundMs = 3_600_000;

const idsOfExpected = Prisma.sql`
  SELECT COALESCE(jsonb_object_agg(kind, value), '{}') AS ids,
         max(value) FILTER (WHERE kind = 'original_end_to_end_id') AS original,
         max(value) FILTER (WHERE kind = 'counterparty') AS counterparty
  FROM expected_payment_reference WHERE account_id = e.account_id AND expected_payment_id = e.id`;

/** Lines with the open payments of their amount: to one side, or where one of the two does not tell its side. */
const pairsOfAmount = Prisma.sql`
  -- Each by equality, so that thousands of one amount are not compared with each other.
  SELECT line.*, ranked.*, true AS "isSameSide" FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty = line.side
  WHERE "placeOfSide" <= ${maxAlike}
  UNION ALL
  SELECT line.*, ranked.*, true FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty = line.account
  WHERE "placeOfSide" <= ${maxAlike}
  UNION ALL
  SELECT line.*, ranked.*, false FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty IS NULL
  WHERE "placeOfSide" <= ${maxAlike}
  UNION ALL
  SELECT line.*, ranked.*, false FROM line
  JOIN ranked ON "amountCents" = amount_cents AND ranked.counterparty IS NOT NULL
  WHERE line.side IS NULL AND "placeOfAmount" <= ${maxAlike}`;

/** Unpaid debits of the lines' amounts, of operations that the bank has not answered, unless an id speaks against it. */
export async function gatherOpenDebits(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  visibilityBoundMs: number | null,
): Promise<OfLine<OpenDebit>[]> {
  return tx.$queryRaw`
    WITH line AS MATERIALIZED (
      SELECT t.nsu, t.amount_cents, t.idempotency_key, t.movement_id, t.end_to_end_id, t.external_id,
             t.bill_code, t.original_end_to_end_id, t.counterparty AS side, split_part(t.counterparty, '/', 3) AS account
      FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
      JOIN statement_line t ON t.account_id = ${ofAccount(accountId)} AND t.nsu = wanted.nsu
    ), unanswered AS MATERIALIZED (
      SELECT o.account_id, o.id, o.state, o.created_at, o.effective_from FROM operation o
      WHERE o.account_id = ${ofAccount(accountId)} AND ${isUnanswered}
    ), open AS MATERIALIZED (
      SELECT ${candidateColumns}, e.created_at AS "createdAt",
             told.ids, told.original, told.counterparty, -- The endToEndId may be that of a look-up, which a payment has before it is sent.
             told.ids ?| ARRAY['nsu', 'movement_id'] AS "isKnownToBank",
             tried.from + clock.offset - ${skewMs} * interval '1 millisecond' AS "from",
             GREATEST(tried.until + clock.offset, o.effective_from)
               + ${visibilityBoundMs ?? unsaidBoundMs} * interval '1 millisecond' AS "until"
      FROM unanswered o
      CROSS JOIN LATERAL (
        SELECT * FROM expected_payment
        WHERE account_id = o.account_id AND operation_id = o.id AND NOT is_credit
        OFFSET 0 -- From the few operations to their payments, never the other way.
      ) e
      JOIN (SELECT DISTINCT amount_cents FROM line) asked ON asked.amount_cents = e.amount_cents
      CROSS JOIN LATERAL (${sumsOfExpected}) sums
      CROSS JOIN LATERAL (
        SELECT COALESCE(min(started_at), o.created_at) AS "from", COALESCE(max(send_by), o.created_at) AS "until"
        FROM operation_attempt WHERE account_id = o.account_id AND operation_id = o.id
      ) tried
      CROSS JOIN LATERAL (${idsOfExpected}) told
      CROSS JOIN (
        SELECT COALESCE((SELECT clock_offset_ms FROM statement_state WHERE account_id = ${ofAccount(accountId)}), 0)
               * interval '1 millisecond' AS "offset"
      ) clock
      WHERE sums.paid = 0
    ), ranked AS MATERIALIZED (
      SELECT open.*,
             row_number() OVER (PARTITION BY "amountCents", original, ids ? 'end_to_end_id', ids ? 'external_id',
                                  ids ->> 'bill_code', counterparty ORDER BY "createdAt", "expectedPaymentId") AS "placeOfSide",
             row_number() OVER (PARTITION BY "amountCents", original, ids ? 'end_to_end_id', ids ? 'external_id',
                                  ids ->> 'bill_code' ORDER BY "createdAt", "expectedPaymentId") AS "placeOfAmount"
      FROM open
    ), could AS (
      ${pairsOfAmount}
    )
    SELECT nsu, ${openColumns}, false AS "isOriginal", "isKnownToBank", "createdAt", "from", "until",
           CASE WHEN original = original_end_to_end_id THEN 'original'
                WHEN "isSameSide" THEN 'counterparty' END AS tie,
           CASE WHEN original = original_end_to_end_id THEN 'original_end_to_end_id' ELSE 'counterparty' END AS "referenceKind",
           COALESCE(CASE WHEN original = original_end_to_end_id THEN original ELSE counterparty END, '') AS "referenceValue"
    FROM could
    -- Both tell an id of one kind, and it is not the same: they are two.
    WHERE COALESCE(ids ->> 'idempotency_key' = idempotency_key, true)
      AND COALESCE(ids ->> 'end_to_end_id' = end_to_end_id, true)
      AND COALESCE(ids ->> 'nsu' = nsu::text, true)
      AND COALESCE(ids ->> 'movement_id' = movement_id, true)
      AND COALESCE(ids ->> 'external_id' = external_id, true)
      AND COALESCE(ids ->> 'bill_code' = bill_code, true)
      AND COALESCE(original = original_end_to_end_id, true)
      AND NOT ${isUnlinkedManually(Prisma.sql`"expectedPaymentId"`, Prisma.sql`could.nsu`, accountId)}
    ORDER BY nsu, "createdAt", "expectedPaymentId"`;
}

/** The condition of the index operation_unanswered, to the letter. */
export const isUnanswered = Prisma.sql`(o.state <> 'rejected' AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;
