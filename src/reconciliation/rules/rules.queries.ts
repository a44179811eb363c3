// SQL of rules, their versions, and the review of lines against them.
import type { Db, Tx } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { chargeChecksTakeAtMost } from '../settlement-review.queries.js';
import { readStored, type StoredRule } from './stored-rule.js';
import type { AppliedRule } from './rule.js';

/** The active versions of the account's rules. */
export async function listActiveRules(db: Db, accountId: number): Promise<AppliedRule[]> {
  const rows = await db.$queryRaw<StoredRule[]>`
    SELECT rule_id AS "ruleId", version, priority, definition, activated_at AS "activatedAt"
    FROM rule_version WHERE account_id = ${accountId} AND state = 'active'`;
  return rows.map(readStored);
}

/**
 * Adds a default rule unless one with its id or name exists; earlier breaks are then reviewed.
 */
export async function insertDefaultRule(
  tx: Tx,
  accountId: number,
  rule: { id: string; name: string; priority: number; definition: object },
): Promise<void> {
  const { id, name, priority, definition } = rule;
  const made = await tx.$executeRaw`
    WITH made AS (
      INSERT INTO rule (account_id, id, name, origin)
      VALUES (${accountId}, ${id}::uuid, ${name}, 'default')
      ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO rule_version
      (account_id, rule_id, version, state, priority, action, definition, activated_at)
    SELECT ${accountId}, id, 1, 'active', ${priority}, 'classify',
           ${JSON.stringify(definition)}::jsonb, now() FROM made`;
  if (made > 0) await markRulesChanged(tx, accountId);
}

/** Records a change of rules or manual decisions, so that the lines of rules are reviewed. */
export async function markRulesChanged(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id, rules_changed_at)
    VALUES (${accountId}, clock_timestamp())
    ON CONFLICT (account_id) DO UPDATE SET rules_changed_at = EXCLUDED.rules_changed_at`;
}

export interface RuleReviewState {
  now: Date;
  changedAt: Date | null;
  reviewedAt: Date | null;
  reviewedUntil: Date | null;
}

/** How far lines have been reviewed; the caller holds the reconciliation lock. */
export async function readRuleReviewState(
  tx: Tx,
  accountId: number,
): Promise<RuleReviewState | undefined> {
  const [state] = await tx.$queryRaw<RuleReviewState[]>`
    SELECT clock_timestamp() AS now, rules_changed_at AS "changedAt",
           rules_reviewed_at AS "reviewedAt", rules_looked_at AS "reviewedUntil"
    FROM reconciliation_state WHERE account_id = ${accountId}`;
  return state;
}

export async function recordRuleReview(
  tx: Tx,
  accountId: number,
  { changedAt, reviewedUntil }: { changedAt: Date | null; reviewedUntil: Date },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state
    SET rules_reviewed_at = ${changedAt}, rules_looked_at = ${reviewedUntil}
    WHERE account_id = ${accountId}`;
}

/**
 * Charges whose cancellation at the bank was detected since: no line pays them by a rule any
 * more. `checked_at` is the start of a check, which may take up to `chargeChecksTakeAtMost`.
 */
export const chargesCancelledSince = (
  accountId: Prisma.Sql | number,
  since: Prisma.Sql,
) => Prisma.sql`
  SELECT expected_payment_id FROM charge
  WHERE account_id = ${accountId} AND cancelled_at IS NOT NULL
    AND checked_at > ${since} - ${chargeChecksTakeAtMost}::interval`;

/**
 * Accounts whose rules, or whose expected payments under match rules, changed since the last
 * review.
 */
export async function listAccountsToReview(
  db: Db,
  reviewOverlapMs: number,
): Promise<{ accountId: number }[]> {
  const cancelled = chargesCancelledSince(Prisma.sql`s.account_id`, Prisma.sql`last_review.since`);
  return db.$queryRaw`
    SELECT s.account_id AS "accountId" FROM reconciliation_state s
    CROSS JOIN LATERAL (
      SELECT COALESCE(s.rules_looked_at, '-infinity')
        - ${reviewOverlapMs} * interval '1 millisecond' AS since
    ) last_review
    WHERE s.rules_changed_at > COALESCE(s.rules_reviewed_at, '-infinity')
      OR EXISTS (
        SELECT 1 FROM rule_version v
        WHERE v.account_id = s.account_id AND v.state = 'active' AND v.action = 'match'
      ) AND (EXISTS (
        SELECT 1 FROM expected_payment e
        WHERE e.account_id = s.account_id AND e.created_at > last_review.since
      ) OR EXISTS (
        SELECT 1 FROM expected_payment e
        WHERE e.account_id = s.account_id AND e.withdrawn_at > last_review.since
      ) OR EXISTS (${cancelled}))`;
}

export interface VersionKey {
  ruleId: string;
  version: number;
}

/** The versions of a rule, locked for the transaction by the rule's row. */
export async function lockRuleVersions(
  tx: Tx,
  accountId: number,
  ruleId: string,
): Promise<{ version: number; state: string }[]> {
  await tx.$queryRaw`
    SELECT id FROM rule WHERE account_id = ${accountId} AND id = ${ruleId}::uuid FOR UPDATE`;
  return tx.$queryRaw`
    SELECT version, state FROM rule_version
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid`;
}

/**
 * Whether the version was tried since the account's last activation: its effect depends on
 * other rules.
 */
export async function isRuleVersionTried(
  tx: Tx,
  accountId: number,
  { ruleId, version }: VersionKey,
): Promise<boolean> {
  const [found] = await tx.$queryRaw<{ found: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM rule_trial t
      WHERE t.account_id = ${accountId} AND t.rule_id = ${ruleId}::uuid AND t.version = ${version}
        AND t.created_at > (SELECT COALESCE(max(activated_at), '-infinity') FROM rule_version
                             WHERE account_id = ${accountId})
    ) AS found`;
  return found?.found === true;
}

export async function activateRule(
  tx: Tx,
  accountId: number,
  { ruleId, version }: VersionKey,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE rule_version SET state = 'active', activated_at = clock_timestamp(), retired_at = NULL
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}

export async function retireRule(
  tx: Tx,
  accountId: number,
  { ruleId, version }: VersionKey,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE rule_version SET state = 'retired', retired_at = clock_timestamp()
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}
