// Reads stored webhooks for people, in the order of their receipt, and takes webhooks out of the
// quarantine. Each state has an index in that order, so that a page costs the same whatever the
// history is.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type RelayDelivery,
  type RelayRegistration,
  type StatementLine,
  type WebhookEvent,
} from '../../generated/service/client.js';
import { WebhookEventState } from '../../generated/service/enums.js';
import { ordering } from '../../platform/http/examined-ids.queries.js';
import { mostCounted, toTotal, type ListTotal, type Order } from '../../platform/http/listing.js';
import type { WebhookReference } from '../processing/webhook-body.js';

/** How many webhooks of each state a page of one event type looks at. */
const maxExamined = 2_000;
const maxLines = 5;

export type WebhookKey = Pick<WebhookEvent, 'eventType' | 'bodyHash'>;

export interface WebhookFilters {
  state?: WebhookEventState | undefined;
  eventType?: string | undefined;
  /** Of the receipt. */
  from?: Date | undefined;
  until?: Date | undefined;
}

/** Where a page ends: the order is by receipt, then by key. */
export type WebhookPlace = WebhookKey & Pick<WebhookEvent, 'receivedAt'>;

export type WebhookRow = WebhookPlace &
  Pick<WebhookEvent, 'state' | 'copies' | 'referenceKind' | 'reference' | 'processedAt'>;

const inOrderOf = (order?: Order) => {
  const { sort } = ordering(order);
  return Prisma.sql`received_at ${sort}, event_type ${sort}, body_hash ${sort}`;
};

/** The first webhooks of a state; the planner takes its index only for a state in the text. */
const firstOfState = (
  accountId: number,
  state: WebhookEventState,
  conditions: readonly Prisma.Sql[],
  { limit, order }: { limit: number; order?: Order | undefined },
) => Prisma.sql`(
  SELECT * FROM webhook_event
  WHERE account_id = ${accountId} AND state = ${Prisma.raw(`'${state}'`)}
    AND ${Prisma.join([Prisma.sql`true`, ...conditions], ' AND ')}
  ORDER BY ${inOrderOf(order)} LIMIT ${limit})`;

const afterPlace = ({ receivedAt, eventType, bodyHash }: WebhookPlace, order?: Order) => {
  const { past } = ordering(order);
  return Prisma.sql`received_at ${past}= ${receivedAt}
    AND (received_at, event_type, body_hash)
      ${past} (${receivedAt}::timestamptz, ${eventType}, ${bodyHash})`;
};

/** The first webhooks that the state and the time of the filters find, of each state. */
function firstOf(
  accountId: number,
  { state, from, until }: WebhookFilters,
  page: { after?: WebhookPlace | null; limit: number; order?: Order | undefined },
): Prisma.Sql {
  const conditions = [
    ...(page.after ? [afterPlace(page.after, page.order)] : []),
    ...(from ? [Prisma.sql`received_at >= ${from}`] : []),
    ...(until ? [Prisma.sql`received_at < ${until}`] : []),
  ];
  const states = state ? [state] : Object.values(WebhookEventState);
  const found = states.map((one) => firstOfState(accountId, one, conditions, page));
  return Prisma.sql`(${Prisma.join(found, ' UNION ALL ')})`;
}

const isOfType = ({ eventType }: WebhookFilters) =>
  Prisma.sql`event_type = COALESCE(${eventType ?? null}::text, event_type)`;

/** How many of the newest webhooks the filters find. */
export async function totalWebhooks(
  db: Db,
  accountId: number,
  filters: WebhookFilters,
): Promise<ListTotal> {
  const limit = mostCounted + 1;
  const [total] = await db.$queryRaw<{ examined: number; count: number }[]>`
    SELECT count(*)::int AS examined, (count(*) FILTER (WHERE ${isOfType(filters)}))::int AS count
    FROM (SELECT event_type FROM ${firstOf(accountId, filters, { limit })} newest LIMIT ${limit})
      examined`;
  return toTotal(total ?? { count: 0 });
}

/**
 * A page and one row more. Where an event type is rare, a bounded number of webhooks is examined:
 * `lastExamined` is then the place from which the next page goes on.
 */
export async function listWebhookRows(
  db: Db,
  accountId: number,
  filters: WebhookFilters,
  page: { after: WebhookPlace | null; limit: number; order?: Order | undefined },
): Promise<{ rows: WebhookRow[]; lastExamined: WebhookPlace | null }> {
  const { limit } = page;
  const order = inOrderOf(page.order);
  const examined = filters.eventType === undefined ? limit + 1 : maxExamined;
  const first = firstOf(accountId, filters, { ...page, limit: examined });
  const found = await db.$queryRaw<(WebhookRow & { isFound: boolean })[]>`
    WITH examined AS MATERIALIZED (
      SELECT * FROM ${first} first
      ORDER BY ${order} LIMIT ${examined}
    ), found AS (
      SELECT *, true AS is_found FROM examined
      WHERE ${isOfType(filters)}
      ORDER BY ${order} LIMIT ${limit + 1}
    )
    SELECT event_type, body_hash, received_at, state, copies, reference_kind, reference,
           processed_at, is_found
    FROM (
      SELECT * FROM found
      UNION ALL
      SELECT *, false FROM (SELECT * FROM examined OFFSET ${examined - 1} LIMIT 1) last
    ) page
    ORDER BY is_found DESC, ${order}`;
  const rows = found.filter(({ isFound }) => isFound);
  const last = found.find(({ isFound }) => !isFound) ?? null;
  return { rows, lastExamined: rows.length > limit ? null : last };
}

