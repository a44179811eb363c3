// Lists and counts deliveries, measures endpoints by their newest deliveries, and makes many
// deliveries due again. Each statement looks at a bounded number of rows, whatever the history is.
import type { Db } from '../platform/postgres/database.service.js';
import { Prisma, type Delivery, type Event } from '../generated/service/client.js';
import type { DeliveryState } from '../generated/service/enums.js';
import { ordering } from '../platform/http/examined-ids.queries.js';
import {
  mostCounted,
  toTotal,
  type FoundRows,
  type ListTotal,
  type Order,
} from '../platform/http/listing.js';
import { maxReplayed, placeOf, type DeliveryPlace } from './events.schema.js';

/** How many deliveries or events one statement looks at where a filter has no index. */
const maxExamined = 2_000;

export type DeliveryRow = Delivery & Pick<Event, 'type' | 'resourceKind' | 'resourceId'>;

export interface DeliveryFilters {
  state?: DeliveryState | undefined;
  endpointId?: string | undefined;
  eventId?: string | undefined;
  eventType?: string | undefined;
}

interface DeliveryPage {
  after: DeliveryPlace | null;
  order?: Order | undefined;
}

/** The first deliveries; dead ones of each endpoint by their index. */
function first(
  accountId: number,
  { state, endpointId, eventId }: DeliveryFilters,
  { after, order, examined }: DeliveryPage & { examined: number },
): Prisma.Sql {
  const { past, sort } = ordering(order);
  const following = after
    ? Prisma.sql`AND d.event_id ${past}= ${after.eventId}::uuid AND (d.event_id, d.endpoint_id)
        ${past} (${after.eventId}::uuid, ${after.endpointId}::uuid)`
    : Prisma.empty;
  const rest = Prisma.sql`${following}
    ORDER BY d.event_id ${sort}, d.endpoint_id ${sort} LIMIT ${examined}`;
  if (eventId)
    return Prisma.sql`SELECT d.* FROM delivery d
      WHERE d.account_id = ${accountId} AND d.event_id = ${eventId}::uuid ${rest}`;
  if (state !== 'dead')
    return Prisma.sql`SELECT d.* FROM delivery d WHERE d.account_id = ${accountId} ${rest}`;
  return Prisma.sql`
    SELECT dead.* FROM webhook_endpoint p
    CROSS JOIN LATERAL (
      SELECT d.* FROM delivery d
      WHERE d.account_id = ${accountId} AND d.endpoint_id = p.id AND d.state = 'dead' ${rest}
    ) dead
    WHERE p.account_id = ${accountId}
      AND p.id = COALESCE(${endpointId ?? null}::uuid, p.id)
    ORDER BY event_id ${sort}, endpoint_id ${sort} LIMIT ${examined}`;
}

/** Those of the examined deliveries (x) that the filters find, with their events (e). */
const foundDeliveries = (
  accountId: number,
  { state, endpointId, eventType }: DeliveryFilters,
) => Prisma.sql`
  FROM examined x
  CROSS JOIN LATERAL (
    SELECT type, resource_kind, resource_id FROM event
    WHERE account_id = ${accountId} AND id = x.event_id OFFSET 0
  ) e
  WHERE x.state = COALESCE(${state ?? null}::delivery_state, x.state)
    AND x.endpoint_id = COALESCE(${endpointId ?? null}::uuid, x.endpoint_id)
    AND e.type = COALESCE(${eventType ?? null}::text, e.type)`;

/** How many of the newest deliveries the filters find. */
export async function totalDeliveries(
  db: Db,
  accountId: number,
  filters: DeliveryFilters,
): Promise<ListTotal> {
  const newest = first(accountId, filters, { after: null, examined: mostCounted + 1 });
  const [total] = await db.$queryRaw<{ examined: number; count: number }[]>`
    WITH examined AS MATERIALIZED (${newest})
    SELECT (SELECT count(*)::int FROM examined) AS examined, (
      SELECT count(*)::int ${foundDeliveries(accountId, filters)}) AS count`;
  return toTotal(total ?? { count: 0 });
}

