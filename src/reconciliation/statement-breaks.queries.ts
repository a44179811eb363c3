// Breaks of the statement itself: a broken balance chain, a balance that differs from the last
// line, unreadable lines. Opened and resolved from the state that the sync stores.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { ReplacedHash } from '../statement/line-erasure.queries.js';
import { statementBreakKinds } from './decide/break-kinds.js';
import { reportedColumns, type NewBreak, type ReportedBreak } from './breaks.queries.js';

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
/** Whether the cause of an open break (b) is gone. */
const isEnded = Prisma.sql`b.state = 'open' AND CASE b.kind
  WHEN 'unreadable_line' THEN EXISTS (
    SELECT 1 FROM unreadable_line u WHERE u.account_id = b.account_id
      AND 'line:' || u.content_hash = b.subject AND u.resolved_at IS NOT NULL)
  WHEN 'broken_balance_chain' THEN NOT EXISTS (
    SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
      AND u.broken_since IS NOT NULL AND 'gap:' || u.gap_nsu = b.subject)
  WHEN 'balance_mismatch' THEN NOT EXISTS (
    SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
      AND u.is_balance_off AND 'balance:' || u.balance_differs_nsu = b.subject) END`;

/** Problems of the statement without a break. */
export async function listUnreportedStatementBreaks(
  db: Db,
  accountId: number,
  limit: number,
): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    (SELECT 'unreadable_line' AS kind, 'line:' || u.content_hash AS subject,
            NULL::bigint AS "amountCents", u.nsu,
            jsonb_build_object('kind', u.kind, 'reason', u.reason, 'nsu', u.nsu::text) AS evidence,
            false AS "isBeyondSettlement"
     FROM unreadable_line u
     WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${lineIsUnreported} LIMIT ${limit})
    UNION ALL
    SELECT 'broken_balance_chain', 'gap:' || u.gap_nsu,
           abs(t.balance_previous_cents - u.gap_balance_cents), u.gap_nsu,
           jsonb_build_object('nsu', u.gap_nsu::text,
                              'balancePreviousCents', t.balance_previous_cents::text,
                              'neighbourNsu', u.gap_after_nsu::text,
                              'neighbourBalanceCents', u.gap_balance_cents::text,
                              'since', u.gap_since, 'fullReads', u.gap_full_reads,
                              'jumps', ${jumpsOfGap}), true
    FROM statement_state u
    LEFT JOIN statement_line t ON t.account_id = u.account_id AND t.nsu = u.gap_nsu
    WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${gapIsUnreported}
    UNION ALL
    SELECT 'balance_mismatch', 'balance:' || u.balance_differs_nsu, abs(u.balance_differs_cents),
           NULL,
           jsonb_build_object('lastNsu', u.balance_differs_nsu::text,
                              'lastBalanceCents', u.balance_cents::text,
                              'liveBalanceCents', u.live_balance_cents::text,
                              'since', u.balance_differs_since), false
    FROM statement_state u
    WHERE u.account_id = ${opaqueAccountId(accountId)} AND ${balanceIsUnreported}`;
}

/** Resolves breaks whose chain holds again, whose balances agree, or whose lines were read. */
export async function resolveEndedStatementBreaks(
  tx: Tx,
  accountId: number,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
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
