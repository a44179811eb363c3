// SQL of approval policies. Each change is a row that stays; the last one in force is the policy.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import type { ApprovalPolicyChange } from '../../generated/service/client.js';
import type { ApprovalPolicy } from './approval-policy.js';

/** A policy that a key has set or proposed. */
export type PolicyChange = ApprovalPolicy &
  Pick<ApprovalPolicyChange, 'actor' | 'holder' | 'reason' | 'createdAt'>;

/** A proposal that no other holder has confirmed for this long has no effect. */
const proposalHours = 72;
const maxProposals = 100;

/** Lets one transaction at a time change the policy of an account. */
export async function lockPolicyChanges(tx: Tx, accountId: number): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM bank_account WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/** Proposals that may still be confirmed: no change has taken effect since. The newest first. */
export async function listProposals(db: Db, accountId: number): Promise<PolicyChange[]> {
  return db.$queryRaw<PolicyChange[]>`
    SELECT above_cents, new_beneficiary, kinds, sources::text[] AS sources, approvals,
           expires_after_hours, actor, holder, reason, created_at
    FROM approval_policy_change
    WHERE account_id = ${accountId}
      AND sequence > COALESCE((
        SELECT max(sequence) FROM approval_policy_change
        WHERE account_id = ${accountId} AND is_in_force), 0)
      AND created_at > clock_timestamp() - ${proposalHours} * interval '1 hour'
    ORDER BY sequence DESC LIMIT ${maxProposals}`;
}

/** Adds a change, under the lock of `lockPolicyChanges`. */
export async function insertPolicyChange(
  tx: Tx,
  accountId: number,
  change: Omit<PolicyChange, 'createdAt'> & Pick<ApprovalPolicyChange, 'isInForce'>,
): Promise<void> {
  const last = await tx.approvalPolicyChange.findFirst({
    where: { accountId },
    orderBy: { sequence: 'desc' },
    select: { sequence: true },
  });
  const sequence = (last?.sequence ?? 0) + 1;
  await tx.approvalPolicyChange.create({ data: { ...change, accountId, sequence } });
}
