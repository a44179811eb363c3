// Finds the operation that a request for outgoing money may repeat. The locks serialize the check,
// so that each of two concurrent requests sees the other.
import { opaqueAccountId, type Db, type SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma, type Operation } from '../../generated/service/client.js';
import { hasRestrictingControls } from '../payment-controls/payment-controls.queries.js';
import { advisoryLocks } from '../../platform/postgres/advisory-locks.js';
import { bankTimeNow } from '../../statement/lines/bank-clock.queries.js';
import type { NewIdentity } from './identities.queries.js';
import type { NewOperation } from './operations.queries.js';

/** A statement that serializes all requests of the account. */
export function possibleDuplicatesLock(accountId: number): Prisma.Sql {
  const { possibleDuplicates } = advisoryLocks;
  return Prisma.sql`SELECT pg_advisory_xact_lock(${possibleDuplicates}::int, ${accountId}::int)`;
}

/** A statement that serializes payments with one externalId. */
export function sameExternalIdsLock(hashes: readonly string[]): Prisma.Sql {
  const { sameRequest } = advisoryLocks;
  return Prisma.sql`
    SELECT pg_advisory_xact_lock(${sameRequest}::int, lock)
    FROM (
      SELECT DISTINCT hashtext(hash) AS lock FROM unnest(${[...hashes]}::text[]) AS r(hash)
      ORDER BY lock
    ) ordered`;
}

/** They are sent together. */
export async function takeLocks(tx: SqlTx, locks: readonly Prisma.Sql[]): Promise<void> {
  await Promise.all(locks.map((lock) => tx.$executeRaw`${lock}`));
}

export interface DuplicateTimes {
  /** From this age, an operation that is being sent may be retried with a new key. */
  sendingForMs: number;
  /**
   * For how long the same payment with the same externalId is refused after it succeeded, or takes
   * effect.
   */
  sameRequestForMs: number;
  /** For how long a similar request is one after a success; null: never. */
  similarForMs: number | null;
}

/** The fields of a new operation that are compared, as SQL. */
type Compared = Record<
  'kind' | 'counterparty' | 'amountCents' | 'externalIdHash' | 'isDistinguishable',
  Prisma.Sql
>;

/**
 * The number of the account alone: the bank's own accounts are written so, or in full. The index
 * operation_counterparty has this expression.
 */
export const accountNumberOf = (counterparty: Prisma.Sql) =>
  Prisma.sql`COALESCE(NULLIF(split_part(${counterparty}, '/', 3), ''), ${counterparty})`;

/**
 * A query of the operations that a new operation of the account may repeat, as `id`, `created_at`
 * and `is_refused`. It reads those that are unfinished or have ended recently, whatever the account
 * has paid before.
 */
