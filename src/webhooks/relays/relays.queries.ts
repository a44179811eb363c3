// Claims deliveries of relayed webhooks and records their results. A trigger inserts them.
import type { Db, SqlTx, Tx, Reader } from '../../platform/postgres/database.service.js';
import type { RelayDelivery, RelayRegistration } from '../../generated/service/client.js';

export interface DueRelay {
  accountId: number;
  registrationId: string;
}

/** Locks a registration until the commit. */
export async function lockRelay(tx: Tx, { accountId, registrationId }: DueRelay): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM relay_registration
    WHERE account_id = ${accountId} AND id = ${registrationId}::uuid FOR UPDATE`;
}

/** Registrations with a due delivery. */
export async function listDueRelays(db: Reader): Promise<DueRelay[]> {
  return db.$queryRaw`
    SELECT r.account_id, r.id AS "registrationId" FROM relay_registration r
    WHERE EXISTS (
      SELECT FROM relay_delivery d
      WHERE d.account_id = r.account_id AND d.registration_id = r.id AND d.state = 'pending'
        AND d.next_attempt_at <= (SELECT clock_timestamp()))`;
}

export type ClaimedRelay = Pick<RelayDelivery, 'id'> &
  Pick<RelayRegistration, 'url' | 'authorizationScheme' | 'authorization'> & {
    /** Null once the bytes of the webhook were deleted. */
    body: Uint8Array | null;
    attempt: number;
    claimedAt: Date;
  };

/** Claims due deliveries of one registration for `leaseMs`. They become due again after it. */
export async function claimRelays(
  db: Db,
  { accountId, registrationId }: DueRelay,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<ClaimedRelay[]> {
  return db.$queryRaw<ClaimedRelay[]>`
    WITH due AS (
      SELECT d.id FROM relay_delivery d
      WHERE d.account_id = ${accountId} AND d.registration_id = ${registrationId}::uuid
        AND d.state = 'pending' AND d.next_attempt_at <= (SELECT clock_timestamp())
      ORDER BY d.next_attempt_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE relay_delivery d
    SET attempts = d.attempts + 1,
        next_attempt_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    FROM due, relay_registration r, webhook_event w
    WHERE d.account_id = ${accountId} AND d.id = due.id
      AND r.account_id = d.account_id AND r.id = d.registration_id
      AND w.account_id = d.account_id AND w.event_type = d.event_type
      AND w.body_hash = d.body_hash
    RETURNING d.id, r.url, r.authorization_scheme, r.authorization, w.body,
              d.attempts AS attempt, clock_timestamp() AS "claimedAt"`;
}

export interface RelayResult {
  id: string;
  attempt: number;
  state: RelayDelivery['state'];
  status: number | null;
  error: string | null;
  /** Null unless the state is pending. */
  retryInMs: number | null;
}

/** Records the result of an attempt, unless a later attempt has begun. */
export async function recordRelayResult(
  db: Db,
  accountId: number,
  { id, attempt, state, status, error, retryInMs }: RelayResult,
): Promise<void> {
  await db.$executeRaw`
    UPDATE relay_delivery
    SET state = ${state}::delivery_state, last_status = ${status}, last_error = ${error},
        next_attempt_at = clock_timestamp() + ${retryInMs}::float8 * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'pending'
      AND attempts = ${attempt}`;
}

/** Deletes up to `limit` deliveries of a registration. Returns how many. */
export async function deleteSomeRelays(
  db: Db,
  { accountId, registrationId }: DueRelay,
  limit: number,
): Promise<number> {
  return db.$executeRaw`
    DELETE FROM relay_delivery WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM relay_delivery
      WHERE account_id = ${accountId} AND registration_id = ${registrationId}::uuid
      LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
}

/** Deletes deliveries that ended more than `days` ago. Returns how many. */
export async function deleteOldRelays(db: SqlTx, days: number, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM relay_delivery WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM relay_delivery
      WHERE state <> 'pending'
        AND created_at < (SELECT clock_timestamp() - ${days} * interval '1 day')
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
}
