// SQL of refund policies: their settings, and the breaks that they refund.
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import { isProvisional } from '../../statement/expected-payments/provisional.queries.js';
import { isReceivedPix } from '../../statement/expected-payments/received-pix.queries.js';
import { undoingPattern } from '../../bank-contract/line-types.js';
import { Prisma } from '../../generated/service/client.js';
import type { LockedBreak } from './break-actions.queries.js';
import type { RefundPolicyChange } from './refund-policies.schema.js';

/**
 * Stores changed policies and their history; an unchanged policy keeps its time and gets no
 * entry.
 */
export async function writeRefundPolicies(
  tx: Tx,
  accountId: number,
  { policies, reason }: RefundPolicyChange,
  actor: string,
): Promise<void> {
  await tx.$executeRaw`
    WITH changed AS (
      INSERT INTO refund_policy
        (account_id, break_kind, is_on, max_cents, changed_by, reason, changed_at)
      SELECT ${accountId}, p.kind, p.is_on, p.max_cents, ${actor}, ${reason}, clock_timestamp()
      FROM unnest(
        ${policies.map(({ kind }) => kind)}::text[], ${policies.map(({ isOn }) => isOn)}::boolean[],
        ${policies.map(({ maxAmount }) => maxAmount ?? null)}::bigint[]
      ) AS p(kind, is_on, max_cents)
      ORDER BY p.kind
      ON CONFLICT (account_id, break_kind) DO UPDATE
      SET is_on = EXCLUDED.is_on, max_cents = EXCLUDED.max_cents,
          changed_by = EXCLUDED.changed_by, reason = EXCLUDED.reason,
          changed_at = EXCLUDED.changed_at
      WHERE (refund_policy.is_on, refund_policy.max_cents)
        IS DISTINCT FROM (EXCLUDED.is_on, EXCLUDED.max_cents)
      RETURNING break_kind, is_on, max_cents
    )
    INSERT INTO refund_policy_history_entry
      (account_id, break_kind, is_on, max_cents, actor, reason)
    SELECT ${accountId}, break_kind, is_on, max_cents, ${actor}, ${reason}
    FROM changed ORDER BY break_kind`;
}

// A condition on a policy (p), a break (b) and its line (t). It excludes breaks on which a person
// has acted or commented, breaks whose line a person has linked, and breaks whose refund was
// refused or is requested.
const isPolicyRefundable = Prisma.sql`
  p.is_on AND b.state = 'open' AND b.kind = p.break_kind AND b.subject = 'nsu:' || b.nsu
  AND b.opened_at > p.changed_at AND b.amount_cents <= COALESCE(p.max_cents, b.amount_cents)
  AND ${isReceivedPix(Prisma.sql`t`)}
  AND NOT EXISTS (
    SELECT 1 FROM break_history_entry e WHERE e.account_id = b.account_id AND e.break_id = b.id
      AND (e.actor <> 'policy' OR e.action = 'refund_refused'))
  AND NOT EXISTS (
    SELECT 1 FROM break_comment c WHERE c.account_id = b.account_id AND c.break_id = b.id)
  AND NOT EXISTS (
    SELECT 1 FROM match m
    WHERE m.account_id = b.account_id AND m.nsu = b.nsu AND m.unlinked_at IS NULL
      AND m.rule = 'manual')
  AND NOT EXISTS (
    SELECT 1 FROM break_history_entry e
    JOIN operation_identity i ON i.account_id = e.account_id AND i.kind = 'refund_pix'
      AND i.identity = 'key ' || (e.detail ->> 'key')
    WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund')`;
const policyBreaks = Prisma.sql`
  refund_policy p
  JOIN break b ON b.account_id = p.account_id AND b.kind = p.break_kind AND b.state = 'open'
  JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
  JOIN statement_state s ON s.account_id = p.account_id`;
const isUnnamedRefund = Prisma.sql`refund.original_end_to_end_id IS NULL
  AND refund.type_name ~* ${Prisma.raw(`'${undoingPattern}'`)}`;
/** Whether nothing says of which Pix a refund is that the statement shows. */
const hasUnattributedRefund = Prisma.sql`EXISTS (
    SELECT FROM break about
    JOIN statement_line refund ON refund.account_id = about.account_id AND refund.nsu = about.nsu
    WHERE about.account_id = p.account_id AND about.state = 'open'
      AND about.subject = 'nsu:' || about.nsu AND NOT refund.is_credit
      AND ${isUnnamedRefund}
  ) OR EXISTS (
    SELECT FROM line_outcome open
    JOIN statement_line refund ON refund.account_id = open.account_id AND refund.nsu = open.nsu
    WHERE open.account_id = p.account_id AND open.state = 'pending' AND NOT refund.is_credit
      AND ${isUnnamedRefund})`;