/** A page and one row more, with what the events are about. */
export async function listDeliveryRows(
  db: Db,
  accountId: number,
  filters: DeliveryFilters,
  { limit, ...page }: DeliveryPage & { limit: number },
): Promise<FoundRows<DeliveryRow>> {
  const { state, endpointId, eventType } = filters;
  const isFiltered = [state, endpointId, eventType].some((filter) => filter !== undefined);
  const examined = isFiltered ? maxExamined : limit + 1;
  const { sort } = ordering(page.order);
  const order = Prisma.sql`event_id ${sort}, endpoint_id ${sort}`;
  const found = await db.$queryRaw<(DeliveryRow & { isFound: boolean })[]>`
    WITH examined AS MATERIALIZED (${first(accountId, filters, { ...page, examined })}), found AS (
      SELECT x.*, e.type, e.resource_kind, e.resource_id, true AS is_found
      ${foundDeliveries(accountId, filters)}
      ORDER BY ${order} LIMIT ${limit + 1}
    )
    SELECT * FROM found
    UNION ALL
    SELECT *, '', '', '', false FROM (SELECT * FROM examined OFFSET ${examined - 1} LIMIT 1) last
    ORDER BY is_found DESC, ${order}`;
  const rows = found.flatMap(({ isFound, ...row }) => (isFound ? [row] : []));
  const last = rows.length > limit ? undefined : found.find(({ isFound }) => !isFound);
  return { rows, lastExamined: last ? placeOf(last) : null };
}

export interface EndpointFigures {
  endpointId: string;
  /** Of the newest deliveries of the account. */
  delivered: number;
  dead: number;
  pending: number;
  /** Whether the endpoint has responded with 410, after which it is disabled. */
  wasGone: boolean;
}

/** What became of the newest deliveries of the account, by endpoint. */
export async function measureEndpoints(db: Db, accountId: number): Promise<EndpointFigures[]> {
  return db.$queryRaw`
    SELECT endpoint_id, (count(*) FILTER (WHERE state = 'delivered'))::int AS delivered,
           (count(*) FILTER (WHERE state = 'dead'))::int AS dead,
           (count(*) FILTER (WHERE state = 'pending'))::int AS pending,
           COALESCE(bool_or(last_status = 410), false) AS "wasGone"
    FROM (
      SELECT endpoint_id, state, last_status FROM delivery WHERE account_id = ${accountId}
      ORDER BY event_id DESC, endpoint_id DESC LIMIT ${maxExamined}
    ) newest
    GROUP BY endpoint_id`;
}

export interface Backlog {
  pending: number;
  dead: number;
}

/** How many deliveries of an endpoint are pending and dead, each up to `maxReplayed`. */
export async function countBacklog(
  db: Db,
  { accountId, endpointId }: { accountId: number; endpointId: string },
): Promise<Backlog> {
  const countOf = (state: 'pending' | 'dead') => Prisma.sql`(
    SELECT count(*)::int FROM (
      SELECT FROM delivery
      WHERE account_id = ${accountId} AND endpoint_id = ${endpointId}::uuid
        AND state = ${Prisma.raw(`'${state}'`)} LIMIT ${maxReplayed}
    ) counted)`;
  const [row] = await db.$queryRaw<Backlog[]>`
    SELECT ${countOf('pending')} AS pending, ${countOf('dead')} AS dead`;
  return row ?? { pending: 0, dead: 0 };
}

export interface ReplayTarget {
  accountId: number;
  endpointId: string;
  /** Undefined for all types. */
  eventType?: string | undefined;
}

/** The newest dead deliveries of an endpoint; those of a type look up each event. */
function deadOf({ accountId, endpointId, eventType }: ReplayTarget): Prisma.Sql {
  const ofType =
    eventType === undefined
      ? Prisma.empty
      : Prisma.sql`CROSS JOIN LATERAL (
          SELECT FROM event
          WHERE account_id = ${accountId} AND id = d.event_id AND type = ${eventType} OFFSET 0
        ) e`;
  return Prisma.sql`
    SELECT d.id FROM delivery d ${ofType}
    WHERE d.account_id = ${accountId} AND d.endpoint_id = ${endpointId}::uuid AND d.state = 'dead'
    ORDER BY d.event_id DESC LIMIT ${maxReplayed}`;
}

