// Breaks: opened once per kind and subject, and resolved when the stored facts no longer show their
// cause. Those of the statement itself (a broken balance chain, a balance that differs from the
// last line, unreadable lines) follow from the state that the sync stores, and those of disputes
// from what the bank's webhooks reported.
import {
  arrayColumns,
  jsonTexts,
  opaqueAccountId,
  type Tx,
  type SqlTx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { metadataOfRow } from '../../statement/expected-payments/metadata.queries.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { Prisma, type Break } from '../../generated/service/client.js';
import { bankTimeNow, statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { ReplacedHash } from '../../statement/lines/line-erasure.queries.js';
import {
  reopenedBreakKinds,
  statementBreakKinds,
  type StatementBreakKind,
} from '../decide/break-kinds.js';
import type { OpenBreak, Resolution } from '../decide/breaks.js';
import { newId } from '../../platform/ids.js';

export type NewBreak = Omit<OpenBreak, 'expectedPaymentId'> & {
  expectedPaymentId?: string | null;
  /** Reopens the break even if the amount is not larger: the person resolved another amount. */
  isBeyondSettlement?: boolean;
};

/** A break whose state has changed, for its event. Its resolution is null while it is open. */
export type ReportedBreak = Pick<
  Break,
  'id' | 'kind' | 'amountCents' | 'nsu' | 'expectedPaymentId' | 'operationId' | 'resolution'
> & {
  /** Of the expected payment; null where it has none. */
  correlationId: string | null;
  externalId: string | null;
  metadata: Metadata | null;
};

/** Of most breaks nothing is looked up: they are about a line. */
const ofPayment = (value: Prisma.Sql) =>
  Prisma.sql`CASE WHEN break.expected_payment_id IS NOT NULL THEN ${value} END`;

const referenceOfBreak = (kind: string) =>
  ofPayment(Prisma.sql`(
    SELECT min(value) FROM expected_payment_reference
    WHERE account_id = break.account_id AND expected_payment_id = break.expected_payment_id
      AND kind = ${kind})`);

export const reportedColumns = Prisma.sql`
  break.id, break.kind, break.amount_cents, break.nsu,
  break.expected_payment_id, break.operation_id, break.resolution,
  ${referenceOfBreak('correlation_id')} AS correlation_id,
  ${referenceOfBreak('external_id')} AS external_id,
  ${ofPayment(metadataOfRow('break'))} AS metadata`;

/** Resolves the open breaks of a kind and these subjects automatically. */
export async function resolveBreaks(
  tx: SqlTx,
  accountId: number,
  kind: string,
  subjects: string[],
): Promise<ReportedBreak[]> {
  if (subjects.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = clock_timestamp()
    WHERE account_id = ${opaqueAccountId(accountId)} AND kind = ${kind}
      AND subject = ANY (${subjects}::text[]) AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/**
 * From which day a break's age counts: the day of its line; `otherwise`, the day on which it was
 * opened, for one without a line.
 */
const ageDay = (accountId: number, nsu: string, otherwise: Prisma.Sql) => Prisma.sql`COALESCE((
  SELECT ${statementDayIn(Prisma.sql`occurred_at`)} FROM statement_line
  WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${Prisma.raw(nsu)}), ${otherwise})`;
const ageDayAgain = (accountId: number) =>
  ageDay(accountId, 'EXCLUDED.nsu', Prisma.sql`break.opened_day`);

/** Inserts open breaks. Its caller says what happens to a break that exists already. */
function breaksToInsert(accountId: number, breaks: readonly NewBreak[]): Prisma.Sql {
  const column = arrayColumns(breaks);
  return Prisma.sql`
    INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, expected_payment_id,
      operation_id, evidence, opened_day)
    SELECT ${accountId}, b.id, b.kind, 'open', b.subject, b.amount_cents, b.nsu,
           b.expected_payment_id, b.operation_id, b.evidence,
           ${ageDay(
             accountId,
             'b.nsu',
             Prisma.sql`(
             SELECT ${statementDayIn(bankTimeNow(accountId))})`,
           )}
    FROM unnest(
      ${column(() => newId(), 'uuid')}, ${column(({ kind }) => kind, 'text')},
      ${column(({ subject }) => subject, 'text')},
      ${column(({ amountCents }) => amountCents, 'bigint')}, ${column(({ nsu }) => nsu, 'bigint')},
      ${column(({ expectedPaymentId = null }) => expectedPaymentId, 'uuid')},
      ${column(({ operationId = null }) => operationId, 'uuid')},
      ${jsonTexts(breaks.map(({ evidence }) => JSON.stringify(evidence)))}::jsonb[]
    ) AS b(id, kind, subject, amount_cents, nsu, expected_payment_id, operation_id, evidence)`;
}

/**
 * Opens each break once. A break resolved automatically is reopened. A break that a person accepted
 * or refunded is reopened for a larger amount; its history records the amount before and after.
 */
export async function insertBreaks(
  tx: SqlTx,
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
        amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu,
        opened_day = ${ageDayAgain(accountId)}
    WHERE break.state = 'resolved' AND break.kind = ANY (${[...reopenedBreakKinds]})
      AND (break.resolution = 'automatic'
      OR break.resolution IN ('accept', 'refund') AND (EXCLUDED.amount_cents > break.amount_cents
        OR (break.kind, break.subject) IN (SELECT * FROM unnest(
          ${beyond.map(({ kind }) => kind)}::text[],
            ${beyond.map(({ subject }) => subject)}::text[]))))
    RETURNING ${reportedColumns}`;
}

/**
 * Updates open breaks whose amount, line, expected payment or evidence has changed. They are
 * inserted again, which finds each by its id: an update that joins them may read all breaks of the
 * account for each, where it was planned while there were few.
 */
export async function reviseBreaks(
  tx: SqlTx,
  accountId: number,
  breaks: NewBreak[],
): Promise<void> {
  if (breaks.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu,
      expected_payment_id, evidence)
    SELECT ${accountId}, stored.id, b.kind, 'open', b.subject, b.amount_cents, b.nsu,
           b.expected_payment_id, b.evidence
    FROM unnest(
      ${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ subject }) => subject)}::text[],
      ${breaks.map(({ amountCents }) => amountCents)}::bigint[],
      ${breaks.map(({ nsu }) => nsu)}::bigint[],
      ${breaks.map(({ expectedPaymentId = null }) => expectedPaymentId)}::uuid[],
      ${jsonTexts(breaks.map(({ evidence }) => JSON.stringify(evidence)))}::jsonb[]
    ) AS b(kind, subject, amount_cents, nsu, expected_payment_id, evidence)
    CROSS JOIN LATERAL (
      SELECT * FROM break
      WHERE account_id = ${opaqueAccountId(accountId)} AND kind = b.kind AND subject = b.subject
      OFFSET 0
    ) stored
    WHERE stored.state = 'open'
      AND (stored.amount_cents, stored.nsu, stored.expected_payment_id, stored.evidence)
        IS DISTINCT FROM (b.amount_cents, b.nsu, b.expected_payment_id, b.evidence)
    ON CONFLICT (account_id, id) DO UPDATE
    SET amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu,
        expected_payment_id = EXCLUDED.expected_payment_id, evidence = EXCLUDED.evidence,
        opened_day = ${ageDayAgain(accountId)}
    WHERE break.state = 'open'`;
}

/** Opens breaks, or opens resolved ones again: a break keeps the time of its first opening. */
export async function openDecidedBreaks(
  tx: SqlTx,
  accountId: number,
  breaks: readonly OpenBreak[],
): Promise<ReportedBreak[]> {
  if (breaks.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    ${breaksToInsert(accountId, breaks)}
    ON CONFLICT (account_id, kind, subject) DO UPDATE
    SET state = 'open', evidence = EXCLUDED.evidence,
        expected_payment_id = EXCLUDED.expected_payment_id,
        amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu,
        opened_day = ${ageDayAgain(accountId)}
    WHERE break.state = 'resolved'
    RETURNING ${reportedColumns}`;
}

/** Resolves open breaks, each as a person, a policy or new evidence resolved it. */
export async function resolveDecidedBreaks(
  tx: SqlTx,
  accountId: number,
  ended: ({ id: string } & Resolution)[],
): Promise<ReportedBreak[]> {
  if (ended.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break
    SET state = 'resolved', resolved_at = clock_timestamp(), resolution = ended.resolution,
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

/**
 * A break that a person resolved is reopened only for a larger amount. A break resolved
 * automatically is reopened each time.
 */
const isReported = (
  kind: string,
  subject: Prisma.Sql,
  cents = Prisma.sql`NULL::bigint`,
) => Prisma.sql`EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = ${kind}
    AND b.subject = ${subject}
    AND NOT COALESCE(b.resolution = 'automatic' OR b.resolution = 'accept'
      AND ${cents} > b.amount_cents, false))`;
const lineIsUnreported = Prisma.sql`u.resolved_at IS NULL
  AND NOT ${isReported('unreadable_line', Prisma.sql`'line:' || u.content_hash`)}`;
/**
 * The jump of the balance at the gap (u). An acceptance covers this jump, and no other at the same
 * gap.
 */
const jumpsOfGap = Prisma.sql`(
  SELECT jsonb_build_array(jsonb_build_object('nsu', t.nsu::text, 'cents', (t.current_balance_cents
    - CASE WHEN t.is_credit THEN t.amount_cents ELSE -t.amount_cents END
    - COALESCE(u.gap_balance_cents, t.balance_previous_cents))::text))
  FROM statement_line t WHERE t.account_id = u.account_id AND t.nsu = u.gap_nsu)`;
const gapIsUnreported = Prisma.sql`u.broken_since IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'broken_balance_chain'
    AND b.subject = 'gap:' || u.gap_nsu AND b.resolution IS DISTINCT FROM 'automatic'
    AND b.evidence->'jumps' IS NOT DISTINCT FROM ${jumpsOfGap})`;
const balanceIsUnreported = Prisma.sql`u.is_balance_off
  AND NOT ${isReported(
    'balance_mismatch',
    Prisma.sql`'balance:' || u.balance_differs_nsu`,
    Prisma.sql`abs(u.balance_differs_cents)`,
  )}`;
/** A dispute (u) without a break, or whose open break shows an earlier status. */
const disputeIsUnreported = Prisma.sql`u.returned_nsu IS NULL AND NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'disputed'
    AND b.subject = 'dispute:' || u.id AND b.resolution IS DISTINCT FROM 'automatic'
    AND (b.state = 'resolved' OR b.evidence->>'status' = u.status::text))`;
interface StatementCause {
  /** Problems (u) without a break: kind, subject, amount, nsu, evidence, `isBeyondSettlement`. */
  unreported: (kind: Prisma.Sql, accountId: number, limit: number) => Prisma.Sql;
  /** Whether the cause of its break (b) is gone. */
  isGone: Prisma.Sql;
}

const statementCauses: Readonly<Record<StatementBreakKind, StatementCause>> = {
  unreadable_line: {
    unreported: (kind, accountId, limit) => Prisma.sql`
      SELECT ${kind}, 'line:' || u.content_hash, NULL::bigint, u.nsu,
        jsonb_build_object('kind', u.kind, 'reason', u.reason, 'nsu', u.nsu::text), false
      FROM unreadable_line u
      WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${lineIsUnreported} LIMIT ${limit}`,
    isGone: Prisma.sql`EXISTS (
      SELECT 1 FROM unreadable_line u WHERE u.account_id = b.account_id
        AND 'line:' || u.content_hash = b.subject AND u.resolved_at IS NOT NULL)`,
  },
  broken_balance_chain: {
    unreported: (kind, accountId) => Prisma.sql`
      SELECT ${kind}, 'gap:' || u.gap_nsu,
        abs(t.balance_previous_cents - u.gap_balance_cents), u.gap_nsu,
        jsonb_build_object('nsu', u.gap_nsu::text,
                           'balancePreviousCents', t.balance_previous_cents::text,
                           'neighbourNsu', u.gap_after_nsu::text,
                           'neighbourBalanceCents', u.gap_balance_cents::text,
                           'since', u.gap_since, 'fullReads', u.gap_full_reads,
                           'jumps', ${jumpsOfGap}), true
      FROM statement_state u
      LEFT JOIN statement_line t ON t.account_id = u.account_id AND t.nsu = u.gap_nsu
      WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${gapIsUnreported}`,
    isGone: Prisma.sql`NOT EXISTS (
      SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
        AND u.broken_since IS NOT NULL AND 'gap:' || u.gap_nsu = b.subject)`,
  },
  disputed: {
    unreported: (kind, accountId, limit) => Prisma.sql`
      SELECT ${kind}, 'dispute:' || u.id, COALESCE(u.amount_cents, pix.amount_cents), pix.nsu,
        jsonb_build_object('disputeId', u.id, 'kind', u.kind, 'status', u.status,
                           'endToEndId', u.end_to_end_id, 'reportedAt', u.reported_at,
                           'deadlineAt', u.deadline_at), false
      FROM dispute u
      LEFT JOIN LATERAL (
        SELECT t.nsu, t.amount_cents FROM statement_line t
        WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.is_credit
          AND t.end_to_end_id = u.end_to_end_id
        ORDER BY t.nsu LIMIT 1
      ) pix ON true
      WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${disputeIsUnreported} LIMIT ${limit}`,
    isGone: Prisma.sql`EXISTS (
      SELECT 1 FROM dispute u WHERE u.account_id = b.account_id
        AND 'dispute:' || u.id = b.subject AND u.returned_nsu IS NOT NULL)`,
  },
  balance_mismatch: {
    unreported: (kind, accountId) => Prisma.sql`
      SELECT ${kind}, 'balance:' || u.balance_differs_nsu, abs(u.balance_differs_cents), NULL,
        jsonb_build_object('lastNsu', u.balance_differs_nsu::text,
                           'lastBalanceCents', u.balance_cents::text,
                           'liveBalanceCents', u.live_balance_cents::text,
                           'since', u.balance_differs_since), false
      FROM statement_state u
      WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${balanceIsUnreported}`,
    isGone: Prisma.sql`NOT EXISTS (
      SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
        AND u.is_balance_off AND 'balance:' || u.balance_differs_nsu = b.subject)`,
  },
};
const causes = Object.entries(statementCauses) as [StatementBreakKind, StatementCause][];

/** Whether the cause of an open break (b) is gone. */
const isEnded = Prisma.sql`b.state = 'open' AND CASE b.kind ${Prisma.join(
  causes.map(([kind, { isGone }]) => Prisma.sql`WHEN ${kind} THEN ${isGone}`),
  ' ',
)} END`;

/** Problems of the statement without a break. */
export async function listUnreportedStatementBreaks(
  db: Reader,
  accountId: number,
  limit: number,
): Promise<NewBreak[]> {
  const unreported = causes.map(
    ([kind, cause]) =>
      Prisma.sql`(${cause.unreported(Prisma.sql`${kind}::text`, accountId, limit)})`,
  );
  return db.$queryRaw<NewBreak[]>`
    SELECT * FROM (${Prisma.join(unreported, ' UNION ALL ')})
      AS unreported(kind, subject, "amountCents", nsu, evidence, "isBeyondSettlement")`;
}

/** Resolves breaks whose chain holds again, whose balances agree, or whose lines were read. */
export async function resolveEndedStatementBreaks(
  tx: SqlTx,
  accountId: number,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = clock_timestamp()
    FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)}
      AND b.kind = ANY (${[...statementBreakKinds]}::text[]) AND ${isEnded}
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Erasure changed the content hash of unreadable lines: their breaks follow the new hash. */
export async function renameUnreadableLineBreaks(
  tx: Tx,
  accountId: number,
  renamed: ReplacedHash[],
): Promise<void> {
  await tx.$executeRaw`
    UPDATE break SET subject = 'line:' || r.hash
    FROM unnest(
      ${renamed.map(({ formerHash }) => formerHash)}::text[],
      ${renamed.map(({ contentHash }) => contentHash)}::text[]
    ) AS r(former, hash)
    WHERE break.account_id = ${opaqueAccountId(accountId)} AND break.kind = 'unreadable_line'
      AND break.subject = 'line:' || r.former`;
}
