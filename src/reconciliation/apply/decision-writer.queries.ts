// Reads what is stored about the lines of a component, and writes the differences, set-based. It is
// the only writer of matches, classifications and the totals of payments.
import {
  arrayColumns,
  jsonTexts,
  opaqueAccountId,
  opaqueArray,
  type SqlTx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import {
  isProvisional,
  provisionalNsus,
} from '../../statement/expected-payments/provisional.queries.js';
import { Prisma, type Classification, type Match } from '../../generated/service/client.js';
import {
  isSetBack,
  lastSyncBankTime,
} from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import { deadlineBreakKinds } from '../decide/break-kinds.js';
import type { NotedLine } from '../decide/debit-evidence.js';
import type { LineAllocation, UnmatchedOutcome } from '../decide/model.js';
import type { PaymentSums, PaymentTotal } from '../decide/totals.js';
import { newId } from '../../platform/ids.js';
import { insertDefaultRule } from '../load/rules.queries.js';

export type StoredMatch = Pick<
  Match,
  | 'id'
  | 'nsu'
  | 'expectedPaymentId'
  | 'amountCents'
  | 'role'
  | 'rule'
  | 'owedCents'
  | 'refundedCents'
  | 'ruleId'
  | 'ruleVersion'
>;

/** The live matches of these lines. */
export async function listStoredMatches(
  tx: SqlTx,
  accountId: number,
  nsus: bigint[],
): Promise<StoredMatch[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT m.id, m.nsu, m.expected_payment_id, m.amount_cents, m.role, m.rule, m.owed_cents,
           m.refunded_cents, m.rule_id, m.rule_version
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu
        AND unlinked_at IS NULL OFFSET 0
    ) m`;
}

/** Ends all matches of these lines: the matches of a line sum to it, at every moment. */
export async function unlinkMatches(
  tx: SqlTx,
  accountId: number,
  lines: { nsu: bigint; actor: string | null; reason: string | null }[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx.$executeRaw`
    UPDATE match
    SET unlinked_at = clock_timestamp(), unlinked_by = ended.actor, unlink_reason = ended.reason
    FROM unnest(
      ${lines.map(({ nsu }) => nsu)}::bigint[], ${lines.map(({ actor }) => actor)}::text[],
      ${lines.map(({ reason }) => reason)}::text[]) AS ended(nsu, actor, reason)
    WHERE match.account_id = ${opaqueAccountId(accountId)} AND match.nsu = ended.nsu
      AND match.unlinked_at IS NULL`;
}

export interface NewMatch {
  match: LineAllocation;
  amounts: Omit<MatchAmounts, 'id'>;
}

export async function insertMatches(tx: SqlTx, accountId: number, made: NewMatch[]): Promise<void> {
  if (made.length === 0) return;
  const column = arrayColumns(made);
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents,
      refunded_cents, role, rule, rule_id, rule_version, made_by, reason, evidence)
    SELECT ${accountId}, * FROM unnest(
      ${column(() => newId(), 'uuid')},
      ${column(({ match }) => match.nsu, 'bigint')},
      ${column(({ match }) => match.expectedPaymentId, 'uuid')},
      ${column(({ match }) => match.amountCents, 'bigint')},
      ${column(({ amounts }) => amounts.owedCents, 'bigint')},
      ${column(({ amounts }) => amounts.refundedCents, 'bigint')},
      ${column(({ match }) => match.role, 'match_role')},
      ${column(({ match }) => match.rule, 'text')},
      ${column(({ match }) => match.declared?.ruleId ?? null, 'uuid')},
      ${column(({ match }) => match.declared?.version ?? null, 'int')},
      ${column(({ match }) => match.linkedBy?.actor ?? null, 'text')},
      ${column(({ match }) => match.linkedBy?.reason ?? null, 'text')},
      ${jsonTexts(made.map(({ match }) => JSON.stringify(match.evidence)))}::jsonb[])`;
}

