// The approval policy of each account: off until it is set, and append-only. A change that weakens
// the policy takes effect when two holders have sent it.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { getHolder } from '../../access/accounts/holders.queries.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import {
  isSamePolicy,
  noApprovalPolicy,
  weakensPolicy,
  type ApprovalPolicy,
} from './approval-policy.js';
import {
  insertPolicyChange,
  listProposals,
  lockPolicyChanges,
  type PolicyChange,
} from './approval-policies.queries.js';
import { findPolicyInForce } from './approvals.queries.js';
import type { changeApprovalPolicy, getApprovalPolicy } from './approvals.schema.js';
import { findEntitled, lockActors } from './entitled-actors.queries.js';

const maxChangesShown = 100;

type PolicyView = RouteOutput<typeof getApprovalPolicy>;
type PolicyRequest = RouteInput<typeof changeApprovalPolicy>['body'];

@Injectable()
export class ApprovalPolicies {
  constructor(private readonly database: Database) {}

  async get(accountId: number): Promise<PolicyView> {
    const { prisma } = this.database;
    const policy = (await findPolicyInForce(prisma, accountId)) ?? noApprovalPolicy;
    const changes = await prisma.approvalPolicyChange.findMany({
      where: { accountId },
      orderBy: { sequence: 'desc' },
      take: maxChangesShown,
    });
    const proposed = await listProposals(prisma, accountId);
    return {
      ...describePolicy(policy),
      proposed: proposed.map(describeChange),
      changes: changes.map((change) => ({ ...change, ...describeChange(change) })),
    };
  }

  /**
   * `isProposed` when the change weakens the policy and waits for another holder. Sending a policy
   * that is in force changes nothing, and neither does repeating one's own proposal.
   */
  async change(
    { accountId, actor }: Pick<Caller, 'accountId' | 'actor'>,
    request: PolicyRequest,
  ): Promise<{ isProposed: boolean; view: PolicyView }> {
    const { aboveAmount: aboveCents, reason = null, ...fields } = request;
    const policy: ApprovalPolicy = { ...fields, aboveCents };
    const isProposed = await this.database.transaction(async (tx) => {
      await lockPolicyChanges(tx, accountId);
      const before = (await findPolicyInForce(tx, accountId)) ?? noApprovalPolicy;
      if (isSamePolicy(before, policy)) return false;
      const holder = await getHolder(tx, accountId, actor);
      const isInForce =
        !weakensPolicy(before, policy) || (await isConfirmed(tx, accountId, policy, holder));
      const change = { ...policy, isInForce, actor, holder, reason };
      const isRepeat = !isInForce && (await hasProposed(tx, accountId, policy, holder));
      if (!isRepeat) await insertPolicyChange(tx, accountId, change);
      return !isInForce;
    });
    return { isProposed, view: await this.get(accountId) };
  }
}

/** Whether another holder, who may still set the policy, has proposed the same one. */
async function isConfirmed(tx: Tx, accountId: number, policy: ApprovalPolicy, holder: string) {
  const proposals = (await listProposals(tx, accountId)).filter(
    (one) => one.holder !== holder && isSamePolicy(one, policy),
  );
  const actors = proposals.map(({ actor }) => actor);
  await lockActors(tx, accountId, actors);
  return (await findEntitled(tx, accountId, actors, 'manage payment rules')).size > 0;
}

async function hasProposed(tx: Tx, accountId: number, policy: ApprovalPolicy, holder: string) {
  const proposals = await listProposals(tx, accountId);
  return proposals.some((one) => one.holder === holder && isSamePolicy(one, policy));
}

function describePolicy({ aboveCents: aboveAmount, ...policy }: ApprovalPolicy) {
  const { kinds, sources, approvals, newBeneficiary, expiresAfterHours } = policy;
  return { aboveAmount, kinds, sources, approvals, newBeneficiary, expiresAfterHours };
}

function describeChange(change: PolicyChange) {
  const { actor, reason, createdAt: at } = change;
  return { ...describePolicy(change), actor, reason, at };
}
