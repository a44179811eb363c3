// Writes the outbox: an event and its deliveries are inserted together, and only one process at a
// time claims a due delivery.
import type { Db, Tx } from '../database.service.js';
import type { Delivery, Event } from '../generated/service/client.js';

/** Inserts events and one delivery for each endpoint that subscribes to the event's type. */
export async function insertEvents(
  tx: Tx,
  accountId: number,
  events: Pick<Event, 'id' | 'type' | 'data'>[],
): Promise<void> {
  await tx.$executeRaw`
    WITH inserted AS (
      INSERT INTO event (account_id, id, type, data)
      SELECT ${accountId}, e.id::uuid, e.type, e.data
      FROM unnest(${events.map(({ id }) => id)}::text[],
                  ${events.map(({ type }) => type)}::text[],
                  ${events.map(({ data }) => data)}::text[]) AS e(id, type, data)
      RETURNING id, type
    )
    INSERT INTO delivery (account_id, id, event_id, endpoint_id, state, next_attempt_at)
    SELECT ${accountId}, gen_random_uuid(), i.id, p.id, 'pending', now()
    FROM inserted i
    JOIN webhook_endpoint p ON p.account_id = ${accountId} AND p.deleted_at IS NULL
      AND (p.event_types = '{}' OR i.type = ANY (p.event_types))`;
}

/** Endpoints with a due delivery. Disabled and paused endpoints are left out. */
export async function listDueEndpoints(
  db: Db,
  accountId: number | null,
): Promise<{ accountId: number; endpointId: string }[]> {
  return db.$queryRaw`
    SELECT p.account_id, p.id AS "endpointId" FROM webhook_endpoint p
    WHERE p.is_enabled AND p.deleted_at IS NULL
      AND (p.paused_until IS NULL OR p.paused_until < clock_timestamp())
      AND (${accountId}::int IS NULL OR p.account_id = ${accountId}::int)
      AND EXISTS (
        SELECT 1 FROM delivery d
        WHERE d.account_id = p.account_id AND d.endpoint_id = p.id AND d.state = 'pending'
          AND d.next_attempt_at <= now()
      )`;
}

export interface ClaimedEventDelivery
  extends Pick<Delivery, 'id' | 'eventId'>, Pick<Event, 'type' | 'data'> {
  eventCreatedAt: Date;
  /** This attempt's number, from 1. */
  attempt: number;
}

/**
 * Claims due deliveries of one endpoint for `leaseMs`. They become due again after the lease, so
 * that another process repeats the deliveries of a process that died.
 */
export async function claimDeliveries(
  db: Db,
  { accountId, endpointId }: { accountId: number; endpointId: string },
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<ClaimedEventDelivery[]> {
  return db.$queryRaw<ClaimedEventDelivery[]>`
    WITH due AS (
      SELECT d.id FROM delivery d
      WHERE d.account_id = ${accountId} AND d.endpoint_id = ${endpointId}::uuid
        AND d.state = 'pending' AND d.next_attempt_at <= now()
      ORDER BY d.next_attempt_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE delivery d
    SET attempts = d.attempts + 1,
        next_attempt_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    FROM due, event e
    WHERE d.account_id = ${accountId} AND d.id = due.id
      AND e.account_id = d.account_id AND e.id = d.event_id
    RETURNING d.id, d.event_id, e.type, e.data,
              e.created_at AS "eventCreatedAt", d.attempts AS attempt`;
}

export interface DeliveryResult {
  id: string;
  attempt: number;
  status: number | null;
  error: string | null;
  state: Delivery['state'];
  /** Null unless the state is pending. */
  retryInMs: number | null;
}

/** Records the result of an attempt, unless a later attempt has begun. */
export async function recordDeliveryResult(
  db: Db,
  accountId: number,
  { id, attempt, status, error, state, retryInMs }: DeliveryResult,
): Promise<void> {
  await db.$executeRaw`
    UPDATE delivery
    SET state = ${state}, last_status = ${status}, last_error = ${error},
        next_attempt_at = clock_timestamp() + ${retryInMs}::float8 * interval '1 millisecond',
        delivered_at = CASE WHEN ${state} = 'delivered' THEN clock_timestamp() END
    WHERE account_id = ${accountId} AND id = ${id}::uuid
      AND state = 'pending' AND attempts = ${attempt}`;
}

/** Makes a delivery due at once, with its attempts reset. False if its endpoint was removed. */
export async function makeDeliveryDueNow(db: Db, accountId: number, id: string): Promise<boolean> {
  const updated = await db.$executeRaw`
    UPDATE delivery d
    SET state = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), delivered_at = NULL
    FROM webhook_endpoint p
    WHERE d.account_id = ${accountId} AND d.id = ${id}::uuid
      AND p.account_id = d.account_id AND p.id = d.endpoint_id AND p.deleted_at IS NULL`;
  return updated > 0;
}
