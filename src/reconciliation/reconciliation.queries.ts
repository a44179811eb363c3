// Reconciliation's SQL: lines and candidates are gathered by key look-ups, a batch at a time, and verdicts are
// inserted in one statement each. Neither side of a match is updated.
import { v7 as uuidv7 } from 'uuid';
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Candidate, JudgedLine, Verdict } from './match.js';

/** A line with what its events tell. */
export interface ArrivedLine extends JudgedLine {
  arrival: bigint;
  typeName: string;
  correlationId: string | null;
  endToEndId: string | null;
}

/** Takes the account's judgement for the rest of the transaction: one judges at a time. */
export async function lockJudgement(tx: Tx, accountId: number): Promise<bigint> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id) VALUES (${accountId}) ON CONFLICT (account_id) DO NOTHING`;
  const [state] = await tx.$queryRaw<{ judged: bigint }[]>`
    SELECT judged_arrival AS judged FROM reconciliation_state WHERE account_id = ${accountId} FOR UPDATE`;
  return state?.judged ?? 0n;
}

export async function listUnjudged(
  tx: Tx,
  accountId: number,
  afterArrival: bigint,
  limit: number,
): Promise<ArrivedLine[]> {
  return tx.$queryRaw<ArrivedLine[]>`
    SELECT nsu, arrival, is_credit AS "isCredit", amount_cents AS "amountCents", type_name AS "typeName",
           correlation_id AS "correlationId", end_to_end_id AS "endToEndId",
           occurred_at AS "occurredAt"
    FROM "transaction" WHERE account_id = ${accountId} AND arrival > ${afterArrival}
    ORDER BY arrival LIMIT ${limit}`;
}

/** What the references on the lines name. */
export async function gatherCandidates(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<(Candidate & { nsu: bigint })[]> {
  return tx.$queryRaw`
    SELECT t.nsu, e.id AS "expectedPaymentId", e.is_credit AS "isCredit", e.amount_cents AS "amountCents",
           e.is_multi_use AS "isMultiUse", e.due_date AS "dueDate", e.terms, e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           paid.cents AS "paidCents", named.kind AS "referenceKind", named.value AS "referenceValue"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN "transaction" t ON t.account_id = ${accountId} AND t.nsu = wanted.nsu
    CROSS JOIN LATERAL (VALUES ('correlation_id', t.correlation_id), ('end_to_end_id', t.end_to_end_id),
                               ('external_id', t.external_id)) AS named(kind, value)
    CROSS JOIN LATERAL (
      SELECT r.expected_payment_id FROM expected_payment_reference r
      WHERE r.account_id = ${accountId} AND r.kind = named.kind AND r.value = named.value
    ) r
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${accountId} AND id = r.expected_payment_id
    ) e
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents), 0)::bigint AS cents FROM match m
      WHERE m.account_id = ${accountId} AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
    ) paid
    ORDER BY t.nsu, named.kind, e.id`;
}

type Of<Kind extends Verdict['verdict']> = Extract<Verdict, { verdict: Kind }>;

export async function insertMatches(
  tx: Tx,
  accountId: number,
  matches: (Of<'matched'> & { id: string })[],
): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, rule, evidence)
    SELECT ${accountId}, * FROM unnest(
      ${matches.map(({ id }) => id)}::uuid[], ${matches.map(({ nsu }) => nsu)}::bigint[],
      ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[], ${matches.map(({ rule }) => rule)}::text[],
      ${matches.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[])`;
}

export async function insertClassifications(
  tx: Tx,
  accountId: number,
  classified: Of<'classified'>[],
): Promise<void> {
  if (classified.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule)
    SELECT ${accountId}, * FROM unnest(
      ${classified.map(({ nsu }) => nsu)}::bigint[], ${classified.map(({ rule }) => rule)}::text[])`;
}

export interface NewBreak {
  kind: string;
  /** What it is about: one break a kind and subject. */
  subject: string;
  amountCents: bigint | null;
  /** The line that it holds up; null when it holds up none. */
  nsu: bigint | null;
  evidence: object;
}

/** Opens breaks, each once. */
export async function insertBreaks(tx: Tx, accountId: number, breaks: NewBreak[]): Promise<void> {
  if (breaks.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence)
    SELECT ${accountId}, b.id, b.kind, 'open', b.subject, b.amount_cents, b.nsu, b.evidence
    FROM unnest(
      ${breaks.map(() => uuidv7())}::uuid[], ${breaks.map(({ kind }) => kind)}::text[],
      ${breaks.map(({ subject }) => subject)}::text[],
      ${breaks.map(({ amountCents }) => amountCents)}::bigint[], ${breaks.map(({ nsu }) => nsu)}::bigint[],
      ${breaks.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
    ) AS b(id, kind, subject, amount_cents, nsu, evidence)
    ON CONFLICT (account_id, kind, subject) DO NOTHING`;
}

// Conditions on a line set aside (u) and on an operation (o), for whoever lists them and whoever looks for any.
const lineIsUntold = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'unreadable_line'
    AND b.subject = 'line:' || u.content_hash)`;
const outcomeIsUntold = Prisma.sql`o.state = 'needs_operator' AND NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = o.account_id AND b.kind = 'unknown_outcome'
    AND b.subject = 'operation:' || o.id)`;

/** What was set aside, and what nobody knows the end of, without a break yet. */
export async function listUntold(db: Db, accountId: number): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    SELECT 'unreadable_line' AS kind, 'line:' || u.content_hash AS subject, NULL::bigint AS "amountCents",
           NULL::bigint AS nsu,
           jsonb_build_object('kind', u.kind, 'reason', u.reason, 'nsu', u.nsu::text) AS evidence
    FROM unreadable_line u
    WHERE u.account_id = ${accountId} AND ${lineIsUntold}
    UNION ALL
    SELECT 'unknown_outcome', 'operation:' || o.id, e.amount_cents, NULL,
           jsonb_build_object('operationId', o.id, 'operationKind', o.kind, 'reason', o.reason,
                              'attempts', o.attempts)
    FROM operation o
    LEFT JOIN LATERAL (
      SELECT sum(amount_cents)::bigint AS amount_cents FROM expected_payment
      WHERE account_id = o.account_id AND operation_id = o.id
    ) e ON true
    WHERE o.account_id = ${accountId} AND ${outcomeIsUntold}
    LIMIT 1000`;
}

export async function recordJudged(tx: Tx, accountId: number, arrival: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state SET judged_arrival = ${arrival}, judged_at = now()
    WHERE account_id = ${accountId}`;
}

/** The charge that an expected payment is of, where it is one. */
export async function listChargesOf(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<
  { expectedPaymentId: string; correlationId: string; type: string; amountCents: bigint | null }[]
> {
  return tx.$queryRaw`
    SELECT expected_payment_id AS "expectedPaymentId", correlation_id AS "correlationId", type,
           amount_cents AS "amountCents"
    FROM charge
    WHERE account_id = ${accountId} AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
}

/** Accounts with something that nobody has judged. */
export async function listUnjudgedAccounts(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN reconciliation_state s ON s.account_id = a.id
    WHERE EXISTS (
      SELECT 1 FROM "transaction" t
      WHERE t.account_id = a.id AND t.arrival > COALESCE(s.judged_arrival, 0)
    ) OR EXISTS (
      SELECT 1 FROM unreadable_line u WHERE u.account_id = a.id AND ${lineIsUntold}
    ) OR EXISTS (
      SELECT 1 FROM operation o WHERE o.account_id = a.id AND ${outcomeIsUntold}
    )`;
}