export type ReportedLine = Pick<
  StatementLine,
  'nsu' | 'isCredit' | 'amountCents' | 'occurredAt' | 'recordedAt'
>;

/** The newest lines of the statement that show the reference of a webhook. */
export async function listReportedLines(
  db: Db,
  accountId: number,
  { kind, value }: WebhookReference,
): Promise<ReportedLine[]> {
  const isReported = {
    nsu: () => ({ nsu: BigInt(value) }),
    end_to_end_id: () => ({ endToEndId: value }),
    correlation_id: () => ({ correlationId: value }),
  };
  return db.statementLine.findMany({
    where: { accountId, ...isReported[kind]() },
    orderBy: { nsu: 'desc' },
    take: maxLines,
  });
}

export type RelayedTo = Pick<RelayRegistration, 'url'> &
  Pick<RelayDelivery, 'state' | 'attempts' | 'lastStatus' | 'lastError'>;

/** Whether a webhook was relayed to a client of the bank. */
export async function findRelayOf(
  db: Db,
  accountId: number,
  { eventType, bodyHash }: WebhookKey,
): Promise<RelayedTo | null> {
  const registration = await db.relayRegistration.findUnique({
    where: { accountId_eventType: { accountId, eventType } },
    select: { id: true, url: true },
  });
  if (!registration) return null;
  const { id: registrationId, url } = registration;
  const key = { accountId, registrationId, eventType, bodyHash };
  const delivery = await db.relayDelivery.findUnique({
    where: { accountId_registrationId_eventType_bodyHash: key },
    select: { state: true, attempts: true, lastStatus: true, lastError: true },
  });
  return delivery && { url, ...delivery };
}

/** Webhooks from which nothing follows until a person decides. */
const isParked = Prisma.sql`(state = 'quarantined' OR state = 'discarded')`;

export type ParkedWebhook = WebhookKey & { body: Uint8Array };

/**
 * Locks those of the webhooks that are quarantined or discarded and have their bytes, in the order
 * in which copies of them are counted.
 */
export async function lockParked(
  tx: Tx,
  accountId: number,
  keys: readonly WebhookKey[],
): Promise<ParkedWebhook[]> {
  return tx.$queryRaw<ParkedWebhook[]>`
    SELECT w.event_type, w.body_hash, w.body
    FROM unnest(${keys.map(({ eventType }) => eventType)}::text[],
                ${keys.map(({ bodyHash }) => bodyHash)}::text[]) AS k(event_type, body_hash)
    JOIN webhook_event w ON w.account_id = ${accountId} AND w.event_type = k.event_type
      AND w.body_hash = k.body_hash
    WHERE ${isParked} AND w.body IS NOT NULL
    ORDER BY w.event_type, w.body_hash FOR NO KEY UPDATE OF w`;
}

export interface ReleasedWebhook extends WebhookKey {
  state: 'pending' | 'unhandled';
  reference: WebhookReference | null;
}

/** Webhooks that are locked go on as if they had just been received. */
export async function releaseParked(
  tx: Tx,
  accountId: number,
  released: readonly ReleasedWebhook[],
): Promise<void> {
  const column = <Value>(pick: (one: ReleasedWebhook) => Value) => released.map(pick);
  await tx.$executeRaw`
    UPDATE webhook_event w
    SET state = r.state::webhook_event_state, processed_at = NULL,
        reference_kind = r.reference_kind, reference = r.reference
    FROM unnest(${column(({ eventType }) => eventType)}::text[],
                ${column(({ bodyHash }) => bodyHash)}::text[],
                ${column(({ state }) => state)}::text[],
                ${column(({ reference }) => reference?.kind ?? null)}::text[],
                ${column(({ reference }) => reference?.value ?? null)}::text[])
      AS r(event_type, body_hash, state, reference_kind, reference)
    WHERE w.account_id = ${accountId} AND w.event_type = r.event_type
      AND w.body_hash = r.body_hash`;
}

/** Takes webhooks out of the quarantine. Returns how many were in it. */
export async function discardQuarantined(
  db: Db,
  accountId: number,
  keys: readonly WebhookKey[],
): Promise<number> {
  return db.$executeRaw`
    WITH locked AS MATERIALIZED (
      SELECT w.event_type, w.body_hash
      FROM unnest(${keys.map(({ eventType }) => eventType)}::text[],
                  ${keys.map(({ bodyHash }) => bodyHash)}::text[]) AS k(event_type, body_hash)
      JOIN webhook_event w ON w.account_id = ${accountId} AND w.event_type = k.event_type
        AND w.body_hash = k.body_hash
      WHERE w.state = 'quarantined'
      ORDER BY w.event_type, w.body_hash FOR NO KEY UPDATE OF w
    )
    UPDATE webhook_event w SET state = 'discarded', processed_at = clock_timestamp()
    FROM locked
    WHERE w.account_id = ${accountId} AND w.event_type = locked.event_type
      AND w.body_hash = locked.body_hash`;
}