/** Which open payments debits may pay: of these lines, no others are stored. */
export async function writeCandidates(
  tx: SqlTx,
  accountId: number,
  lines: readonly { nsu: bigint; isCredit: boolean; version: number | null }[],
  wanted: readonly { nsu: bigint; expectedPaymentId: string }[],
): Promise<void> {
  const decided = lines.filter(({ isCredit, version }) => !isCredit && version !== null);
  if (decided.length + wanted.length === 0) return;
  const column = arrayColumns(wanted);
  const pairs = Prisma.sql`unnest(${column(({ nsu }) => nsu, 'bigint')},
    ${column(({ expectedPaymentId }) => expectedPaymentId, 'uuid')})`;
  const nsus = decided.map(({ nsu }) => nsu);
  await tx.$executeRaw`
    WITH ended AS (
      DELETE FROM line_candidate c
      WHERE c.account_id = ${opaqueAccountId(accountId)}
        AND c.nsu IN (SELECT unnest(${opaqueArray(nsus, 'bigint')}))
        AND (c.nsu, c.expected_payment_id) NOT IN (SELECT * FROM ${pairs})
    )
    INSERT INTO line_candidate (account_id, nsu, expected_payment_id)
    SELECT ${accountId}, pair.* FROM ${pairs} pair ON CONFLICT DO NOTHING`;
}

/** What was found of debits: of these lines, nothing else is stored. Returns whether one is new. */
export async function writeNotedDebits(
  tx: SqlTx,
  accountId: number,
  lines: readonly { nsu: bigint; isCredit: boolean; version: number | null }[],
  noted: readonly NotedLine[],
): Promise<boolean> {
  const decided = lines.filter(({ isCredit, version }) => !isCredit && version !== null);
  if (decided.length + noted.length === 0) return false;
  const nsus = decided.map(({ nsu }) => nsu);
  const changed = await tx.$executeRaw`
    WITH noted AS MATERIALIZED (
      SELECT * FROM unnest(${noted.map(({ nsu }) => nsu)}::bigint[],
        ${jsonTexts(noted.map(({ evidence }) => JSON.stringify(evidence)))}::jsonb[])
        AS one(nsu, evidence)
    ), ended AS (
      DELETE FROM noted_debit d
      WHERE d.account_id = ${opaqueAccountId(accountId)}
        AND d.nsu IN (SELECT unnest(${opaqueArray(nsus, 'bigint')}))
        AND d.nsu NOT IN (SELECT nsu FROM noted)
    )
    INSERT INTO noted_debit (account_id, nsu, evidence)
    SELECT ${accountId}, noted.* FROM noted WHERE evidence <> 'null'
    ON CONFLICT (account_id, nsu) DO UPDATE SET evidence = EXCLUDED.evidence
    WHERE noted_debit.evidence IS DISTINCT FROM EXCLUDED.evidence`;
  return changed > 0;
}

export type MatchAmounts = Pick<StoredMatch, 'id' | 'owedCents' | 'refundedCents'>;

/** The amount owed changes when an earlier payment becomes known, the refunded part by a refund. */
export async function updateMatchAmounts(
  tx: SqlTx,
  accountId: number,
  matches: MatchAmounts[],
): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    UPDATE match SET owed_cents = now.owed, refunded_cents = now.refunded
    FROM unnest(
      ${matches.map(({ id }) => id)}::uuid[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[],
      ${matches.map(({ refundedCents }) => refundedCents)}::bigint[]) AS now(id, owed, refunded)
    WHERE match.account_id = ${opaqueAccountId(accountId)} AND match.id = now.id`;
}

export type StoredClassification = Pick<
  Classification,
  'nsu' | 'category' | 'rule' | 'ruleId' | 'ruleVersion'
>;

export async function listStoredClassifications(
  tx: SqlTx,
  accountId: number,
  nsus: bigint[],
): Promise<StoredClassification[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT c.nsu, c.category, c.rule, c.rule_id, c.rule_version
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM classification
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) c`;
}

export async function deleteClassifications(
  tx: SqlTx,
  accountId: number,
  nsus: bigint[],
): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM classification
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])`;
}

type NewClassification = { nsu: bigint } & Extract<UnmatchedOutcome, { outcome: 'classified' }>;

export async function insertClassifications(
  tx: SqlTx,
  accountId: number,
  classified: NewClassification[],
): Promise<void> {
  if (classified.length === 0) return;
  const column = arrayColumns(classified);
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence, rule_id,
      rule_version)
    SELECT ${accountId}, * FROM unnest(
      ${column(({ nsu }) => nsu, 'bigint')}, ${column(({ rule }) => rule, 'text')},
      ${column(({ category }) => category, 'classification_category')},
      ${column(({ reason }) => reason, 'text')},
      ${jsonTexts(classified.map(({ evidence }) => JSON.stringify(evidence)))}::jsonb[],
      ${column(({ declared }) => declared?.ruleId ?? null, 'uuid')},
      ${column(({ declared }) => declared?.version ?? null, 'int')})`;
}

