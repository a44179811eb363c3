// SQL that loads the lines and expected payments that declared rules decide. Lines matched by
// reference or manually do not compete, nor do lines in closed periods that a rule has matched.
import { opaqueAccountId, type Db } from '../../database.service.js';
import { noteReferenceKinds } from '../../expected-payments/references.js';
import { Prisma } from '../../generated/service/client.js';
import { ruleCandidateKind } from '../decide/rule.js';
import { debitsRefundingLine } from '../../expected-payments/refunding-debits.queries.js';
import type { RuleExpectedPayment } from '../decide/rule.js';

/** For each document, only the newest expected payments are considered. */
const maxPerDocument = 5_000;

/** Whether `b` is the open break of a line that rules may decide. */
export const isUndecidedBreak = Prisma.sql`b.state = 'open' AND b.nsu IS NOT NULL AND (
  b.kind = 'unexpected'
  OR b.kind = 'ambiguous'
    AND b.evidence -> 'candidates' -> 0 ->> 'referenceKind' = ${ruleCandidateKind})`;

export const lineColumns = Prisma.sql`
  t.nsu, t.is_credit, t.amount_cents, t.type_name, t.occurred_at,
  t.counterparty, t.counterparty_document, t.notes,
  t.original_end_to_end_id IS NOT NULL AS "isRefundOrReversal",
  (SELECT min(refund.occurred_at)
   FROM (SELECT t.account_id, t.nsu, t.is_credit, t.end_to_end_id) line
   CROSS JOIN LATERAL (${debitsRefundingLine}) refund) AS "firstRefundedAt",
  ARRAY(
    SELECT undone.expected_payment_id::text FROM match undone
    WHERE undone.account_id = t.account_id AND undone.nsu = t.nsu
      AND undone.unlinked_by IS NOT NULL
    ORDER BY undone.expected_payment_id
  ) AS "unlinkedFrom"`;

export interface ComponentKeys {
  documents: string[];
  /** Ids that notes may contain. */
  referenceValues: string[];
  expectedPaymentIds: string[];
}

export const newestOfDocuments = (accountId: number, documents: readonly string[]) => Prisma.sql`
  SELECT newest.id FROM unnest(${[...documents]}::text[]) AS of_document(document)
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND counterparty_document = of_document.document AND withdrawn_at IS NULL
    ORDER BY created_at DESC, id DESC LIMIT ${maxPerDocument}
  ) newest`;

/**
 * Expected payments with one of these keys that are not withdrawn.
 * `paidCents` is what lines `t` pay whose matches rules do not decide again.
 */
export async function listRuleExpectedPayments(
  db: Db,
  accountId: number,
  { documents, referenceValues, expectedPaymentIds }: ComponentKeys,
  isDecidedAgain: Prisma.Sql,
): Promise<RuleExpectedPayment[]> {
  return db.$queryRaw<RuleExpectedPayment[]>`
    WITH wanted AS MATERIALIZED (
      ${newestOfDocuments(accountId, documents)}
      UNION
      SELECT r.expected_payment_id FROM unnest(${referenceValues}::text[]) AS reference(value)
      JOIN expected_payment_reference r ON r.account_id = ${opaqueAccountId(accountId)}
        AND r.kind = ANY (${noteReferenceKinds}::text[]) AND r.value = reference.value
      UNION
      SELECT * FROM unnest(${expectedPaymentIds}::uuid[])
    )
    SELECT e.id AS "expectedPaymentId", e.operation_id, e.kind, o.state AS "operationState",
           e.is_credit, e.amount_cents, e.due_date, e.terms, e.is_multi_use,
           e.counterparty_document, c.cancelled_at,
           COALESCE(e.created_at_bank_time, e.created_at) AS "createdAt",
           paid.cents AS "paidCents", paid.owed AS "owedCents", ids.reference_values
    FROM wanted
    JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = wanted.id
      AND e.withdrawn_at IS NULL
    LEFT JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    LEFT JOIN charge c ON c.account_id = e.account_id AND c.expected_payment_id = e.id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.unlinked_at IS NULL AND m.role = 'payment'
               AND NOT (m.rule = 'declared' AND ${isDecidedAgain})), 0)::bigint AS cents,
             (array_agg(m.owed_cents ORDER BY m.created_at DESC, m.id DESC) FILTER (
               WHERE m.unlinked_at IS NULL AND m.role = 'payment'
                 AND NOT (m.rule = 'declared' AND ${isDecidedAgain})))[1] AS owed
      FROM match m JOIN statement_line t ON t.account_id = m.account_id AND t.nsu = m.nsu
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
    ) paid
    CROSS JOIN LATERAL (
      SELECT COALESCE(array_agg(r.value ORDER BY r.value), '{}') AS reference_values
      FROM expected_payment_reference r
      WHERE r.account_id = e.account_id AND r.expected_payment_id = e.id
        AND r.kind = ANY (${noteReferenceKinds}::text[])
    ) ids`;
}
