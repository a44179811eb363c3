// SQL of rules and their versions.
import type { Db, Tx } from '../database.service.js';
import { Prisma, type RuleVersion } from '../generated/service/client.js';
import { recordRangeTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import type { DeclaredRule } from './decide/model.js';
import { bankFees, readStored } from './stored-rule.js';
import type { AppliedRule } from './decide/rule.js';

/** The active versions of the account's rules. */
export async function listActiveRules(db: Db, accountId: number): Promise<AppliedRule[]> {
  const rows = await db.ruleVersion.findMany({
    where: { accountId, state: 'active' },
    select: { ruleId: true, version: true, priority: true, definition: true, activatedAt: true },
  });
  return rows.map(readStored);
}

/**
 * Adds the default rule unless one with its id or name exists. Earlier lines are then decided
 * again.
 */
export async function insertDefaultRule(tx: Tx, accountId: number): Promise<void> {
  const { id, name, priority, definition } = bankFees(accountId);
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
  if (made > 0) await recordRangeTask(tx, accountId, 'rules');
}

export type VersionState = Pick<RuleVersion, 'version' | 'state'>;

/** The versions of a rule, locked for the transaction by the rule's row. */
export async function lockRuleVersions(
  tx: Tx,
  accountId: number,
  ruleId: string,
): Promise<VersionState[]> {
  await tx.$queryRaw`
    SELECT id FROM rule WHERE account_id = ${accountId} AND id = ${ruleId}::uuid
    FOR NO KEY UPDATE`;
  return tx.ruleVersion.findMany({ where: { accountId, ruleId } });
}

/**
 * Whether the version was tried since the account's last activation: its effect depends on
 * other rules.
 */
export async function isRuleVersionTried(
  tx: Tx,
  accountId: number,
  key: DeclaredRule,
): Promise<boolean> {
  const where = { accountId };
  const last = await tx.ruleVersion.aggregate({ where, _max: { activatedAt: true } });
  const createdAt = { gt: last._max.activatedAt ?? undefined };
  return (await tx.ruleTrial.count({ where: { accountId, ...key, createdAt } })) > 0;
}

export async function setRuleState(
  tx: Tx,
  accountId: number,
  { ruleId, version }: DeclaredRule,
  state: 'active' | 'retired',
): Promise<void> {
  const times =
    state === 'active'
      ? Prisma.sql`activated_at = clock_timestamp(), retired_at = NULL`
      : Prisma.sql`retired_at = clock_timestamp()`;
  await tx.$executeRaw`
    UPDATE rule_version SET state = ${state}::rule_version_state, ${times}
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}