function possibleDuplicates(
  accountId: number,
  of: Compared,
  { sendingForMs, sameRequestForMs, similarForMs }: DuplicateTimes,
): Prisma.Sql {
  const isJustCreated = Prisma.sql`(o.state IN ('received', 'sending')
    AND o.created_at >= clock_timestamp() - ${sendingForMs} * interval '1 millisecond')`;
  const isSame = Prisma.sql`(o.external_id_hash = ${of.externalIdHash}) IS TRUE`;
  const number = Prisma.sql`o.account_id = ${opaqueAccountId(accountId)} AND o.kind = ${of.kind}
    AND o.amount_cents = ${of.amountCents} AND o.counterparty IS NOT NULL
    AND ${accountNumberOf(Prisma.sql`o.counterparty`)} = ${accountNumberOf(of.counterparty)}`;
  const hasEndedWithin = (ms: number | null) =>
    Prisma.sql`o.ended_at > clock_timestamp() - ${ms}::float8 * interval '1 millisecond'`;
  const hasSucceededWithin = (ms: number | null) =>
    Prisma.sql`(o.state = 'succeeded' AND ${hasEndedWithin(ms)})`;
  // What takes effect later is a duplicate until then, too.
  const takesEffectWithin = Prisma.sql`(o.state = 'succeeded' AND o.effective_from
    > ${bankTimeNow(accountId)} - ${sameRequestForMs}::float8 * interval '1 millisecond')`;
  return Prisma.sql`
    SELECT o.id, o.created_at,
           ${isSame} OR o.state <> 'succeeded' AND NOT ${isJustCreated} AS is_refused
    FROM (
      SELECT o.* FROM operation o WHERE ${number} AND o.ended_at IS NULL
      UNION ALL
      SELECT o.* FROM operation o
      WHERE (${of.externalIdHash} IS NOT NULL OR ${similarForMs}::float8 IS NOT NULL)
        AND ${number} AND o.state = 'succeeded'
        -- An index cannot be read up to a time that changes while it is read.
        AND o.ended_at > statement_timestamp()
          - ${Math.max(sameRequestForMs, similarForMs ?? 0)}::float8 * interval '1 millisecond'
      UNION ALL
      SELECT o.* FROM operation o WHERE ${isSame} AND ${number} AND ${takesEffectWithin}
      UNION ALL
      SELECT o.* FROM operation o WHERE ${number} AND o.state = 'needs_operator'
      -- Planned once: inside each part, the conditions below would be compared with each index.
      OFFSET 0
    ) o
    WHERE (o.counterparty IN (${of.counterparty}, split_part(${of.counterparty}, '/', 3))
        OR split_part(o.counterparty, '/', 3) = ${of.counterparty})
      AND (${isSame}
        AND (o.state IN ('received', 'sending', 'unknown', 'needs_operator', 'awaiting_approval')
          OR ${hasSucceededWithin(sameRequestForMs)} OR ${takesEffectWithin})
        OR NOT (o.is_distinguishable AND ${of.isDistinguishable})
        AND (o.state IN ('unknown', 'needs_operator', 'awaiting_approval')
          OR (o.state IN ('received', 'sending')
              AND (${similarForMs}::float8 IS NOT NULL OR NOT ${isJustCreated}))
          OR ${hasSucceededWithin(similarForMs)}))`;
}

/**
 * The operation that a new operation may repeat: the one for which it is refused first, then the
 * oldest. See PossibleDuplicates. `isRefused` is false if the operation is only similar and
 * succeeded or was created less than `sendingForMs` ago.
 */
export async function findPossibleDuplicate(
  db: Db,
  of: NewOperation,
  times: DuplicateTimes,
): Promise<{ id: string; isRefused: boolean } | null> {
  const compared = {
    kind: Prisma.sql`${of.kind}`,
    counterparty: Prisma.sql`${of.counterparty}::text`,
    amountCents: Prisma.sql`${of.amountCents}`,
    externalIdHash: Prisma.sql`${of.externalIdHash}::text`,
    isDistinguishable: Prisma.sql`${of.isDistinguishable}`,
  };
  const [found] = await db.$queryRaw<{ id: string; isRefused: boolean }[]>`
    SELECT id, is_refused FROM (${possibleDuplicates(of.accountId, compared, times)}) found
    ORDER BY is_refused DESC, created_at, id LIMIT 1`;
  return found ?? null;
}

/**
 * The latest other operations that send the same amount to the same account, as far back as the
 * journal goes: approvers compare them with the one that waits.
 */
export async function listSimilarOperations(
  db: Db,
  { accountId, id, kind, counterparty, amountCents }: SimilarTo,
  limit: number,
): Promise<SimilarOperation[]> {
  if (counterparty === null || amountCents === null) return [];
  const number = accountNumberOf(Prisma.sql`${counterparty}::text`);
  return db.$queryRaw<SimilarOperation[]>`
    SELECT id, state, created_at FROM operation
    WHERE account_id = ${opaqueAccountId(accountId)} AND kind = ${kind}
      AND amount_cents = ${amountCents} AND counterparty IS NOT NULL
      AND ${accountNumberOf(Prisma.sql`counterparty`)} = ${number} AND id <> ${id}::uuid
    ORDER BY id DESC LIMIT ${limit}`;
}

export type SimilarTo = Pick<
  Operation,
  'accountId' | 'id' | 'kind' | 'counterparty' | 'amountCents'
>;
export type SimilarOperation = Pick<Operation, 'id' | 'state' | 'createdAt'>;

