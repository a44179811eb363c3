// Breaks of the statement itself: a chain that is broken, a balance that the last line does not show, lines that could
// not be read. Opened and settled by what the mirror says of itself.
import { ofAccount, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Renamed } from '../statement/erasure.queries.js';
import { toldColumns, type NewBreak, type ToldBreak } from './breaks.queries.js';

/** What a person settled stays so until it has come to more; what settled itself may come about again. */
const isTold = (
  kind: string,
  subject: Prisma.Sql,
  cents = Prisma.sql`NULL::bigint`,
) => Prisma.sql`EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = ${kind} AND b.subject = ${subject}
    AND NOT COALESCE(b.resolution = 'itself' OR b.resolution = 'accept' AND ${cents} > b.amount_cents, false))`;
const lineIsUntold = Prisma.sql`u.resolved_at IS NULL
  AND NOT ${isTold('unreadable_line', Prisma.sql`'line:' || u.content_hash`)}`;
/** What the balance jumps by at the hole (u); a person accepts that, and no other jump that comes about there. */
const jumpsOfHole = Prisma.sql`(
  SELECT jsonb_build_array(jsonb_build_object('nsu', t.nsu::text, 'cents', (t.current_balance_cents
    - CASE WHEN t.is_credit THEN t.amount_cents ELSE -t.amount_cents END
    - COALESCE(u.hole_balance_cents, t.balance_previous_cents))::text))
  FROM "transaction" t WHERE t.account_id = u.account_id AND t.nsu = u.hole_nsu)`;
const holeIsUntold = Prisma.sql`u.broken_since IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'broken_chain'
    AND b.subject = 'hole:' || u.hole_nsu AND b.resolution IS DISTINCT FROM 'itself'
    AND b.evidence->'jumps' IS NOT DISTINCT FROM ${jumpsOfHole})`;
const balanceIsUntold = Prisma.sql`u.is_balance_off
  AND NOT ${isTold(
    'balance_differs',
    Prisma.sql`'balance:' || u.balance_differs_nsu`,
    Prisma.sql`abs(u.balance_differs_cents)`,
  )}`;
/** An open break (b) of what is over. */
const isOver = Prisma.sql`b.state = 'open' AND CASE b.kind
  WHEN 'unreadable_line' THEN EXISTS (
    SELECT 1 FROM unreadable_line u WHERE u.account_id = b.account_id
      AND u.content_hash = substring(b.subject from 6) AND u.resolved_at IS NOT NULL)
  WHEN 'broken_chain' THEN NOT EXISTS (
    SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
      AND u.broken_since IS NOT NULL AND 'hole:' || u.hole_nsu = b.subject)
  WHEN 'balance_differs' THEN NOT EXISTS (
    SELECT 1 FROM statement_state u WHERE u.account_id = b.account_id
      AND u.is_balance_off AND 'balance:' || u.balance_differs_nsu = b.subject) END`;
const kinds = Prisma.sql`('unreadable_line', 'broken_chain', 'balance_differs')`;

/** What is wrong with the statement and has no break yet. */
export async function listUntoldOfStatement(db: Db, accountId: number): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    (SELECT 'unreadable_line' AS kind, 'line:' || u.content_hash AS subject, NULL::bigint AS "amountCents", u.nsu,
            jsonb_build_object('kind', u.kind, 'reason', u.reason, 'nsu', u.nsu::text) AS evidence,
            false AS "isNotWhatWasSettled"
     FROM unreadable_line u WHERE u.account_id = ${ofAccount(accountId)} AND ${lineIsUntold} LIMIT 1000)
    UNION ALL
    SELECT 'broken_chain', 'hole:' || u.hole_nsu, abs(t.balance_previous_cents - u.hole_balance_cents), u.hole_nsu,
           jsonb_build_object('nsu', u.hole_nsu::text, 'balancePreviousCents', t.balance_previous_cents::text,
                              'neighbourNsu', u.hole_after_nsu::text,
                              'neighbourBalanceCents', u.hole_balance_cents::text, 'since', u.hole_since,
                              'fullReads', u.hole_full_reads, 'jumps', ${jumpsOfHole}), true
    FROM statement_state u
    LEFT JOIN "transaction" t ON t.account_id = u.account_id AND t.nsu = u.hole_nsu
    WHERE u.account_id = ${ofAccount(accountId)} AND ${holeIsUntold}
    UNION ALL
    SELECT 'balance_differs', 'balance:' || u.balance_differs_nsu, abs(u.balance_differs_cents), NULL,
           jsonb_build_object('lastNsu', u.balance_differs_nsu::text, 'lastBalanceCents', u.balance_cents::text,
                              'liveBalanceCents', u.live_balance_cents::text, 'since', u.balance_differs_since), false
    FROM statement_state u WHERE u.account_id = ${ofAccount(accountId)} AND ${balanceIsUntold}`;
}

/** The chain holds again, the balances agree, the lines were read. */
export async function resolveOverOfStatement(tx: Tx, accountId: number): Promise<ToldBreak[]> {
  return tx.$queryRaw<ToldBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    FROM break b
    WHERE b.account_id = ${ofAccount(accountId)} AND b.kind IN ${kinds} AND ${isOver}
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'open'
    RETURNING ${toldColumns}`;
}

/** What was set aside bears other names since it was erased: its breaks are about those. */
export async function renameLines(tx: Tx, accountId: number, renamed: Renamed[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE break SET subject = 'line:' || r.hash
    FROM unnest(
      ${renamed.map(({ formerHash }) => formerHash)}::text[],
      ${renamed.map(({ contentHash }) => contentHash)}::text[]
    ) AS r(former, hash)
    WHERE break.account_id = ${ofAccount(accountId)} AND break.kind = 'unreadable_line'
      AND break.subject = 'line:' || r.former`;
}

/** Accounts whose statement says something that nobody was told. */
export async function listAccountsOfStatement(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM unreadable_line u WHERE u.account_id = a.id AND ${lineIsUntold}
    ) OR EXISTS (
      SELECT 1 FROM statement_state u WHERE u.account_id = a.id AND (${holeIsUntold} OR ${balanceIsUntold})
    ) OR EXISTS (
      SELECT 1 FROM break b WHERE b.account_id = a.id AND b.kind IN ${kinds} AND ${isOver}
    )`;
}