/** What these payments have come to so far. */
export async function listStoredSums(
  tx: SqlTx,
  accountId: number,
  expectedPaymentIds: readonly string[],
): Promise<(PaymentSums & { expectedPaymentId: string })[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw`
    SELECT total.* FROM unnest(${opaqueArray(expectedPaymentIds, 'uuid')}) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id, payment_count, paid_cents, reversed_cents, refunded_cents,
             unrefunded_cents
      FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = wanted.id OFFSET 0
    ) total`;
}

/** The total owed when the last payment that was not refunded in full was made, by payment. */
export async function listDecidingOwed(
  tx: SqlTx,
  accountId: number,
  expectedPaymentIds: readonly string[],
): Promise<Map<string, bigint | null>> {
  if (expectedPaymentIds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ id: string; owedCents: bigint | null }[]>`
    SELECT DISTINCT ON (m.expected_payment_id) m.expected_payment_id AS id, m.owed_cents
    FROM match m
    JOIN statement_line t ON t.account_id = m.account_id AND t.nsu = m.nsu
    WHERE m.account_id = ${opaqueAccountId(accountId)}
      AND m.expected_payment_id = ANY (${[...expectedPaymentIds]}::uuid[])
      AND m.unlinked_at IS NULL AND m.role = 'payment' AND m.refunded_cents < m.amount_cents
    ORDER BY m.expected_payment_id, t.occurred_at DESC, t.nsu DESC`;
  return new Map(rows.map(({ id, owedCents }) => [id, owedCents]));
}

export async function writeTotals(
  tx: SqlTx,
  accountId: number,
  totals: readonly (PaymentTotal & { expectedPaymentId: string })[],
): Promise<void> {
  if (totals.length === 0) return;
  const column = arrayColumns(totals);
  await tx.$executeRaw`
    INSERT INTO expected_payment_total AS total (account_id, expected_payment_id, payment_count,
      paid_cents, reversed_cents, refunded_cents, unrefunded_cents, settlement, last_payment_day,
      deadline)
    SELECT ${accountId}, * FROM unnest(
      ${column(({ expectedPaymentId }) => expectedPaymentId, 'uuid')},
      ${column(({ paymentCount }) => paymentCount, 'int')},
      ${column(({ paidCents }) => paidCents, 'bigint')},
      ${column(({ reversedCents }) => reversedCents, 'bigint')},
      ${column(({ refundedCents }) => refundedCents, 'bigint')},
      ${column(({ unrefundedCents }) => unrefundedCents, 'bigint')},
      ${column(({ settlement }) => settlement, 'settlement')},
      ${column(({ lastPaymentDay }) => lastPaymentDay, 'text')},
      ${column(({ deadline }) => deadline, 'timestamptz')})
    ON CONFLICT (account_id, expected_payment_id) DO UPDATE
    SET payment_count = EXCLUDED.payment_count,
        paid_cents = EXCLUDED.paid_cents, reversed_cents = EXCLUDED.reversed_cents,
        refunded_cents = EXCLUDED.refunded_cents, unrefunded_cents = EXCLUDED.unrefunded_cents,
        settlement = EXCLUDED.settlement, last_payment_day = EXCLUDED.last_payment_day,
        deadline = EXCLUDED.deadline
    WHERE (total.payment_count, total.paid_cents, total.reversed_cents, total.refunded_cents,
        total.unrefunded_cents, total.settlement, total.last_payment_day, total.deadline)
      IS DISTINCT FROM (EXCLUDED.payment_count, EXCLUDED.paid_cents, EXCLUDED.reversed_cents,
        EXCLUDED.refunded_cents, EXCLUDED.unrefunded_cents, EXCLUDED.settlement,
        EXCLUDED.last_payment_day, EXCLUDED.deadline)`;
}

