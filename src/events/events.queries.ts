// Writes the outbox: an event and its deliveries are inserted together, and only one process at a
// time claims a due delivery.
import { setImmediate } from 'node:timers/promises';
import {
  arrayColumns,
  jsonLines,
  opaqueAccountId,
  opaqueArray,
  withoutWaitForDisk,
  type Db,
  type SqlTx,
  type Tx,
  type Reader,
} from '../platform/postgres/database.service.js';
import { apiVersion } from '../platform/http/openapi.js';
import { PairMap } from '../platform/pair-map.js';
import {
  Prisma,
  type Delivery,
  type Event,
  type WebhookEndpoint,
} from '../generated/service/client.js';

export type InsertedEvent = Pick<Event, 'id' | 'type' | 'resourceKind' | 'resourceId'> &
  Partial<Pick<Event, 'traceparent'>>;

/** Events that one statement inserts. */
export interface EventChunk {
  events: InsertedEvent[];
  /** The JSON text of what each event says, a line each. */
  data: string;
}

/**
 * Inserts events and one delivery for each endpoint that subscribes to the event's type.
 *
 * The first statement locks the account's last position until the commit. So the next transaction
 * takes its positions after this one has committed: whoever reads a position can read all before
 * it, and a rollback leaves no gap. The sequence of a resource follows from the stored events,
 * which the other statements read under that lock.
 */
export async function insertEvents(
  tx: SqlTx,
  accountId: number,
  chunks: readonly EventChunk[],
): Promise<void> {
  let left = chunks.reduce((count, { events }) => count + events.length, 0);
  const sent: Promise<unknown>[] = [];
  const send = (statement: Promise<unknown>) => {
    // Its error is thrown below, once all are sent.
    statement.catch(() => undefined);
    sent.push(statement);
  };
  send(takePositions(tx, accountId, left));
  for (const chunk of chunks) {
    send(insertChunk(tx, accountId, chunk, left));
    left -= chunk.events.length;
    // PostgreSQL inserts this chunk while the parameters of the next one are made.
    if (left > 0) await setImmediate();
  }
  await Promise.all(sent);
}

