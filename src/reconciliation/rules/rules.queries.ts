// Rules and their versions as the book stands, and how far it was held against them.
import type { Db, Tx } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { chargeChecksTakeAtMost } from '../settlement-review.queries.js';
import { readStored, type StoredRule } from './stored-rule.js';
import type { AppliedRule } from './rule.js';

/** The versions that are active. */
export async function listActive(db: Db, accountId: number): Promise<AppliedRule[]> {
  const rows = await db.$queryRaw<StoredRule[]>`
    SELECT rule_id AS "ruleId", version, priority, definition, activated_at AS "activatedAt"
    FROM rule_version WHERE account_id = ${accountId} AND state = 'active'`;
  return rows.map(readStored);
}

/** A rule that every account begins with, where it has none of that id or name; breaks of before are held against it. */
export async function insertDefault(
  tx: Tx,
  accountId: number,
  rule: { id: string; name: string; priority: number; definition: object },
): Promise<void> {
  const { id, name, priority, definition } = rule;
  const made = await tx.$executeRaw`
    WITH made AS (
      INSERT INTO rule (account_id, id, name, origin) VALUES (${accountId}, ${id}::uuid, ${name}, 'default')
      ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO rule_version (account_id, rule_id, version, state, priority, action, definition, activated_at)
    SELECT ${accountId}, id, 1, 'active', ${priority}, 'classify', ${JSON.stringify(definition)}::jsonb, now() FROM made`;
  if (made > 0) await touchRules(tx, accountId);
}

/** What the rules were about has changed: the lines that they decide are looked at again. */
export async function touchRules(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id, rules_changed_at) VALUES (${accountId}, clock_timestamp())
    ON CONFLICT (account_id) DO UPDATE SET rules_changed_at = EXCLUDED.rules_changed_at`;
}

export interface ReviewState {
  now: Date;
  changedAt: Date | null;
  reviewedAt: Date | null;
  lookedAt: Date | null;
}

/** How far the book was held against the rules; the caller holds the judgement. */
export async function readReviewState(tx: Tx, accountId: number): Promise<ReviewState | undefined> {
  const [state] = await tx.$queryRaw<ReviewState[]>`
    SELECT clock_timestamp() AS now, rules_changed_at AS "changedAt", rules_reviewed_at AS "reviewedAt",
           rules_looked_at AS "lookedAt"
    FROM reconciliation_state WHERE account_id = ${accountId}`;
  return state;
}

export async function recordReview(
  tx: Tx,
  accountId: number,
  { changedAt, lookedAt }: { changedAt: Date | null; lookedAt: Date },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state SET rules_reviewed_at = ${changedAt}, rules_looked_at = ${lookedAt}
    WHERE account_id = ${accountId}`;
}

/**
 * Charges that the bank was found to have cancelled since: no rule takes a line to pay them any more. A look is told by its
 * beginning, and may have taken long.
 */
export const cancelledSince = (accountId: Prisma.Sql | number, since: Prisma.Sql) => Prisma.sql`
  SELECT expected_payment_id FROM charge
  WHERE account_id = ${accountId} AND cancelled_at IS NOT NULL
    AND checked_at > ${since} - ${chargeChecksTakeAtMost}::interval`;

/** Accounts whose rules have changed, or whose match rules have not seen what is expected since. */
export async function listAccountsToReview(
  db: Db,
  overlapMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id AS "accountId" FROM reconciliation_state s
    CROSS JOIN LATERAL (
      SELECT COALESCE(s.rules_looked_at, '-infinity') - ${overlapMs} * interval '1 millisecond' AS since
    ) looked
    WHERE s.rules_changed_at > COALESCE(s.rules_reviewed_at, '-infinity')
      OR EXISTS (
        SELECT 1 FROM rule_version v WHERE v.account_id = s.account_id AND v.state = 'active' AND v.action = 'match'
      ) AND (EXISTS (
        SELECT 1 FROM expected_payment e WHERE e.account_id = s.account_id AND e.created_at > looked.since
      ) OR EXISTS (
        SELECT 1 FROM expected_payment e WHERE e.account_id = s.account_id AND e.withdrawn_at > looked.since
      ) OR EXISTS (${cancelledSince(Prisma.sql`s.account_id`, Prisma.sql`looked.since`)}))`;
}

export interface VersionKey {
  ruleId: string;
  version: number;
}

/** The versions of a rule, which nobody else changes for the rest of the transaction. */
export async function lockVersions(
  tx: Tx,
  accountId: number,
  ruleId: string,
): Promise<{ version: number; state: string }[]> {
  await tx.$queryRaw`
    SELECT id FROM rule WHERE account_id = ${accountId} AND id = ${ruleId}::uuid FOR UPDATE`;
  return tx.$queryRaw`
    SELECT version, state FROM rule_version WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid`;
}

/** Whether it was tried since any rule of the account was activated: what it does depends on the others. */
export async function isTried(
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

export async function setActive(
  tx: Tx,
  accountId: number,
  { ruleId, version }: VersionKey,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE rule_version SET state = 'active', activated_at = clock_timestamp(), retired_at = NULL
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}

export async function setRetired(
  tx: Tx,
  accountId: number,
  { ruleId, version }: VersionKey,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE rule_version SET state = 'retired', retired_at = clock_timestamp()
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}
