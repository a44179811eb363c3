// SQL that finds the candidates of a break: expected payments for a line, and lines in open
// breaks for an expected payment. It searches by keys and within some weeks, so its cost does
// not grow with history.
import type { Db } from '../../database.service.js';
import { lineReferenceKinds } from '../../expected-payments/references.js';
import {
  Prisma,
  type ExpectedPayment,
  type StatementLine,
} from '../../generated/service/client.js';
import { lineBreakKinds } from '../decide/break-kinds.js';

const candidateLimit = 200;
/** How far a line and the creation of an expected payment may be apart. */
const window = Prisma.sql`interval '60 days'`;

export interface CandidateRow {
  expectedPaymentId: string | null;
  nsu: bigint | null;
  kind: string;
  amountCents: bigint | null;
  day: string;
  /** Discount, fine and interest of the expected payment. */
  terms: string | null;
  dueDate: string | null;
  isSameDocument: boolean;
  isSameReference: boolean;
}

/** Open expected payments that share a document, an id or nearly the amount with a line. */
export async function listSimilarExpectedPayments(
  db: Db,
  accountId: number,
  line: StatementLine,
  ids: string[],
): Promise<CandidateRow[]> {
  const { isCredit, amountCents, counterpartyDocument: document, occurredAt } = line;
  return db.$queryRaw<CandidateRow[]>`
    WITH referenced AS (
      SELECT DISTINCT expected_payment_id AS id FROM expected_payment_reference
      WHERE account_id = ${accountId} AND value = ANY (${ids}::text[])
        AND kind = ANY (${lineReferenceKinds.map(({ kind }) => kind)}::text[])
      LIMIT ${candidateLimit}
    ), similar_payment AS (
      (SELECT id FROM referenced)
      UNION
      (SELECT id FROM expected_payment
       WHERE account_id = ${accountId} AND counterparty_document = ${document}
       ORDER BY created_at DESC LIMIT ${candidateLimit})
      UNION
      (SELECT id FROM expected_payment
       WHERE account_id = ${accountId} AND is_credit = ${isCredit}
         AND created_at BETWEEN ${occurredAt}::timestamptz - ${window}
           AND ${occurredAt}::timestamptz + ${window}
         AND amount_cents BETWEEN ${amountCents} * 9 / 10 AND ${amountCents} * 10 / 9
       ORDER BY abs(amount_cents - ${amountCents}), created_at DESC LIMIT ${candidateLimit})
    )
    SELECT e.id AS "expectedPaymentId", NULL::bigint AS nsu, e.kind,
           CASE WHEN e.is_multi_use THEN e.amount_cents
                ELSE e.amount_cents - paid.cents END AS "amountCents",
           COALESCE(e.due_date,
             to_char(e.created_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')) AS day,
           e.terms, e.due_date,
           e.counterparty_document IS NOT DISTINCT FROM ${document}
             AND e.counterparty_document IS NOT NULL AS "isSameDocument",
           referenced.id IS NOT NULL AS "isSameReference"
    FROM similar_payment
    JOIN expected_payment e ON e.account_id = ${accountId} AND e.id = similar_payment.id
      AND e.is_credit = ${isCredit}
    LEFT JOIN referenced ON referenced.id = e.id
    LEFT JOIN expected_payment_total total
      ON total.account_id = e.account_id AND total.expected_payment_id = e.id
    CROSS JOIN LATERAL (SELECT COALESCE(total.paid_cents, 0) AS cents) paid
    WHERE e.is_multi_use OR e.amount_cents IS NULL OR paid.cents < e.amount_cents
    ORDER BY e.id LIMIT ${3 * candidateLimit}`;
}

/**
 * Lines in open breaks that share a document, an id or nearly the amount with an expected
 * payment.
 */
export async function listSimilarLines(
  db: Db,
  accountId: number,
  expected: Pick<ExpectedPayment, 'isCredit' | 'counterpartyDocument'> & {
    wantedCents: bigint | null;
    /** Ids that the line may carry, or contain in its notes. */
    ids: string[];
  },
): Promise<CandidateRow[]> {
  const { isCredit, counterpartyDocument: document, wantedCents, ids } = expected;
  return db.$queryRaw<CandidateRow[]>`
    SELECT NULL::text AS "expectedPaymentId", t.nsu, t.type_name AS kind,
           t.amount_cents,
           to_char(t.occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day,
           NULL::text AS terms, NULL::text AS "dueDate",
           COALESCE(t.counterparty_document = ${document}, false) AS "isSameDocument",
           shared.is_referenced AS "isSameReference"
    FROM break b
    JOIN statement_line t
      ON t.account_id = b.account_id AND t.nsu = b.nsu AND t.is_credit = ${isCredit}
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM unnest(${ids}::text[]) value
        WHERE value IN (t.correlation_id, t.external_id, t.end_to_end_id)
          OR position(value IN t.notes) > 0) AS is_referenced
    ) shared
    WHERE b.account_id = ${accountId} AND b.state = 'open'
      AND b.kind = ANY (${[...lineBreakKinds]}::text[])
      AND (shared.is_referenced OR t.counterparty_document = ${document}
           OR t.amount_cents BETWEEN ${wantedCents}::bigint * 9 / 10
             AND ${wantedCents}::bigint * 10 / 9)
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
    ORDER BY abs(t.amount_cents - COALESCE(${wantedCents}::bigint, t.amount_cents)), t.nsu
    LIMIT ${candidateLimit}`;
}
