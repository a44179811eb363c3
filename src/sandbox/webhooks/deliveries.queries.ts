import type { WebhookDelivery, WebhookRegistration } from '../../generated/sandbox/client.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { AuthorizationScheme } from '../../bank-contract/webhook-authorization.js';

/** The registrations of the account, oldest first. */
export function listRegistrations(
  database: Queryable,
  accountId: number,
): Promise<WebhookRegistration[]> {
  return database.query<WebhookRegistration>(
    `SELECT id, account_id, event_type, url, authorization_scheme, "authorization", created_at,
       updated_at
     FROM webhook_registration WHERE account_id = $1 ORDER BY created_at, id`,
    [accountId],
  );
}

/**
 * Inserts a pending delivery for the account's registration of that event type. Returns the id of
 * the delivery, or null when the account has no such registration.
 */
export async function insertDelivery(
  tx: SandboxTx,
  delivery: { accountId: number; eventType: string; body: string; at: Date },
): Promise<bigint | null> {
  const inserted = await tx.find<{ id: bigint }>(
    `INSERT INTO webhook_delivery (registration_id, body, next_attempt_at, created_at)
     SELECT id, $3, $4, $4 FROM webhook_registration WHERE account_id = $1 AND event_type = $2
     FOR KEY SHARE
     RETURNING id`,
    [delivery.accountId, delivery.eventType, delivery.body, delivery.at],
  );
  return inserted?.id ?? null;
}

/** Inserts another delivery to the same registration; a forgery has its own `forgedBody`. */
export async function insertDeliveryCopy(
  tx: SandboxTx,
  id: bigint,
  forgedBody: string | null,
): Promise<void> {
  await tx.query(
    `INSERT INTO webhook_delivery (registration_id, body, next_attempt_at, is_forged, created_at)
     SELECT registration_id, coalesce($2, body), next_attempt_at, $2::text IS NOT NULL, created_at
     FROM webhook_delivery WHERE id = $1`,
    [id, forgedBody],
  );
}

/** Inserts a delivery of each webhook of the account since then, due now. Returns how many. */
export async function insertCopiesSince(
  tx: SandboxTx,
  { accountId, since, now }: { accountId: number; since: Date; now: Date },
): Promise<number> {
  const copies = await tx.query(
    `INSERT INTO webhook_delivery (registration_id, body, next_attempt_at, created_at)
     SELECT delivery.registration_id, delivery.body, $3, $3
     FROM webhook_delivery AS delivery
     JOIN webhook_registration AS registration ON registration.id = delivery.registration_id
     WHERE registration.account_id = $1 AND delivery.created_at >= $2 AND NOT delivery.is_forged
     -- Once, however often it was sent: else each resend would double them.
     GROUP BY delivery.registration_id, delivery.body ORDER BY min(delivery.id)
     RETURNING id`,
    [accountId, since, now],
  );
  return copies.length;
}

/**
 * Commits of this connection do not wait for the disk. A crash of the server may lose the outcomes
 * of the latest deliveries, which are then sent twice.
 */
export async function relaxDurability(session: Queryable): Promise<void> {
  await session.query('SET synchronous_commit = off');
}

export type ClaimedDelivery = Pick<
  WebhookDelivery & WebhookRegistration,
  'attempts' | 'body' | 'eventType' | 'url' | 'authorization' | 'registrationId' | 'isForged'
> & { id: bigint; authorizationScheme: AuthorizationScheme };

/** Claims due deliveries for `leaseMs` and skips those that another sender has claimed. */
export function claimDueDeliveries(
  database: Queryable,
  { now, limit, leaseMs }: { now: Date; limit: number; leaseMs: number },
): Promise<ClaimedDelivery[]> {
  return database.query(
    `WITH due AS (
       SELECT id FROM webhook_delivery
       WHERE state = 'pending' AND next_attempt_at <= $1
         AND (leased_until IS NULL OR leased_until < clock_timestamp())
       ORDER BY next_attempt_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     UPDATE webhook_delivery AS delivery
     SET leased_until = clock_timestamp() + $3 * interval '1 millisecond',
         attempts = delivery.attempts + 1
     FROM due, webhook_registration AS registration
     WHERE delivery.id = due.id AND registration.id = delivery.registration_id
     RETURNING delivery.id, delivery.attempts, delivery.body, delivery.is_forged,
               delivery.registration_id, registration.event_type, registration.url,
               registration.authorization_scheme, registration.authorization`,
    [now, limit, leaseMs],
  );
}

/** Records many deliveries in one commit, because under load deliveries end faster than commits. */
export async function markDeliveriesDelivered(
  database: Queryable,
  deliveries: { id: bigint; outcome: string; at: Date }[],
): Promise<void> {
  await database.query(
    `UPDATE webhook_delivery AS delivery
     SET state = 'delivered', last_outcome = ended.outcome, delivered_at = ended.at,
         leased_until = NULL
     FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS ended (id, outcome, at)
     WHERE delivery.id = ended.id`,
    [
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.outcome),
      deliveries.map((delivery) => delivery.at),
    ],
  );
}

/** Schedules a retry at `nextAttemptAt`; null dead-letters the delivery. */
export async function markDeliveryFailed(
  database: Queryable,
  delivery: { id: bigint; outcome: string; nextAttemptAt: Date | null },
): Promise<void> {
  await database.query(
    `UPDATE webhook_delivery
     SET state = CASE WHEN $3::timestamptz IS NULL THEN 'dead' ELSE 'pending' END,
         next_attempt_at = coalesce($3, next_attempt_at), last_outcome = $2, leased_until = NULL
     WHERE id = $1`,
    [delivery.id, delivery.outcome, delivery.nextAttemptAt],
  );
}

/** When the next pending delivery is due, or null. */
export async function findNextDeliveryTime(database: Queryable): Promise<Date | null> {
  const next = await database.find<{ nextAttemptAt: Date | null }>(
    `SELECT min(next_attempt_at) AS next_attempt_at
     FROM webhook_delivery WHERE state = 'pending'`,
  );
  return next?.nextAttemptAt ?? null;
}