export async function countDead(db: Db, target: ReplayTarget): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM (${deadOf(target)}) dead`;
  return row?.count ?? 0;
}

/** Makes the newest dead deliveries of an endpoint due at once. Returns how many. */
export async function replayDead(db: Db, target: ReplayTarget): Promise<number> {
  return db.$executeRaw`
    UPDATE delivery d
    SET state = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), delivered_at = NULL
    FROM (${deadOf(target)}) dead
    WHERE d.account_id = ${target.accountId} AND d.id = dead.id AND d.state = 'dead'`;
}

/**
 * The position after which the events of a time and later stand. Positions are taken under a lock
 * of the account, in the order of `created_at`, so that a binary search finds it.
 */
export async function findPositionBefore(db: Db, accountId: number, since: Date): Promise<bigint> {
  const [row] = await db.$queryRaw<{ position: bigint }[]>`
    WITH RECURSIVE search(low, high) AS (
      SELECT 0::bigint, COALESCE(max(position), 0) FROM event WHERE account_id = ${accountId}
      UNION ALL
      SELECT CASE WHEN next.created_at < ${since} THEN next.position ELSE low END,
             CASE WHEN next.created_at < ${since} THEN high ELSE middle.position END
      FROM search
      CROSS JOIN LATERAL (SELECT (low + high) / 2 AS position) middle
      CROSS JOIN LATERAL (
        SELECT e.position, e.created_at FROM event e
        WHERE e.account_id = ${accountId} AND e.position > middle.position
        ORDER BY e.position LIMIT 1
      ) next
      WHERE low < high
    )
    SELECT low AS position FROM search ORDER BY high - low LIMIT 1`;
  return row?.position ?? 0n;
}

/** The next events after a position; `isWanted` where the endpoint gets the event. */
const eventsAfter = ({ accountId, endpointId, eventType }: ReplayTarget, after: bigint) =>
  Prisma.sql`
    SELECT e.id, e.position,
           e.type = COALESCE(${eventType ?? null}::text, e.type)
             AND (p.event_types = '{}' OR e.type = ANY (p.event_types)) AS is_wanted
    FROM webhook_endpoint p
    CROSS JOIN LATERAL (
      SELECT id, position, type FROM event
      WHERE account_id = ${accountId} AND position > ${after}
      ORDER BY position LIMIT ${maxReplayed}
    ) e
    WHERE p.account_id = ${accountId} AND p.id = ${endpointId}::uuid AND p.deleted_at IS NULL`;

export interface ReplayedEvents {
  /** Events that the endpoint gets. */
  count: number;
  /** The last event that was looked at; null if there is none. */
  lastPosition: bigint | null;
  /** False if there may be events after it. */
  isComplete: boolean;
}

const summaryOf = Prisma.sql`
  (count(*) FILTER (WHERE is_wanted))::int AS count, max(position) AS "lastPosition",
  count(*) < ${maxReplayed} AS "isComplete"`;

const noEvents: ReplayedEvents = { count: 0, lastPosition: null, isComplete: true };

export async function countEventsAfter(
  db: Db,
  target: ReplayTarget,
  after: bigint,
): Promise<ReplayedEvents> {
  const [row] = await db.$queryRaw<ReplayedEvents[]>`
    SELECT ${summaryOf} FROM (${eventsAfter(target, after)}) events`;
  return row ?? noEvents;
}

/**
 * Makes the deliveries of the next events after a position due at once. Events that had no delivery
 * to the endpoint get one. A pending delivery stays as it is.
 */
export async function replayEventsAfter(
  db: Db,
  target: ReplayTarget,
  after: bigint,
): Promise<ReplayedEvents> {
  const [row] = await db.$queryRaw<ReplayedEvents[]>`
    WITH events AS MATERIALIZED (${eventsAfter(target, after)}), due AS (
      INSERT INTO delivery AS d (account_id, id, event_id, endpoint_id, state, next_attempt_at)
      SELECT ${target.accountId}::int, gen_random_uuid(), id, ${target.endpointId}::uuid,
             'pending', clock_timestamp()
      FROM events WHERE is_wanted ORDER BY position
      ON CONFLICT (account_id, event_id, endpoint_id) DO UPDATE
      SET state = 'pending', attempts = 0, next_attempt_at = clock_timestamp(),
          delivered_at = NULL
      WHERE d.state <> 'pending'
    )
    SELECT ${summaryOf} FROM events`;
  return row ?? noEvents;
}
