// What a break could be about, found by what both sides share: for a line among what is expected, for what is expected
// among the lines that stand in breaks. By keys and within some weeks, so that a long book costs no more than a short one.
import type { Db } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { lineBreakKinds } from '../line-outcome.js';

const found = 200;
/** A line pays what was asked for in so many days before it, or is due that near. */
const window = Prisma.sql`interval '60 days'`;

export interface CandidateRow {
  expectedPaymentId: string | null;
  nsu: bigint | null;
  kind: string;
  amountCents: bigint | null;
  day: string;
  /** Discount, fine and interest of what is expected. */
  terms: string | null;
  dueDate: string | null;
  isSameDocument: boolean;
  isSameReference: boolean;
}

export interface LineSide {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  notes: string | null;
  correlationId: string | null;
  externalId: string | null;
  document: string | null;
  occurredAt: Date;
  endToEndId: string | null;
}

export async function findLine(db: Db, accountId: number, nsu: bigint): Promise<LineSide | null> {
  const [line] = await db.$queryRaw<LineSide[]>`
    SELECT nsu, is_credit AS "isCredit", amount_cents AS "amountCents", notes, correlation_id AS "correlationId",
           external_id AS "externalId", counterparty_document AS document, occurred_at AS "occurredAt",
           end_to_end_id AS "endToEndId"
    FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  return line ?? null;
}

/** What is still open and shares a document, an id or nearly the amount with a line. */
export async function listExpectedAlike(
  db: Db,
  accountId: number,
  line: LineSide,
  ids: string[],
): Promise<CandidateRow[]> {
  const { isCredit, amountCents, document, occurredAt } = line;
  return db.$queryRaw<CandidateRow[]>`
    WITH named AS (
      SELECT DISTINCT expected_payment_id AS id FROM expected_payment_reference
      WHERE account_id = ${accountId} AND value = ANY (${ids}::text[])
        AND kind = ANY (ARRAY['correlation_id', 'external_id', 'end_to_end_id', 'bill_code', 'movement_id'])
      LIMIT ${found}
    ), alike AS (
      (SELECT id FROM named)
      UNION
      (SELECT id FROM expected_payment
       WHERE account_id = ${accountId} AND counterparty_document = ${document}
       ORDER BY created_at DESC LIMIT ${found})
      UNION
      (SELECT id FROM expected_payment
       WHERE account_id = ${accountId} AND is_credit = ${isCredit}
         AND created_at BETWEEN ${occurredAt}::timestamptz - ${window} AND ${occurredAt}::timestamptz + ${window}
         AND amount_cents BETWEEN ${amountCents} * 9 / 10 AND ${amountCents} * 10 / 9
       ORDER BY abs(amount_cents - ${amountCents}), created_at DESC LIMIT ${found})
    )
    SELECT e.id AS "expectedPaymentId", NULL::bigint AS nsu, e.kind,
           CASE WHEN e.is_multi_use THEN e.amount_cents ELSE e.amount_cents - paid.cents END AS "amountCents",
           COALESCE(e.due_date, to_char(e.created_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')) AS day,
           e.terms, e.due_date AS "dueDate", e.counterparty_document IS NOT DISTINCT FROM ${document}
             AND e.counterparty_document IS NOT NULL AS "isSameDocument",
           named.id IS NOT NULL AS "isSameReference"
    FROM alike
    JOIN expected_payment e ON e.account_id = ${accountId} AND e.id = alike.id AND e.is_credit = ${isCredit}
    LEFT JOIN named ON named.id = e.id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents), 0)::bigint AS cents FROM match m
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL AND m.role = 'payment'
    ) paid
    WHERE e.is_multi_use OR e.amount_cents IS NULL OR paid.cents < e.amount_cents
    ORDER BY e.id LIMIT ${3 * found}`;
}

export interface ExpectedSide {
  id: string;
  isCredit: boolean;
  amountCents: bigint | null;
  paidCents: bigint;
  isMultiUse: boolean;
  document: string | null;
  day: string;
  references: string[];
}

export async function findExpected(
  db: Db,
  accountId: number,
  id: string,
): Promise<ExpectedSide | null> {
  const [expected] = await db.$queryRaw<ExpectedSide[]>`
    SELECT e.id, e.is_credit AS "isCredit", e.amount_cents AS "amountCents", paid.cents AS "paidCents",
           e.is_multi_use AS "isMultiUse", e.counterparty_document AS document,
           COALESCE(e.due_date, to_char(e.created_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')) AS day,
           ARRAY(SELECT value FROM expected_payment_reference
                 WHERE account_id = e.account_id AND expected_payment_id = e.id AND length(value) >= 6) AS "references"
    FROM expected_payment e
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents), 0)::bigint AS cents FROM match m
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL AND m.role = 'payment'
    ) paid
    WHERE e.account_id = ${accountId} AND e.id = ${id}::uuid`;
  return expected ?? null;
}

/** Lines in open breaks that share a document, an id or nearly the amount with what is expected. */
export async function listLinesAlike(
  db: Db,
  accountId: number,
  { isCredit, document, references }: ExpectedSide,
  wantedCents: bigint | null,
): Promise<CandidateRow[]> {
  return db.$queryRaw<CandidateRow[]>`
    SELECT NULL::text AS "expectedPaymentId", t.nsu, t.type_name AS kind, t.amount_cents AS "amountCents",
           to_char(t.occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day,
           NULL::text AS terms, NULL::text AS "dueDate",
           COALESCE(t.counterparty_document = ${document}, false) AS "isSameDocument",
           alike.is_named AS "isSameReference"
    FROM break b
    JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu AND t.is_credit = ${isCredit}
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM unnest(${references}::text[]) value
        WHERE value IN (t.correlation_id, t.external_id, t.end_to_end_id) OR position(value IN t.notes) > 0) AS is_named
    ) alike
    WHERE b.account_id = ${accountId} AND b.state = 'open' AND b.kind = ANY (${[...lineBreakKinds]}::text[])
      AND (alike.is_named OR t.counterparty_document = ${document}
           OR t.amount_cents BETWEEN ${wantedCents}::bigint * 9 / 10 AND ${wantedCents}::bigint * 10 / 9)
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
    ORDER BY abs(t.amount_cents - COALESCE(${wantedCents}::bigint, t.amount_cents)), t.nsu LIMIT ${found}`;
}