/**
 * The credits in other accounts of the same holder whose money these debits sent: they are decided
 * again there. Of each account, the sender stores ids alone.
 */
export async function listCreditsElsewhere(
  tx: SqlTx,
  accountId: number,
  debits: bigint[],
): Promise<{ accountId: number; nsu: bigint }[]> {
  if (debits.length === 0) return [];
  // Not by account: a search in each account would cost the number of accounts for each debit.
  const isOwnCredit = Prisma.sql`t.is_credit AND t.has_one_holder
    AND t.account_id <> ${accountId} AND t.amount_cents = d.amount_cents`;
  return tx.$queryRaw`
    WITH debits AS MATERIALIZED (
      SELECT end_to_end_id, movement_id, amount_cents FROM statement_line
      WHERE account_id = ${accountId} AND nsu = ANY (${debits}::bigint[]) AND NOT is_credit
    )
    SELECT t.account_id, t.nsu FROM debits d
    JOIN statement_line t ON t.end_to_end_id = d.end_to_end_id AND ${isOwnCredit}
    UNION
    SELECT t.account_id, t.nsu FROM debits d
    JOIN statement_line t ON t.movement_id = d.movement_id AND ${isOwnCredit}`;
}

/** Of these lines, those whose decision by a rule is provisional. */
export async function listProvisionalLines(
  tx: SqlTx,
  accountId: number,
  nsus: readonly bigint[],
): Promise<bigint[]> {
  if (nsus.length === 0) return [];
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT nsu FROM (
      ${provisionalNsus(accountId, Prisma.sql`nsu = ANY (${[...nsus]}::bigint[])`)}
    ) provisional`;
  return rows.map(({ nsu }) => nsu);
}

/** The directions of the pending lines in the closed period: they may still compete with others. */
export async function listPendingDirections(
  tx: SqlTx,
  accountId: number,
  { closedFrom, closedUntil }: ClosedPeriod,
): Promise<boolean[]> {
  const rows = await tx.$queryRaw<{ isCredit: boolean }[]>`
    SELECT DISTINCT t.is_credit FROM line_outcome o
    CROSS JOIN LATERAL (
      SELECT is_credit, occurred_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = o.nsu OFFSET 0
    ) t
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.state = 'pending'
      AND t.occurred_at >= ${closedFrom} AND t.occurred_at < ${closedUntil}`;
  return rows.map(({ isCredit }) => isCredit);
}

/** Makes the provisional decisions of rules about these lines final. */
export async function makeFinal(tx: SqlTx, accountId: number, nsus: bigint[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE match SET final_at = clock_timestamp()
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND unlinked_at IS NULL AND ${isProvisional('match')}`;
  await tx.$executeRaw`
    UPDATE classification SET final_at = clock_timestamp()
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND ${isProvisional('classification')}`;
}

export interface DecidedUntil {
  decidedArrival: bigint;
  /** In bank time: every line before it is decided. */
  asOf: Date | null;
  /** `asOf` once the lines of the last complete sync are decided. */
  syncedAsOf: Date | null;
  /** `asOf` was ahead, by a clock that was read wrongly: what was missing may not be due yet. */
  isSetBack: boolean;
}

const syncedAsOf = Prisma.sql`CASE WHEN ${isSetBack} THEN ${lastSyncBankTime}
  ELSE GREATEST(r.as_of, ${lastSyncBankTime}) END`;

const neverDecided: DecidedUntil & ClosedPeriod = {
  ...{ decidedArrival: 0n, asOf: null, syncedAsOf: null, isSetBack: false },
  ...{ closedFrom: null, closedUntil: null },
};

/**
 * Locks the account's reconciliation until the end of the transaction. An account that was never
 * reconciled gets its default rule.
 */
export async function lockReconciliation(tx: SqlTx, accountId: number): Promise<void> {
  await readLocked(tx, accountId, () => Promise.resolve());
}

/**
 * The facts are looked up by keys that differ: a cache of rows by their keys would be built for
 * nothing, and took a fifth of the time of reading payments.
 */
export async function disableCaches(tx: SqlTx): Promise<void> {
  await tx.$executeRaw`SET LOCAL enable_memoize = off`;
}

/**
 * Takes the same lock, then reads. The statements of `read` are sent with the one that locks, and
 * each sees what was committed before the lock was taken.
 */
