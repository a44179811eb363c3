// Reads and writes the states of breaks that follow from a decision.
import { opaqueAccountId, type Tx } from '../database.service.js';
import { breaksToInsert, reportedColumns, type ReportedBreak } from './breaks.queries.js';
import type { OpenBreak, Resolution } from './decide/breaks.js';
import { decidedBreakKinds } from './decide/break-kinds.js';

export interface StoredBreak {
  id: string;
  kind: string;
  subject: string;
  state: 'open' | 'resolved';
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  evidence: object;
}

/** The breaks of these lines, expected payments and operations that a decision opens. */
export async function listStoredBreaks(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  expectedPaymentIds: string[],
  operationIds: string[],
): Promise<StoredBreak[]> {
  return tx.$queryRaw`
    SELECT b.id, b.kind, b.subject, b.state, b.amount_cents, b.nsu, b.expected_payment_id,
           b.evidence
    FROM (
      SELECT b.* FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
      CROSS JOIN LATERAL (
        SELECT * FROM break
        WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
      ) b
      UNION
      SELECT b.* FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT * FROM break
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = wanted.id OFFSET 0
      ) b
      UNION
      SELECT b.* FROM unnest(${operationIds}::uuid[]) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT * FROM break
        WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = wanted.id
          AND kind = 'unknown_outcome' OFFSET 0
      ) b
    ) b
    -- Breaks of days have another cause.
    WHERE b.kind = ANY (${[...decidedBreakKinds]}::text[]) AND b.subject NOT LIKE 'day:%'`;
}

/** Opens breaks, or opens resolved ones again: a break keeps the time of its first opening. */
export async function openDecidedBreaks(
  tx: Tx,
  accountId: number,
  breaks: readonly OpenBreak[],
): Promise<ReportedBreak[]> {
  if (breaks.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    ${breaksToInsert(accountId, breaks)}
    ON CONFLICT (account_id, kind, subject) DO UPDATE
    SET state = 'open', evidence = EXCLUDED.evidence,
        expected_payment_id = EXCLUDED.expected_payment_id,
        amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu
    WHERE break.state = 'resolved'
    RETURNING ${reportedColumns}`;
}

/** Resolves open breaks, each as a person, a policy or new evidence resolved it. */
export async function resolveDecidedBreaks(
  tx: Tx,
  accountId: number,
  ended: ({ id: string } & Resolution)[],
): Promise<ReportedBreak[]> {
  if (ended.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now(), resolution = ended.resolution,
      resolved_by = ended.actor, resolution_reason = ended.reason,
      amount_cents = COALESCE(ended.cents, break.amount_cents)
    FROM unnest(
      ${ended.map(({ id }) => id)}::uuid[],
      ${ended.map(({ resolution }) => resolution)}::text[],
      ${ended.map(({ actor }) => actor)}::text[], ${ended.map(({ reason }) => reason)}::text[],
      ${ended.map(({ cents }) => cents)}::bigint[]
    ) AS ended(id, resolution, actor, reason, cents)
    WHERE break.account_id = ${opaqueAccountId(accountId)} AND break.id = ended.id
      AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}
