// What declared rules are held against: the lines that compete for what is owed, and what is owed. Lines that ids or a
// person explain do not compete, nor those whose rule's match stands in a closed window.
import { opaqueAccountId, type Db, type Tx } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { debitsRefundingLine } from '../original-credits.queries.js';
import type { ArrivedLine } from '../outcomes.queries.js';
import type { RuledExpected, RuledLine } from './rule.js';
import { cancelledSince } from './rules.queries.js';

/** Of one payer, the newest so many are looked at. */
const mostOfOne = 5_000;
/** How a break says that a rule could not decide between expected payments. */
export const namedByRule = 'expected_payment';

/**
 * Where what a rule says of the line `t` may still become another. What it paid of a charge that was cancelled since it
 * paid: of a cancelled one nothing is awaited that could be weighed again.
 */
export const isProvisional = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM statement_state s
  WHERE s.account_id = t.account_id AND t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until
) AND NOT EXISTS (
  SELECT 1 FROM match held
  JOIN charge c ON c.account_id = held.account_id AND c.expected_payment_id = held.expected_payment_id
  WHERE held.account_id = t.account_id AND held.nsu = t.nsu AND held.rule = 'declared' AND held.unlinked_at IS NULL
    AND c.cancelled_at IS NOT NULL)`;

export const isStanding = Prisma.sql`b.state = 'open' AND b.nsu IS NOT NULL AND (b.kind = 'unexpected'
  OR b.kind = 'ambiguous' AND b.evidence -> 'candidates' -> 0 ->> 'referenceKind' = ${namedByRule})`;

/** Lines that no id explains, with the kind of the break that they stand in; null for those that a rule explains. */
function competing(accountId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT b.nsu, b.kind AS standing FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.kind IN ('unexpected', 'ambiguous') AND ${isStanding}
    UNION ALL
    SELECT DISTINCT m.nsu, NULL FROM match m
    WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.rule = 'declared' AND m.unlinked_at IS NULL
    UNION ALL
    SELECT c.nsu, NULL FROM classification c WHERE c.account_id = ${opaqueAccountId(accountId)} AND c.rule = 'declared'`;
}

/** Of those `c` with their line `t`, asked only of the lines that are wanted. */
const mayChange = Prisma.sql`(c.standing IS NOT NULL OR (${isProvisional}))`;

export const lineColumns = Prisma.sql`
  t.nsu, t.arrival, t.is_credit AS "isCredit", t.amount_cents AS "amountCents", t.type_name AS "typeName",
  t.correlation_id AS "correlationId", t.end_to_end_id AS "endToEndId",
  t.original_end_to_end_id AS "originalEndToEndId", t.occurred_at AS "occurredAt", t.counterparty,
  t.counterparty_document AS "counterpartyDocument", t.notes, t.original_end_to_end_id IS NOT NULL AS "givesBack",
  (SELECT min(gone.recorded_at) FROM (SELECT t.account_id, t.nsu, t.is_credit, t.end_to_end_id) line
   CROSS JOIN LATERAL (${debitsRefundingLine}) gone) AS "wentBackAt",
  ARRAY(
    SELECT undone.expected_payment_id::text FROM match undone
    WHERE undone.account_id = t.account_id AND undone.nsu = t.nsu AND undone.unlinked_by IS NOT NULL
    ORDER BY undone.expected_payment_id
  ) AS "unlinkedFrom",
  'new' AS "source", false AS "isFresh"`;

export interface CompetingLine extends RuledLine, ArrivedLine {
  /** The kind of the break that it stands in; null where it stands in none. */
  standing: 'unexpected' | 'ambiguous' | null;
}

