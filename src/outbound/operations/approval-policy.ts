// Which operations of an account need approval, and which change of its policy weakens it.
import type {
  ApprovalCondition,
  ApprovalPolicyChange,
  Operation,
  OperationSource,
} from '../../generated/service/client.js';

/**
 * What requests an operation: a caller, a row of an upload, a refund policy, a break action, or a
 * page of the console.
 */
export type { OperationSource };

export type ApprovalPolicy = Pick<
  ApprovalPolicyChange,
  ('aboveCents' | 'newBeneficiary' | 'kinds' | 'sources') | ('approvals' | 'expiresAfterHours')
>;

/** The policy of an account that has set none. */
export const noApprovalPolicy: ApprovalPolicy = {
  aboveCents: null,
  newBeneficiary: false,
  kinds: [],
  sources: [],
  approvals: 1,
  expiresAfterHours: 72,
};

/** An operation that sends money. */
export interface SentMoneyRequest {
  kind: string;
  source: OperationSource;
  amountCents: bigint;
}

/** What an approval covers: the request as it is stored, and what it needs. */
export interface ApprovedRequest {
  operation: Pick<
    Operation,
    | ('accountId' | 'id' | 'kind' | 'requestParams' | 'requestQuery' | 'requestBody')
    | ('counterparty' | 'amountCents')
  >;
  needed: number;
  requestedBy: string;
}

/** The text whose keyed hash shows that nothing of it has changed since it was stored. */
export function approvedRequestText({ operation, needed, requestedBy }: ApprovedRequest): string {
  const { accountId, id, kind, counterparty, amountCents } = operation;
  const { requestParams, requestQuery, requestBody } = operation;
  const cents = amountCents?.toString() ?? null;
  return JSON.stringify([
    ...[accountId, id, kind, requestParams, requestQuery, requestBody],
    ...[counterparty, cents, needed, requestedBy],
  ]);
}

/** Why an operation waits: by its amount, or if its beneficiary is new; null when it does not. */
export function approvalConditionOf(
  policy: ApprovalPolicy,
  { kind, source, amountCents }: SentMoneyRequest,
): ApprovalCondition | null {
  if (!includes(policy.kinds, kind) || !includes(policy.sources, source)) return null;
  if (policy.aboveCents !== null && amountCents > policy.aboveCents) return 'amount';
  return policy.newBeneficiary ? 'new_beneficiary' : null;
}

/** An empty list includes all. */
function includes<Item>(list: readonly Item[], item: Item): boolean {
  return list.length === 0 || list.includes(item);
}

/** Whether an operation may need fewer approvals by the new policy than by the old one. */
export function weakensPolicy(from: ApprovalPolicy, to: ApprovalPolicy): boolean {
  if (!isOn(from)) return false;
  return (
    (from.aboveCents !== null && (to.aboveCents === null || to.aboveCents > from.aboveCents)) ||
    (from.newBeneficiary && !to.newBeneficiary) ||
    leavesOut(from.kinds, to.kinds) ||
    leavesOut(from.sources, to.sources) ||
    to.approvals < from.approvals
  );
}

function isOn({ aboveCents, newBeneficiary }: ApprovalPolicy): boolean {
  return aboveCents !== null || newBeneficiary;
}

function leavesOut<Item>(from: readonly Item[], to: readonly Item[]): boolean {
  if (to.length === 0) return false;
  return from.length === 0 || from.some((item) => !to.includes(item));
}

export function isSamePolicy(one: ApprovalPolicy, other: ApprovalPolicy): boolean {
  const isSameList = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((item) => b.includes(item));
  return (
    one.aboveCents === other.aboveCents &&
    one.newBeneficiary === other.newBeneficiary &&
    isSameList(one.kinds, other.kinds) &&
    isSameList(one.sources, other.sources) &&
    one.approvals === other.approvals &&
    one.expiresAfterHours === other.expiresAfterHours
  );
}
