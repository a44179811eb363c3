// Breaks: opened once per kind and subject, and resolved when the stored facts no longer show their
// cause.
import { v7 as uuidv7 } from 'uuid';
import { opaqueAccountId, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { statementBreakKinds } from './decide/break-kinds.js';

export interface NewBreak {
  kind: string;
  /** A break is unique by kind and subject. */
  subject: string;
  amountCents: bigint | null;
  /** The line that the break is about, or that shows its cause; null when there is none. */
  nsu: bigint | null;
  expectedPaymentId?: string | null;
  /** The operation that the break itself is about. */
  operationId?: string;
  evidence: object;
  /** Reopens the break even if the amount is not larger: the person resolved another amount. */
  isBeyondSettlement?: boolean;
}

/** A break whose state has changed, for its event. */
export interface ReportedBreak {
  id: string;
  kind: string;
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  /** Null while the break is open. */
  resolution: string | null;
}

export const reportedColumns = Prisma.sql`
  break.id, break.kind, break.amount_cents, break.nsu,
  break.expected_payment_id, break.resolution`;

/** Resolves the open breaks of a kind and these subjects automatically. */
export async function resolveBreaks(
  tx: Tx,
  accountId: number,
  kind: string,
  subjects: string[],
): Promise<ReportedBreak[]> {
  if (subjects.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    WHERE account_id = ${opaqueAccountId(accountId)} AND kind = ${kind}
      AND subject = ANY (${subjects}::text[]) AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/** The bank's clock minus the database's clock. */
const clockOffsetOf = (accountId: number) => Prisma.sql`COALESCE(
  (SELECT clock_offset_ms FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}),
    0) * interval '1 millisecond'`;

/** Inserts open breaks. Its caller says what happens to a break that exists already. */
export const breaksToInsert = (accountId: number, breaks: readonly NewBreak[]) => Prisma.sql`
  INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, expected_payment_id,
    operation_id, evidence, opened_day)
  SELECT ${accountId}, b.id, b.kind, 'open', b.subject, b.amount_cents, b.nsu,
         b.expected_payment_id, b.operation_id, b.evidence,
         to_char((now() + ${clockOffsetOf(accountId)}) AT TIME ZONE 'America/Sao_Paulo',
           'YYYY-MM-DD')
  FROM unnest(
    ${breaks.map(() => uuidv7())}::uuid[], ${breaks.map(({ kind }) => kind)}::text[],
    ${breaks.map(({ subject }) => subject)}::text[],
    ${breaks.map(({ amountCents }) => amountCents)}::bigint[],
    ${breaks.map(({ nsu }) => nsu)}::bigint[],
    ${breaks.map(({ expectedPaymentId = null }) => expectedPaymentId)}::uuid[],
    ${breaks.map(({ operationId = null }) => operationId)}::uuid[],
    ${breaks.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
  ) AS b(id, kind, subject, amount_cents, nsu, expected_payment_id, operation_id, evidence)`;

/**
 * Opens each break once. A break resolved automatically is reopened. A break that a person accepted
 * or refunded is reopened for a larger amount; its history records the amount before and after.
 */
export async function insertBreaks(
  tx: Tx,
  accountId: number,
  breaks: NewBreak[],
): Promise<ReportedBreak[]> {
  if (breaks.length === 0) return [];
  const beyond = breaks.filter(({ isBeyondSettlement }) => isBeyondSettlement);
  return tx.$queryRaw<ReportedBreak[]>`
    ${breaksToInsert(accountId, breaks)}
    ON CONFLICT (account_id, kind, subject) DO UPDATE
    SET state = 'open', resolved_at = NULL, evidence = EXCLUDED.evidence,
        expected_payment_id = EXCLUDED.expected_payment_id,
        amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu
    WHERE break.state = 'resolved' AND break.kind = ANY (${[...statementBreakKinds]})
      AND (break.resolution = 'automatic'
      OR break.resolution IN ('accept', 'refund') AND (EXCLUDED.amount_cents > break.amount_cents
        OR (break.kind, break.subject) IN (SELECT * FROM unnest(
          ${beyond.map(({ kind }) => kind)}::text[],
            ${beyond.map(({ subject }) => subject)}::text[]))))
    RETURNING ${reportedColumns}`;
}

/** Updates open breaks whose amount, line, expected payment or evidence has changed. */
export async function reviseBreaks(tx: Tx, accountId: number, breaks: NewBreak[]): Promise<void> {
  if (breaks.length === 0) return;
  await tx.$executeRaw`
    UPDATE break
    SET amount_cents = b.amount_cents, nsu = b.nsu, expected_payment_id = b.expected_payment_id,
      evidence = b.evidence
    FROM unnest(
      ${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ subject }) => subject)}::text[],
      ${breaks.map(({ amountCents }) => amountCents)}::bigint[],
      ${breaks.map(({ nsu }) => nsu)}::bigint[],
      ${breaks.map(({ expectedPaymentId = null }) => expectedPaymentId)}::uuid[],
      ${breaks.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
    ) AS b(kind, subject, amount_cents, nsu, expected_payment_id, evidence)
    WHERE break.account_id = ${opaqueAccountId(accountId)} AND break.kind = b.kind
      AND break.subject = b.subject AND break.state = 'open'
      AND (break.amount_cents, break.nsu, break.expected_payment_id, break.evidence)
        IS DISTINCT FROM (b.amount_cents, b.nsu, b.expected_payment_id, b.evidence)`;
}