async function takePositions(tx: SqlTx, accountId: number, count: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO event_position AS p (account_id, position) VALUES (${accountId}, ${count})
    ON CONFLICT (account_id) DO UPDATE SET position = p.position + EXCLUDED.position`;
}

/** `left`: of the positions that were taken, so many are for this chunk and those after it. */
async function insertChunk(
  tx: SqlTx,
  accountId: number,
  { events, data }: EventChunk,
  left: number,
): Promise<void> {
  const column = arrayColumns(events);
  const isTraced = events.some(({ traceparent }) => traceparent);
  const traceparents = isTraced ? events.map(({ traceparent }) => traceparent) : [];
  await tx.$executeRaw`
    WITH last AS MATERIALIZED (
      SELECT position - ${left} AS position
      FROM event_position WHERE account_id = ${opaqueAccountId(accountId)}
    ), inserted AS (
      INSERT INTO event
        (account_id, id, position, type, resource_kind, resource_id, sequence, data, api_version,
         traceparent)
      SELECT ${accountId}, e.id::uuid, last.position + e.number, e.type,
             e.resource_kind, e.resource_id,
             COALESCE(latest.sequence, 0) + e.number_within, e.data, ${apiVersion},
             e.traceparent
      FROM last, unnest(${column(({ id }) => id, 'text')}, ${column(({ type }) => type, 'text')},
                  ${column(({ resourceKind }) => resourceKind, 'text')},
                  ${column(({ resourceId }) => resourceId, 'text')},
                  ${opaqueArray(numbersWithinResources(events), 'int')},
                  ${jsonLines(data)},
                  -- Shorter than the others: the rest is null.
                  ${opaqueArray(traceparents, 'text')}) WITH ORDINALITY
        AS e(id, type, resource_kind, resource_id, number_within, data, traceparent, number)
      LEFT JOIN LATERAL (
        SELECT o.sequence FROM event o
        WHERE o.account_id = ${opaqueAccountId(accountId)}
          AND o.resource_kind = e.resource_kind AND o.resource_id = e.resource_id
        ORDER BY o.sequence DESC LIMIT 1
      ) latest ON true
      RETURNING id, type
    )
    INSERT INTO delivery (account_id, id, event_id, endpoint_id, state, next_attempt_at)
    SELECT ${accountId}, gen_random_uuid(), i.id, p.id, 'pending', clock_timestamp()
    FROM inserted i
    JOIN webhook_endpoint p ON p.account_id = ${accountId} AND p.deleted_at IS NULL
      AND (p.event_types = '{}' OR i.type = ANY (p.event_types))`;
}

/** 1, 2, 3 … for the events of each resource. */
function numbersWithinResources(events: readonly InsertedEvent[]): number[] {
  const counts = new PairMap<number>();
  return events.map(({ resourceKind: kind, resourceId: id }) => {
    const number = (counts.get(kind, id) ?? 0) + 1;
    counts.set(kind, id, number);
    return number;
  });
}

/**
 * Leaves out a million positions. After the database was set back, positions that were handed out
 * before are not handed out again, so that a reader with a later cursor misses no event.
 */
export async function skipPositions(tx: Tx, accountId: number): Promise<void> {
  const data = { position: { increment: 1_000_000 } };
  await tx.eventPosition.updateMany({ where: { accountId }, data });
}

export interface DueEndpoint {
  accountId: number;
  endpointId: string;
}

/**
 * Endpoints of one account with a due delivery; null: of all. Disabled and paused endpoints are
 * left out.
 */
export async function listDueEndpoints(
  db: Reader,
  accountId: number | null,
): Promise<DueEndpoint[]> {
  const ofAccount: Prisma.Sql =
    accountId === null ? Prisma.empty : Prisma.sql`AND p.account_id = ${accountId}`;
  return db.$queryRaw`
    SELECT p.account_id, p.id AS "endpointId" FROM webhook_endpoint p
    WHERE p.is_enabled AND p.deleted_at IS NULL
      AND (p.paused_until IS NULL OR p.paused_until < clock_timestamp()) ${ofAccount}
      AND EXISTS (
        SELECT 1 FROM delivery d
        WHERE d.account_id = p.account_id AND d.endpoint_id = p.id AND d.state = 'pending'
          AND d.next_attempt_at <= (SELECT clock_timestamp())
      )`;
}

export interface ClaimedEventDelivery
  extends
    Pick<Delivery, 'id' | 'eventId'>,
    Pick<
      Event,
      ('type' | 'resourceKind' | 'resourceId' | 'sequence' | 'data' | 'apiVersion') | 'traceparent'
    > {
  eventCreatedAt: Date;
  /** PostgreSQL's time of this attempt, which its signature states. */
  claimedAt: Date;
  /** This attempt's number, from 1. */
  attempt: number;
}

/**
 * Claims due deliveries of one endpoint for `leaseMs`. They become due again after the lease, so
 * that another process repeats the deliveries of a process that died.
 */
export async function claimDeliveries(
  db: SqlTx,
  { accountId, endpointId }: { accountId: number; endpointId: string },
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<ClaimedEventDelivery[]> {
  return db.$queryRaw<ClaimedEventDelivery[]>`
    WITH due AS (
      SELECT d.id FROM delivery d
      WHERE d.account_id = ${accountId} AND d.endpoint_id = ${endpointId}::uuid
        AND d.state = 'pending' AND d.next_attempt_at <= (SELECT clock_timestamp())
      ORDER BY d.next_attempt_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE delivery d
    SET attempts = d.attempts + 1,
        next_attempt_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    FROM due, event e
    WHERE d.account_id = ${accountId} AND d.id = due.id
      AND e.account_id = d.account_id AND e.id = d.event_id AND ${withoutWaitForDisk}
    RETURNING d.id, d.event_id, e.type, e.resource_kind, e.resource_id, e.sequence, e.data,
              e.api_version, e.traceparent, e.created_at AS "eventCreatedAt", d.attempts AS attempt,
              clock_timestamp() AS "claimedAt"`;
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

/** Records the results of attempts, except of those after which a later attempt has begun. */
export async function recordDeliveryResults(
  db: SqlTx,
  accountId: number,
  results: readonly DeliveryResult[],
): Promise<void> {
  if (results.length === 0) return;
  const column = <Value>(pick: (result: DeliveryResult) => Value) => results.map(pick);
  await db.$executeRaw`
    UPDATE delivery d
    SET state = r.state, last_status = r.status, last_error = r.error,
        next_attempt_at = clock_timestamp() + r.retry_in_ms * interval '1 millisecond',
        delivered_at = CASE WHEN r.state = 'delivered' THEN clock_timestamp() END
    FROM unnest(
      ${column(({ id }) => id)}::uuid[], ${column(({ attempt }) => attempt)}::int[],
      ${column(({ state }) => state)}::delivery_state[],
      ${column(({ status }) => status)}::int[], ${column(({ error }) => error)}::text[],
      ${column(({ retryInMs }) => retryInMs)}::float8[]
    ) AS r (id, attempt, state, status, error, retry_in_ms)
    WHERE d.account_id = ${accountId} AND d.id = r.id
      AND d.state = 'pending' AND d.attempts = r.attempt`;
}

/**
 * Makes the delivery of an event to an endpoint due at once, with its attempts reset. Creates it if
 * the event had no delivery to that endpoint. Null if the endpoint was removed.
 */
export async function makeDeliveryDueNow(
  db: Db,
  { accountId, eventId, endpointId }: Pick<Delivery, 'accountId' | 'eventId' | 'endpointId'>,
): Promise<{ id: string } | null> {
  const [due] = await db.$queryRaw<{ id: string }[]>`
    INSERT INTO delivery AS d (account_id, id, event_id, endpoint_id, state, next_attempt_at)
    SELECT p.account_id, gen_random_uuid(), ${eventId}::uuid, p.id, 'pending', clock_timestamp()
    FROM webhook_endpoint p
    WHERE p.account_id = ${accountId} AND p.id = ${endpointId}::uuid AND p.deleted_at IS NULL
    ON CONFLICT (account_id, event_id, endpoint_id) DO UPDATE
    SET state = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), delivered_at = NULL
    RETURNING d.id`;
  return due ?? null;
}

type EndpointKey = Pick<WebhookEndpoint, 'accountId' | 'id'>;

/**
 * Replaces the secret. The secret before it is valid for `overlapSeconds` more. False if the
 * endpoint was removed, or while an earlier overlap lasts; an overlap of 0 ends that one too.
 */
export async function replaceSecret(
  db: Db,
  { accountId, id }: EndpointKey,
  { secret, overlapSeconds }: { secret: string; overlapSeconds: number },
): Promise<boolean> {
  const updated = await db.$executeRaw`
    UPDATE webhook_endpoint
    SET secret = ${secret}, updated_at = clock_timestamp(),
        previous_secret = CASE WHEN ${overlapSeconds}::int > 0 THEN secret END,
        previous_secret_until = CASE WHEN ${overlapSeconds}::int > 0
          THEN clock_timestamp() + ${overlapSeconds}::int * interval '1 second' END
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND deleted_at IS NULL
      AND (${overlapSeconds}::int = 0 OR previous_secret_until IS NULL
        OR previous_secret_until <= clock_timestamp())`;
  return updated > 0;
}

/** PostgreSQL's time of a test that may be sent now; null within `intervalMs` after another one. */
export async function claimTest(
  db: Db,
  { accountId, id }: EndpointKey,
  intervalMs: number,
): Promise<Date | null> {
  const [claimed] = await db.$queryRaw<{ testedAt: Date }[]>`
    UPDATE webhook_endpoint SET tested_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid
      AND (tested_at IS NULL
        OR tested_at <= clock_timestamp() - ${intervalMs} * interval '1 millisecond')
    RETURNING tested_at`;
  return claimed?.testedAt ?? null;
}

/** Stops deliveries to an endpoint until it is enabled again. */
export async function disableEndpoint(db: Db, { accountId, id }: EndpointKey): Promise<void> {
  await db.$executeRaw`
    UPDATE webhook_endpoint SET is_enabled = false, updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}