/** No policy sends money while the balance chain has a gap, or a refund may be of any Pix. */
const isStatementSure = Prisma.sql`s.broken_since IS NULL AND s.first_gap_nsu IS NULL
  AND NOT (${hasUnattributedRefund})`;
const isClosed = Prisma.sql`t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until`;
/**
 * No payment of what the line pays is provisional: a rule may decide it otherwise. The payments of
 * a multi-use QR code are decided apart.
 */
const isFinal = Prisma.sql`NOT EXISTS (
    SELECT FROM match own
    JOIN expected_payment paid ON paid.account_id = own.account_id
      AND paid.id = own.expected_payment_id
    JOIN match paying ON paying.account_id = own.account_id
      AND paying.expected_payment_id = own.expected_payment_id
      AND (paying.nsu = own.nsu OR NOT paid.is_multi_use)
    WHERE own.account_id = b.account_id AND own.nsu = b.nsu AND own.unlinked_at IS NULL
      AND paying.unlinked_at IS NULL AND ${isProvisional('paying')})`;
/** Every line is decided, and nothing about the line or its payments is due to be decided. */
const isDecided = Prisma.sql`NOT EXISTS (
    SELECT FROM statement_line fresh
    WHERE fresh.account_id = b.account_id AND fresh.arrival > COALESCE(
      (SELECT decided_arrival FROM reconciliation_state WHERE account_id = b.account_id), 0)
  ) AND NOT EXISTS (
    SELECT FROM reconciliation_task task
    WHERE task.account_id = b.account_id AND task.due_at <= clock_timestamp()
      AND (task.kind = 'rules' OR task.nsu = b.nsu OR task.expected_payment_id IN (
        SELECT expected_payment_id FROM match m
        WHERE m.account_id = b.account_id AND m.nsu = b.nsu AND m.unlinked_at IS NULL)))`;

/** Breaks that their policy refunds now, oldest first. */
export async function listPolicyRefunds(
  db: Db,
  accountId: number,
  limit: number,
): Promise<{ breakId: string; reason: string | null; changedBy: string | null }[]> {
  return db.$queryRaw`
    SELECT b.id AS "breakId", p.reason, p.changed_by FROM ${policyBreaks}
    WHERE p.account_id = ${accountId} AND ${isPolicyRefundable} AND ${isStatementSure}
      AND ${isClosed} AND ${isDecided} AND ${isFinal}
    ORDER BY b.opened_at, b.id LIMIT ${limit}`;
}

/**
 * Whether the policy still refunds a break whose row the caller has locked. The policy cannot
 * change for the rest of the transaction.
 */
export async function isStillPolicyRefundable(
  tx: Tx,
  accountId: number,
  { id, kind }: LockedBreak,
): Promise<boolean> {
  await tx.$queryRaw`
    SELECT 1 FROM refund_policy WHERE account_id = ${accountId} AND break_kind = ${kind} FOR SHARE`;
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM ${policyBreaks}
    WHERE b.account_id = ${accountId} AND b.id = ${id}::uuid
      AND ${isPolicyRefundable} AND ${isStatementSure} AND ${isClosed}
      AND ${isDecided} AND ${isFinal}`;
  return found.length > 0;
}

/**
 * Whether a refund waits for its period to be closed, and bank time is past the visibility
 * bound.
 */
export async function hasRefundAwaitingClosing(
  db: Db,
  accountId: number,
  visibilityBoundMs: number,
): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM ${policyBreaks}
    WHERE p.account_id = ${accountId} AND ${isPolicyRefundable} AND ${isStatementSure}
      AND (${isClosed}) IS NOT TRUE
      AND t.occurred_at < clock_timestamp()
        + (s.clock_offset_ms - ${visibilityBoundMs}) * interval '1 millisecond'
    LIMIT 1`;
  return found.length > 0;
}

/** Whether any account has a policy. */
export async function hasRefundPolicies(db: Reader): Promise<boolean> {
  const found = await db.$queryRaw<{ accountId: number }[]>`
    SELECT account_id FROM refund_policy LIMIT 1`;
  return found.length > 0;
}

/** Accounts with a break to refund by policy. */
export async function listAccountsToRefund(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT DISTINCT p.account_id FROM ${policyBreaks}
    WHERE ${isPolicyRefundable} AND ${isStatementSure}`;
}