/** Lines of a batch as rules read them: they stand in no break yet. */
export async function listLines(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<CompetingLine[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw<CompetingLine[]>`
    SELECT ${lineColumns}, NULL AS standing FROM statement_line t
    WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = ANY (${nsus}::bigint[])`;
}

export interface Keys {
  nsus: bigint[];
  documents: string[];
  /** Ids of ours that notes may name. */
  names: string[];
  expectedPaymentIds: string[];
}

/** Competing lines with one of these keys. */
export async function listCompeting(
  tx: Tx,
  accountId: number,
  keys: Keys,
): Promise<CompetingLine[]> {
  const { nsus, documents, names, expectedPaymentIds } = keys;
  if (Object.values(keys).every(({ length }: unknown[]) => length === 0)) return [];
  return tx.$queryRaw<CompetingLine[]>`
    WITH competing AS MATERIALIZED (${competing(accountId)})
    SELECT ${lineColumns}, c.standing FROM competing c
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = c.nsu
    WHERE ${mayChange} AND (t.nsu = ANY (${nsus}::bigint[]) OR t.counterparty_document = ANY (${documents}::text[])
      OR EXISTS (SELECT 1 FROM unnest(${names}::text[]) AS named(name) WHERE strpos(t.notes, named.name) > 0)
      OR t.nsu IN (
        SELECT m.nsu FROM match m
        WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.expected_payment_id = ANY (${expectedPaymentIds}::uuid[])
          AND m.rule = 'declared' AND m.unlinked_at IS NULL))`;
}

/** What these pages of standing and provisional lines begin with, in the order of nsu. */
export async function pageCompeting(
  tx: Tx,
  accountId: number,
  { after, limit }: { after: bigint; limit: number },
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT c.nsu FROM (${competing(accountId)}) c
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = c.nsu
    WHERE c.nsu > ${after} AND ${mayChange} ORDER BY c.nsu LIMIT ${limit}`;
  return rows.map(({ nsu }) => nsu);
}

/** Standing lines that what is expected since, or can be paid no more, may concern, as far as rules reach. */
export async function pageConcerned(
  tx: Tx,
  accountId: number,
  { after, limit, since, byNotes }: { after: bigint; limit: number; since: Date; byNotes: boolean },
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    WITH cancelled AS MATERIALIZED (
      SELECT e.id, e.counterparty_document FROM (${cancelledSince(accountId, Prisma.sql`${since}::timestamptz`)}) c
      JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = c.expected_payment_id
    )
    SELECT c.nsu FROM (${competing(accountId)}) c
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = c.nsu
    WHERE c.nsu > ${after} AND ${mayChange} AND (t.counterparty_document IN (
      SELECT counterparty_document FROM cancelled
    ) OR EXISTS (
      SELECT 1 FROM expected_payment e
      WHERE e.account_id = ${opaqueAccountId(accountId)} AND e.counterparty_document = t.counterparty_document
        AND (e.created_at > ${since} OR e.withdrawn_at > ${since})
    ) OR ${byNotes} AND EXISTS (
      SELECT 1 FROM regexp_split_to_table(t.notes, '[[:space:],;:()]+') AS word
      JOIN expected_payment_reference r ON r.account_id = ${opaqueAccountId(accountId)}
        AND r.kind IN ('correlation_id', 'external_id') AND r.value = btrim(word, '.-_/#!?')
      JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
      WHERE e.created_at > ${since} OR e.withdrawn_at > ${since} OR e.id IN (SELECT id FROM cancelled)
    ))
    ORDER BY c.nsu LIMIT ${limit}`;
  return rows.map(({ nsu }) => nsu);
}

/**
 * What is expected by these keys and not withdrawn, less what is paid of it for good: by lines `t` of which rules do not
 * decide again.
 */
export async function listExpected(
  db: Db,
  accountId: number,
  { documents, names, expectedPaymentIds }: Keys,
  isDecidedAgain: Prisma.Sql = isProvisional,
): Promise<RuledExpected[]> {
  return db.$queryRaw<RuledExpected[]>`
    WITH asked AS MATERIALIZED (
      SELECT newest.id FROM unnest(${documents}::text[]) AS of_document(document)
      CROSS JOIN LATERAL (
        SELECT id FROM expected_payment
        WHERE account_id = ${opaqueAccountId(accountId)} AND counterparty_document = of_document.document AND withdrawn_at IS NULL
        ORDER BY created_at DESC, id DESC LIMIT ${mostOfOne}
      ) newest
      UNION
      SELECT r.expected_payment_id FROM unnest(${names}::text[]) AS named(name)
      JOIN expected_payment_reference r ON r.account_id = ${opaqueAccountId(accountId)}
        AND r.kind IN ('correlation_id', 'external_id') AND r.value = named.name
      UNION
      SELECT * FROM unnest(${expectedPaymentIds}::uuid[])
    )
    SELECT e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind, o.state AS "operationState",
           e.is_credit AS "isCredit", e.amount_cents AS "amountCents", e.due_date AS "dueDate", e.terms,
           e.is_multi_use AS "isMultiUse", e.counterparty_document AS "counterpartyDocument",
           e.created_at AS "createdAt", paid.cents AS "paidCents", paid.owed AS "owedCents", told.names
    FROM asked
    JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = asked.id AND e.withdrawn_at IS NULL
    LEFT JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.unlinked_at IS NULL AND m.role = 'payment'
               AND NOT (m.rule = 'declared' AND ${isDecidedAgain})), 0)::bigint AS cents,
             (array_agg(m.owed_cents ORDER BY m.created_at DESC, m.id DESC) FILTER (WHERE m.unlinked_at IS NULL
               AND m.role = 'payment' AND NOT (m.rule = 'declared' AND ${isDecidedAgain})))[1] AS owed
      FROM match m JOIN statement_line t ON t.account_id = m.account_id AND t.nsu = m.nsu
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
    ) paid
    CROSS JOIN LATERAL (
      SELECT COALESCE(array_agg(r.value ORDER BY r.value), '{}') AS names FROM expected_payment_reference r
      WHERE r.account_id = e.account_id AND r.expected_payment_id = e.id
        AND r.kind IN ('correlation_id', 'external_id')
    ) told
    WHERE NOT EXISTS (
      SELECT 1 FROM charge c
      WHERE c.account_id = e.account_id AND c.expected_payment_id = e.id AND c.cancelled_at IS NOT NULL)`;
}

export const noKeys: Keys = { nsus: [], documents: [], names: [], expectedPaymentIds: [] };

export interface Declared {
  nsu: bigint;
  ruleId: string;
  /** Null where the line is classified. */
  expectedPaymentId: string | null;
  amountCents: bigint | null;
  owedCents: bigint | null;
  category: string | null;
}

/** What these lines are by rules as the book stands. */
export async function listDeclared(db: Db, accountId: number, nsus: bigint[]): Promise<Declared[]> {
  if (nsus.length === 0) return [];
  return db.$queryRaw<Declared[]>`
    SELECT nsu, rule_id AS "ruleId", expected_payment_id AS "expectedPaymentId", amount_cents AS "amountCents",
           owed_cents AS "owedCents", NULL AS category
    FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND rule = 'declared' AND unlinked_at IS NULL
    UNION ALL
    SELECT nsu, rule_id, NULL, NULL, NULL, category FROM classification
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND rule = 'declared'`;
}

/** Rules explain these lines so no more; whole lines, as their matches add up to them. What was paid by them. */
export async function takeBackDeclared(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<string[]> {
  if (nsus.length === 0) return [];
  await tx.$executeRaw`
    DELETE FROM classification
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND rule = 'declared'`;
  const rows = await tx.$queryRaw<{ id: string }[]>`
    UPDATE match SET unlinked_at = now(), unlink_reason = 'The rules say otherwise by now.'
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND rule = 'declared' AND unlinked_at IS NULL
    RETURNING expected_payment_id AS id`;
  return rows.map(({ id }) => id);
}