export async function readLocked<Result>(
  tx: SqlTx,
  accountId: number,
  read: () => Promise<Result>,
): Promise<Result> {
  const lock = () => tx.$queryRaw<{ accountId: number }[]>`
    SELECT account_id FROM reconciliation_state
    WHERE account_id = ${opaqueAccountId(accountId)} FOR NO KEY UPDATE`;
  const [, locked, result] = await Promise.all([disableCaches(tx), lock(), read()]);
  if (locked.length > 0) return result;
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id) VALUES (${accountId}) ON CONFLICT DO NOTHING`;
  await lock();
  await insertDefaultRule(tx, accountId);
  return read();
}

/**
 * The arrival up to which lines are decided, the bank time at which the last complete sync began,
 * whose lines are stored by now, and the closed period. Read after the lock was taken and the tasks
 * were claimed, so that no task of a later closing is taken with them, and before new lines are
 * listed, so that all lines that arrived before are among them.
 */
export async function readDecidedUntil(
  tx: SqlTx,
  accountId: number,
): Promise<DecidedUntil & { closed: ClosedPeriod }> {
  const [state] = await tx.$queryRaw<(DecidedUntil & ClosedPeriod)[]>`
    SELECT r.decided_arrival, r.as_of, s.closed_from, s.closed_until,
           COALESCE(${isSetBack}, false) AS "isSetBack", ${syncedAsOf} AS "syncedAsOf"
    FROM reconciliation_state r LEFT JOIN statement_state s ON s.account_id = r.account_id
    WHERE r.account_id = ${opaqueAccountId(accountId)}`;
  const { closedFrom, closedUntil, ...decided } = state ?? neverDecided;
  return { ...decided, closed: { closedFrom, closedUntil } };
}

/** The closed period, where nothing else about the statement is read. */
export async function readClosedStatement(db: Reader, accountId: number): Promise<ClosedPeriod> {
  const [state] = await db.$queryRaw<ClosedPeriod[]>`
    SELECT closed_from, closed_until FROM statement_state WHERE account_id = ${accountId}`;
  return state ?? { closedFrom: null, closedUntil: null };
}

/** The next lines that were never decided, in the order of their arrival. */
export async function listNewLines(
  tx: SqlTx,
  accountId: number,
  limit: number,
): Promise<{ nsu: bigint; arrival: bigint; isCredit: boolean }[]> {
  return tx.$queryRaw`
    SELECT nsu, arrival, is_credit FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND arrival > (
      SELECT decided_arrival FROM reconciliation_state
      WHERE account_id = ${opaqueAccountId(accountId)})
    ORDER BY arrival LIMIT ${limit}`;
}

/** Unpaid payments whose deadline has passed by `syncedAsOf`, the earliest first. */
export async function listPassedDeadlines(
  tx: SqlTx,
  accountId: number,
  limit: number,
): Promise<{ id: string; deadline: Date }[]> {
  return tx.$queryRaw`
    SELECT expected_payment_id AS id, deadline FROM expected_payment_total
    WHERE account_id = ${opaqueAccountId(accountId)} AND deadline <= (
      SELECT ${syncedAsOf}
      FROM reconciliation_state r LEFT JOIN statement_state s ON s.account_id = r.account_id
      WHERE r.account_id = ${opaqueAccountId(accountId)})
    ORDER BY deadline LIMIT ${limit}`;
}

/** The payments and bills that have a break since their deadline. */
export async function listFoundLate(tx: SqlTx, accountId: number): Promise<string[]> {
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT expected_payment_id AS id FROM break
    WHERE account_id = ${opaqueAccountId(accountId)} AND state = 'open'
      AND kind = ANY (${[...deadlineBreakKinds]}::text[]) AND expected_payment_id IS NOT NULL`;
  return found.map(({ id }) => id);
}

/** Stores how far the lines are decided: by arrival, and up to which bank time. */
export async function recordDecided(
  tx: SqlTx,
  accountId: number,
  { arrival, asOf }: { arrival: bigint; asOf: Date | null },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state
    SET decided_arrival = ${arrival}, as_of = ${asOf}
    WHERE account_id = ${opaqueAccountId(accountId)}`;
}
