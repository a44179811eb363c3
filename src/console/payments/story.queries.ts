// Reads the story of a payment: a fixed number of statements, each by the keys of the payment, and
// each bounded to the newest rows.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import {
  maxStoryRows,
  type AttemptStory,
  type BreakStory,
  type DeliveryStory,
  type EventStory,
  type MatchStory,
  type OperationStory,
  type PaymentFactStory,
  type WebhookStory,
} from './story-facts.js';

const uuids = (ids: readonly string[]) => Prisma.sql`unnest(${[...ids]}::uuid[]) AS wanted(id)`;
const newest = Prisma.sql`LIMIT ${maxStoryRows}::int`;

export async function listOperationStories(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<OperationStory[]> {
  return db.$queryRaw<OperationStory[]>`
    SELECT o.id, o.kind, o.state, o.reason, o.source, o.requested_by, o.attempts, o.created_at,
           o.approved_at, o.ended_at, r.needed, r.expires_at
    FROM operation o LEFT JOIN operation_approval_request r
      ON r.account_id = o.account_id AND r.operation_id = o.id
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.id = ANY (${[...ids]}::uuid[])
    ORDER BY o.id`;
}

/** The newest attempts of each operation. */
export async function listAttemptStories(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<AttemptStory[]> {
  return db.$queryRaw<AttemptStory[]>`
    SELECT attempt.* FROM ${uuids(ids)}
    CROSS JOIN LATERAL (
      SELECT operation_id, number, started_at, clock_offset_ms, finished_at, outcome, status,
             reason
      FROM operation_attempt
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = wanted.id
      ORDER BY number DESC ${newest}
    ) attempt
    ORDER BY attempt.started_at, attempt.number`;
}

/** The matches of expected payments with the highest nsus, live and ended. */
export async function listMatchStories(
  db: Db,
  accountId: number,
  expectedPaymentIds: readonly string[],
): Promise<MatchStory[]> {
  return db.$queryRaw<MatchStory[]>`
    SELECT m.id, m.nsu, line.is_credit, line.amount_cents AS "lineCents", line.occurred_at,
           line.recorded_at, m.amount_cents, m.role, m.rule, m.made_by, m.reason, m.created_at,
           m.unlinked_at, m.unlinked_by, m.unlink_reason
    FROM (
      SELECT found.* FROM ${uuids(expectedPaymentIds)}
      CROSS JOIN LATERAL (
        SELECT * FROM match
        WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = wanted.id
        ORDER BY nsu DESC ${newest}
      ) found
      ORDER BY found.nsu DESC ${newest}
    ) m
    CROSS JOIN LATERAL (
      SELECT is_credit, amount_cents, occurred_at, recorded_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = m.nsu OFFSET 0
    ) line
    ORDER BY m.nsu, m.created_at`;
}

/** What a break may be about. */
export interface BreakSubjects {
  expectedPaymentIds: readonly string[];
  operationIds: readonly string[];
  nsus: readonly bigint[];
}

export async function listBreakStories(
  db: Db,
  accountId: number,
  { expectedPaymentIds, operationIds, nsus }: BreakSubjects,
): Promise<BreakStory[]> {
  const of = (wanted: Prisma.Sql, column: Prisma.Sql) => Prisma.sql`
    SELECT found.* FROM ${wanted}
    CROSS JOIN LATERAL (
      SELECT * FROM break
      WHERE account_id = ${opaqueAccountId(accountId)} AND ${column} = wanted.id OFFSET 0
    ) found`;
  const lines = Prisma.sql`unnest(${[...nsus]}::bigint[]) AS wanted(id)`;
  return db.$queryRaw<BreakStory[]>`
    SELECT id, kind, opened_at, resolved_at, resolution, resolved_by, resolution_reason
    FROM (
      SELECT DISTINCT ON (id) * FROM (
        ${of(uuids(expectedPaymentIds), Prisma.sql`expected_payment_id`)}
        UNION ALL ${of(uuids(operationIds), Prisma.sql`operation_id`)}
        UNION ALL ${of(lines, Prisma.sql`nsu`)}
      ) found ORDER BY id
    ) b
    ORDER BY opened_at DESC, id ${newest}`;
}

/** The ids under which webhooks report a payment. */
export interface WebhookReferences {
  correlationIds: readonly string[];
  endToEndIds: readonly string[];
  nsus: readonly bigint[];
}

export async function listWebhookStories(
  db: Db,
  accountId: number,
  { correlationIds, endToEndIds, nsus }: WebhookReferences,
): Promise<WebhookStory[]> {
  // Each kind has an index of its own, which the planner knows by the kind's name in the query.
  const of = (values: readonly string[], kind: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`
    SELECT found.* FROM unnest(${[...values]}::text[]) AS wanted(value)
    CROSS JOIN LATERAL (
      SELECT event_type, body_hash, copies, received_at, received_at_bank_time FROM webhook_event
      WHERE account_id = ${opaqueAccountId(accountId)} AND ${kind} AND reference = wanted.value
      ORDER BY ${order} DESC ${newest}
    ) found`;
  const bankTime = Prisma.sql`received_at_bank_time`;
  const ourTime = Prisma.sql`received_at`;
  return db.$queryRaw<WebhookStory[]>`
    SELECT * FROM (
      ${of(correlationIds, Prisma.sql`reference_kind = 'correlation_id'`, bankTime)}
      UNION ${of(endToEndIds, Prisma.sql`reference_kind = 'end_to_end_id'`, ourTime)}
      UNION ${of(nsus.map(String), Prisma.sql`reference_kind = 'nsu'`, ourTime)}
    ) webhook
    ORDER BY received_at DESC, body_hash ${newest}`;
}

/** What events are about. */
export interface StoryResource {
  kind: string;
  id: string;
}

export async function listEventStories(
  db: Db,
  accountId: number,
  resources: readonly StoryResource[],
): Promise<EventStory[]> {
  const kinds = resources.map(({ kind }) => kind);
  const ids = resources.map(({ id }) => id);
  return db.$queryRaw<EventStory[]>`
    SELECT found.* FROM unnest(${kinds}::text[], ${ids}::text[]) AS wanted(kind, id)
    CROSS JOIN LATERAL (
      SELECT id, type, created_at FROM event
      WHERE account_id = ${opaqueAccountId(accountId)} AND resource_kind = wanted.kind
        AND resource_id = wanted.id
      ORDER BY sequence DESC ${newest}
    ) found
    ORDER BY found.created_at DESC, found.id ${newest}`;
}

export async function listDeliveryStories(
  db: Db,
  accountId: number,
  eventIds: readonly string[],
): Promise<DeliveryStory[]> {
  return db.$queryRaw<DeliveryStory[]>`
    SELECT d.id, d.event_id, e.type, d.endpoint_id, p.url, d.state, d.attempts, d.last_status,
           d.created_at, d.delivered_at
    FROM ${uuids(eventIds)}
    JOIN event e ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = wanted.id
    CROSS JOIN LATERAL (
      SELECT * FROM delivery
      WHERE account_id = ${opaqueAccountId(accountId)} AND event_id = wanted.id
      ORDER BY endpoint_id ${newest}
    ) d
    JOIN webhook_endpoint p ON p.account_id = ${opaqueAccountId(accountId)} AND p.id = d.endpoint_id
    ORDER BY d.created_at DESC, d.id LIMIT ${3 * maxStoryRows}::int`;
}

export async function listPaymentFactStories(
  db: Db,
  accountId: number,
  expectedPaymentIds: readonly string[],
): Promise<PaymentFactStory[]> {
  return db.$queryRaw<PaymentFactStory[]>`
    SELECT found.* FROM ${uuids(expectedPaymentIds)}
    CROSS JOIN LATERAL (
      SELECT sequence, kind, bank_time, recorded_at FROM expected_payment_fact
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = wanted.id
      OFFSET 0
    ) found
    ORDER BY found.recorded_at DESC, found.sequence ${newest}`;
}

/** What was requested by an operation: a batch has many transfers and payments. */
export async function findOperationRecords(db: Db, accountId: number, id: string) {
  return db.operation.findUnique({
    where: { accountId_id: { accountId, id } },
    select: {
      source: true,
      requestedBy: true,
      charge: { select: { correlationId: true } },
      transfers: { select: { id: true }, orderBy: { position: 'asc' }, take: maxStoryRows },
      billPayment: { select: { id: true } },
      refund: { select: { id: true } },
      expectedPayments: { select: { id: true }, orderBy: { id: 'asc' }, take: maxStoryRows },
    },
  });
}

/** The open break because of which an operation may be resent. */
export async function findUnknownOutcomeBreak(
  db: Db,
  accountId: number,
  operationId: string,
): Promise<{ id: string } | null> {
  return db.break.findFirst({
    where: { accountId, operationId, kind: 'unknown_outcome', state: 'open' },
    select: { id: true },
  });
}