/** A new operation with its identities, before it is stored. */
export interface UnstoredOperation {
  operation: NewOperation;
  identities: readonly NewIdentity[];
  /** The kinds of operations that must not have one of them. */
  kinds: readonly string[];
  /** Whether operations that it may repeat count. */
  isCompared: boolean;
}

export interface StorableLimits extends DuplicateTimes {
  withinDays: number;
}

/**
 * The ids of the new operations of an account to which nothing objects: the account is live, none
 * has their identities, they may repeat none, and nothing was lost `withinDays`. Payments are not
 * among them where the account has payment controls or an approval policy.
 */
export async function listStorable(
  tx: SqlTx,
  accountId: number,
  unstored: readonly UnstoredOperation[],
  limits: StorableLimits,
): Promise<{ id: string }[]> {
  return tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM (${storable(accountId, unstored, limits)}) storable`;
}

/** A statement that fails if `listStorable` would leave one of them out. */
export function refusalUnlessStorable(
  accountId: number,
  unstored: readonly UnstoredOperation[],
  limits: StorableLimits,
): Prisma.Sql {
  return Prisma.sql`
    SELECT refuse_unless((SELECT count(*) FROM (${storable(accountId, unstored, limits)}) s)
      = ${unstored.length}::int)`;
}

function storable(
  accountId: number,
  unstored: readonly UnstoredOperation[],
  { withinDays, ...times }: StorableLimits,
): Prisma.Sql {
  const rows = unstored.map(({ operation, identities, kinds, isCompared }) => {
    const { id, kind, counterparty, amountCents, externalIdHash, isDistinguishable } = operation;
    return {
      id,
      kind,
      counterparty,
      externalIdHash,
      isDistinguishable,
      amountCents: amountCents?.toString() ?? null,
      identities: identities.map(({ identity }) => identity),
      kinds,
      isCompared: isCompared && amountCents !== null,
    };
  });
  const compared = {
    kind: Prisma.sql`r.kind`,
    counterparty: Prisma.sql`r.counterparty`,
    amountCents: Prisma.sql`r."amountCents"::bigint`,
    externalIdHash: Prisma.sql`r."externalIdHash"`,
    isDistinguishable: Prisma.sql`r."isDistinguishable"`,
  };
  // PostgreSQL plans what it does not execute, too.
  const isAnyCompared = rows.some((row) => row.isCompared);
  const sendsMoney = rows.some(({ amountCents }) => amountCents !== null);
  const needsNoApproval = Prisma.sql`AND (r."amountCents" IS NULL OR NOT EXISTS (
        SELECT FROM approval_policy_change WHERE account_id = ${accountId}))`;
  const repeatsNothing = Prisma.sql`AND (NOT r."isCompared" OR NOT EXISTS (
        SELECT FROM account_restore
        WHERE account_id = ${accountId}
          AND restored_at > clock_timestamp() - ${withinDays} * interval '1 day'))
      AND (NOT r."isCompared" OR NOT EXISTS (
        ${possibleDuplicates(accountId, compared, times)} OFFSET 0))`;
  const isAnyPayment = rows.some(({ amountCents }) => amountCents !== null);
  const isUncontrolled = Prisma.sql`AND (r."amountCents" IS NULL
      OR NOT ${hasRestrictingControls(accountId)})`;
  return Prisma.sql`
    SELECT r.id FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      id uuid, kind text, counterparty text, "amountCents" text, "externalIdHash" text,
      "isDistinguishable" boolean, identities text[], kinds text[],
      "isCompared" boolean)
    WHERE (SELECT mode FROM bank_account WHERE id = ${accountId}) = 'live'
      ${sendsMoney ? needsNoApproval : Prisma.empty}
      AND NOT EXISTS (
        SELECT FROM unnest(r.identities) AS own(identity) CROSS JOIN unnest(r.kinds) AS other(kind)
        CROSS JOIN LATERAL (
          SELECT FROM operation_identity i
          WHERE i.account_id = ${opaqueAccountId(accountId)} AND i.kind = other.kind
            AND i.identity = own.identity OFFSET 0
        ) held)
      ${isAnyCompared ? repeatsNothing : Prisma.empty}
      ${isAnyPayment ? isUncontrolled : Prisma.empty}`;
}
