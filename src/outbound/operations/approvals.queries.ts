// SQL of approvals: what an operation needs, and who has decided. A decision is inserted under the
// lock of its operation, so that of two concurrent decisions one comes first.
import { holderOfActor } from '../../access/accounts/holders.queries.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type AccountMode,
  type ApprovalCondition,
  type OperationApproval,
  type OperationApprovalRequest,
} from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import type { ApprovalPolicy, OperationSource } from './approval-policy.js';
import type { OperationRef } from './operations.queries.js';

/** The policy of an account; no row for an account that has set none. */
const policyInForce = (accountId: number) => Prisma.sql`
  SELECT above_cents, new_beneficiary, kinds, sources::text[] AS sources, approvals,
         expires_after_hours
  FROM approval_policy_change
  WHERE account_id = ${accountId} AND is_in_force
  ORDER BY sequence DESC LIMIT 1`;

export interface StoringRules {
  mode: AccountMode;
  /** Null when the account has never set a policy. */
  policy: ApprovalPolicy | null;
}

/** What decides whether a new operation of an account is stored, and whether it waits. */
export async function readStoringRules(db: Db, accountId: number): Promise<StoringRules> {
  const [rules] = await db.$queryRaw<
    ({ mode: AccountMode } & { [Field in keyof ApprovalPolicy]: ApprovalPolicy[Field] | null })[]
  >`
    SELECT b.mode, p.above_cents, p.new_beneficiary, p.kinds, p.sources, p.approvals,
           p.expires_after_hours
    FROM bank_account b LEFT JOIN LATERAL (${policyInForce(accountId)}) p ON true
    WHERE b.id = ${accountId}`;
  invariant(rules, 'the account of an operation exists');
  const { mode, approvals, ...policy } = rules;
  return { mode, policy: approvals === null ? null : ({ ...policy, approvals } as ApprovalPolicy) };
}

export async function findPolicyInForce(db: Db, accountId: number): Promise<ApprovalPolicy | null> {
  const [policy] = await db.$queryRaw<ApprovalPolicy[]>`
    SELECT * FROM (${policyInForce(accountId)}) policy`;
  return policy ?? null;
}

/**
 * Whether money was sent to each of these counterparties before: an operation that the bank
 * accepted, and whose payment is still expected or on the statement.
 */
export async function areKnownBeneficiaries(
  db: Db,
  accountId: number,
  counterparties: readonly string[],
): Promise<boolean> {
  const [found] = await db.$queryRaw<{ areKnown: boolean }[]>`
    SELECT bool_and(EXISTS (
      SELECT FROM expected_payment_reference r
      JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
      JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
      WHERE r.account_id = ${accountId} AND r.kind = 'counterparty' AND r.value = beneficiary
        AND NOT e.is_credit AND e.withdrawn_at IS NULL AND o.state = 'succeeded'
    )) AS "areKnown"
    FROM unnest(${[...counterparties]}::text[]) AS b(beneficiary)`;
  return found?.areKnown ?? false;
}

/** What a new operation needs before it is sent. */
export interface NeededApprovals {
  needed: number;
  expiresAfterHours: number;
  source: OperationSource;
  /** Why it waits. */
  condition: ApprovalCondition;
  /** The key or the person that requested the operation. */
  requestedBy: string;
  /** Of `approvedRequestText`. */
  requestHash: string;
}

export function approvalRequestWrite(
  { accountId, id }: OperationRef,
  { needed, expiresAfterHours, source, condition, requestedBy, requestHash }: NeededApprovals,
): Write {
  const sql = Prisma.sql`
    INSERT INTO operation_approval_request (account_id, operation_id, needed, source, condition,
                                            requested_by, holder, request_hash, expires_at)
    SELECT ${accountId}::int, ${id}::uuid, ${needed}::int, ${source}::operation_source,
           ${condition}::approval_condition, ${requestedBy}, maker.holder, ${requestHash},
           clock_timestamp() + ${expiresAfterHours}::int * interval '1 hour'
    FROM (SELECT ${holderOfActor(accountId, requestedBy)} AS holder) maker
    WHERE maker.holder IS NOT NULL`;
  return { sql, rows: 1 };
}

export type ApprovalRequest = Omit<OperationApprovalRequest, 'accountId' | 'operationId'> & {
  isExpired: boolean;
};

/** Null when the operation needed no approval. */
export async function findApprovalRequest(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<ApprovalRequest | null> {
  const [request] = await db.$queryRaw<ApprovalRequest[]>`
    SELECT needed, source, condition, requested_by, holder, request_hash, expires_at,
           expires_at <= clock_timestamp() AS "isExpired"
    FROM operation_approval_request
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid`;
  return request ?? null;
}

/** The decisions about operations, in their order. */
export async function listDecisions(
  db: Db,
  accountId: number,
  operationIds: readonly string[],
): Promise<OperationApproval[]> {
  return db.operationApproval.findMany({
    where: { accountId, operationId: { in: [...operationIds] } },
    orderBy: [{ createdAt: 'asc' }, { holder: 'asc' }],
  });
}

/** Makes a locked operation due that has its approvals; a trigger of the database counts them. */
export async function releaseApproved(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE operation
    SET state = 'received', approved_at = clock_timestamp(), next_action_at = clock_timestamp(),
        updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'awaiting_approval'`;
}

/** Whether a locked operation still waits, after the time until which it could be approved. */
export async function isApprovalExpired(db: Db, { accountId, id }: OperationRef): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation o
    JOIN operation_approval_request r ON r.account_id = o.account_id AND r.operation_id = o.id
    WHERE o.account_id = ${accountId} AND o.id = ${id}::uuid AND o.state = 'awaiting_approval'
      AND r.expires_at <= clock_timestamp()`;
  return found.length > 0;
}