export async function pauseEndpoint(
  db: Db,
  { accountId, id }: EndpointKey,
  pauseMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE webhook_endpoint
    SET paused_until = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}

/** False if the endpoint was removed before. */
export async function markEndpointRemoved(
  tx: Tx,
  { accountId, id }: EndpointKey,
): Promise<boolean> {
  const removed = await tx.$executeRaw`
    UPDATE webhook_endpoint SET deleted_at = clock_timestamp(), is_enabled = false
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND deleted_at IS NULL`;
  return removed > 0;
}

/**
 * Ends pending deliveries that no attempt will be made for: of a removed endpoint, and of an
 * endpoint that has been disabled, and the delivery due, for `afterMs`. A delivery that an event
 * gave to an endpoint while it was being removed is found only here. Returns the number of ended
 * deliveries.
 */
export async function endUndeliverable(
  db: Db,
  { afterMs, limit }: { afterMs: number; limit: number },
): Promise<number> {
  return db.$executeRaw`
    WITH ended AS (
      SELECT p.account_id, o.id, p.deleted_at IS NOT NULL AS is_removed
      FROM webhook_endpoint p
      CROSS JOIN (SELECT clock_timestamp() - ${afterMs} * interval '1 millisecond' AS time) cut
      CROSS JOIN LATERAL (
        SELECT d.id FROM delivery d
        WHERE d.account_id = p.account_id AND d.endpoint_id = p.id AND d.state = 'pending'
          AND d.next_attempt_at < CASE WHEN p.deleted_at IS NULL THEN cut.time ELSE 'infinity' END
        LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
      ) o
      WHERE p.deleted_at IS NOT NULL OR (NOT p.is_enabled AND p.updated_at < cut.time)
      LIMIT ${limit}
    )
    UPDATE delivery d
    SET state = 'dead', next_attempt_at = NULL,
        last_error = CASE WHEN e.is_removed THEN 'endpoint_removed' ELSE 'endpoint_disabled' END
    FROM ended e WHERE d.account_id = e.account_id AND d.id = e.id`;
}
