// SQL of the page of what awaits approval. The index operation_awaiting_approval has the order of
// the list, so that a page reads the rows that it shows.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type ApprovalCondition,
  type Operation,
  type OperationApprovalRequest,
  type OperationSource,
} from '../../generated/service/client.js';
import { singleKinds } from '../../bank-contract/operation-kinds.js';

export type WaitingRow = Pick<
  Operation,
  'id' | 'kind' | 'counterparty' | 'amountCents' | 'requestBody' | 'createdAt'
> &
  Pick<
    OperationApprovalRequest,
    'needed' | 'requestedBy' | 'holder' | 'requestHash' | 'expiresAt'
  > & {
    source: OperationSource;
    condition: ApprovalCondition;
    isExpired: boolean;
    /** Within four hours. */
    expiresSoon: boolean;
    /** Its place in the list. */
    dueAt: Date;
    /** The name under which the payee is a beneficiary of the account. */
    beneficiaryName: string | null;
    uploadId: string | null;
    line: number | null;
  };

/** Where a page of the list begins: after this operation. */
export interface WaitingKey {
  dueAt: Date;
  id: string;
}

/** `keys` selects id and due_at of operations that await approval. */
function rowsOf(db: Db, accountId: number, keys: Prisma.Sql): Promise<WaitingRow[]> {
  return db.$queryRaw<WaitingRow[]>`
    SELECT o.id, o.kind, o.counterparty, o.amount_cents, o.created_at,
           CASE WHEN o.kind = ANY (${singleKinds}::text[]) THEN o.request_body END AS request_body,
           r.needed, r.requested_by, r.holder, r.request_hash, r.expires_at, r.source, r.condition,
           r.expires_at <= clock_timestamp() AS "isExpired",
           r.expires_at <= clock_timestamp() + interval '4 hours' AS "expiresSoon", key.due_at,
           b.name AS "beneficiaryName", upload.upload_id, upload.line
    FROM (${keys}) key
    JOIN operation o ON o.account_id = ${opaqueAccountId(accountId)} AND o.id = key.id
    JOIN operation_approval_request r ON r.account_id = o.account_id AND r.operation_id = o.id
    LEFT JOIN beneficiary b ON b.account_id = o.account_id AND b.counterparty = o.counterparty
      AND b.removed_at IS NULL
    LEFT JOIN LATERAL (
      SELECT upload_id, line FROM bulk_row
      WHERE account_id = o.account_id AND operation_id = o.id AND r.source = 'bulk' LIMIT 1
    ) upload ON true
    ORDER BY key.due_at, o.id`;
}

const isAfter = (after: WaitingKey | null) =>
  after === null
    ? Prisma.sql`true`
    : Prisma.sql`(next_action_at, id) > (${after.dueAt}::timestamptz, ${after.id}::uuid)`;

const isOfKind = (kind: string | undefined) =>
  kind === undefined ? Prisma.sql`true` : Prisma.sql`kind = ${kind}`;

/** How many await approval, and their money: the most urgent ones, so many at most. */
export async function totalWaiting(
  db: Db,
  accountId: number,
  { kind, most }: { kind: string | undefined; most: number },
): Promise<{ count: number; cents: bigint | null }> {
  const [total] = await db.$queryRaw<{ count: number; cents: bigint | null }[]>`
    SELECT count(*)::integer AS count, sum(amount_cents)::bigint AS cents
    FROM (
      SELECT amount_cents FROM operation
      WHERE account_id = ${accountId} AND state = 'awaiting_approval' AND ${isOfKind(kind)}
      ORDER BY next_action_at LIMIT ${most}
    ) counted`;
  return total ?? { count: 0, cents: null };
}

/** The operation that expires first comes first; one row more than the page holds. */
export function listWaiting(
  db: Db,
  accountId: number,
  { limit, after, kind }: { limit: number; after: WaitingKey | null; kind: string | undefined },
): Promise<WaitingRow[]> {
  const keys = Prisma.sql`
    SELECT id, next_action_at AS due_at FROM operation
    WHERE account_id = ${accountId} AND state = 'awaiting_approval' AND ${isAfter(after)}
      AND ${isOfKind(kind)}
    ORDER BY next_action_at, id LIMIT ${limit + 1}`;
  return rowsOf(db, accountId, keys);
}

/** Those of the operations that still await approval. */
export function listWaitingOf(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<WaitingRow[]> {
  const keys = Prisma.sql`
    SELECT id, next_action_at AS due_at FROM operation
    WHERE account_id = ${accountId} AND id = ANY (${[...ids]}::uuid[])
      AND state = 'awaiting_approval'`;
  return rowsOf(db, accountId, keys);
}

/** Among the first ones: further ones are found from the list. */
const examined = 200;

/** The most urgent operation that the holder has neither requested nor decided. */
export async function findNextWaiting(
  db: Db,
  accountId: number,
  holder: string,
): Promise<string | null> {
  const [found] = await db.$queryRaw<{ id: string }[]>`
    SELECT first.id FROM (
      SELECT id, next_action_at FROM operation
      WHERE account_id = ${accountId} AND state = 'awaiting_approval'
      ORDER BY next_action_at, id LIMIT ${examined}
    ) first
    CROSS JOIN LATERAL (
      SELECT holder FROM operation_approval_request
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = first.id OFFSET 0
    ) r
    CROSS JOIN LATERAL (
      SELECT count(*) AS own FROM operation_approval
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = first.id
        AND holder = ${holder} OFFSET 0
    ) decided
    WHERE r.holder <> ${holder} AND decided.own = 0
      AND first.next_action_at > clock_timestamp()
    ORDER BY first.next_action_at, first.id LIMIT 1`;
  return found?.id ?? null;
}
