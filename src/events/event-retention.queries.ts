// Deletes old events and their deliveries, account by account, in the order of the positions. Each
// position is looked at once: what a sweep costs follows from what has become old.
//
// An event is deleted when a newer event of its resource has become old too. So the newest event of
// each resource stays, from which the next sequence follows, and so does the state that a resource
// had at the beginning of the period for which all events are stored.
import type { Db, Tx } from '../platform/postgres/database.service.js';

/** Verification compares the certificates with the events that reported them. */
const evidenceOfCertificates = ['day_close.certified', 'day_close.amended'];

/** Accounts whose next event to sweep is old. */
export async function listAccountsWithOldEvents(
  db: Db,
  days: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw<{ accountId: number }[]>`
    SELECT p.account_id FROM event_position p
    LEFT JOIN event_retention r ON r.account_id = p.account_id
    CROSS JOIN LATERAL (
      SELECT e.created_at FROM event e
      WHERE e.account_id = p.account_id AND e.position > COALESCE(r.swept_position, 0)
      ORDER BY e.position LIMIT 1
    ) next
    WHERE next.created_at < clock_timestamp() - ${days} * interval '1 day'
    ORDER BY p.account_id`;
}

/** The last position that was swept. Locks it; null while another process sweeps the account. */
export async function lockSweptPosition(tx: Tx, accountId: number): Promise<bigint | null> {
  await tx.$executeRaw`
    INSERT INTO event_retention (account_id) VALUES (${accountId}) ON CONFLICT DO NOTHING`;
  const [locked] = await tx.$queryRaw<{ sweptPosition: bigint }[]>`
    SELECT swept_position FROM event_retention
    WHERE account_id = ${accountId} FOR NO KEY UPDATE SKIP LOCKED`;
  return locked?.sweptPosition ?? null;
}

/** The next positions after `swept`, up to the first event that is not old. */
export async function listOldPositions(
  tx: Tx,
  accountId: number,
  swept: bigint,
  { days, limit }: { days: number; limit: number },
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ position: bigint; isOld: boolean }[]>`
    SELECT position, created_at < clock_timestamp() - ${days} * interval '1 day' AS "isOld"
    FROM event WHERE account_id = ${accountId} AND position > ${swept}
    ORDER BY position LIMIT ${limit}`;
  const firstRecent = rows.findIndex(({ isOld }) => !isOld);
  return rows.slice(0, firstRecent === -1 ? rows.length : firstRecent).map((row) => row.position);
}

/**
 * Deletes the deliveries of the events after `after` up to `until`, and of the earlier events of
 * their resources, but for pending ones: also an event that was swept may be replayed. Returns the
 * position of the first event of which, or of whose earlier events, a delivery is left; null if
 * there is none.
 */
export async function deleteEndedDeliveries(
  tx: Tx,
  accountId: number,
  { after, until }: { after: bigint; until: bigint },
): Promise<bigint | null> {
  await tx.$executeRaw`
    DELETE FROM delivery d USING event e, event o
    WHERE e.account_id = ${accountId} AND e.position > ${after} AND e.position <= ${until}
      AND o.account_id = e.account_id AND o.resource_kind = e.resource_kind
      AND o.resource_id = e.resource_id AND o.sequence <= e.sequence
      AND d.account_id = o.account_id AND d.event_id = o.id AND d.state <> 'pending'`;
  // A delivery that is being replayed has become pending before the DELETE could lock it.
  const [pending] = await tx.$queryRaw<{ position: bigint }[]>`
    SELECT e.position FROM event e
    WHERE e.account_id = ${accountId} AND e.position > ${after} AND e.position <= ${until}
      AND EXISTS (
        SELECT 1 FROM event o
        JOIN delivery d ON d.account_id = o.account_id AND d.event_id = o.id
        WHERE o.account_id = e.account_id AND o.resource_kind = e.resource_kind
          AND o.resource_id = e.resource_id AND o.sequence <= e.sequence)
    ORDER BY e.position LIMIT 1`;
  return pending?.position ?? null;
}

/**
 * Deletes the earlier events of the resources of the events after `after` up to `until`, which
 * become swept. None of them has a delivery.
 */
export async function deleteReplacedEvents(
  tx: Tx,
  accountId: number,
  { after, until }: { after: bigint; until: bigint },
): Promise<void> {
  await tx.$executeRaw`
    WITH deleted AS (
      DELETE FROM event o USING event e
      WHERE e.account_id = ${accountId} AND e.position > ${after} AND e.position <= ${until}
        AND o.account_id = e.account_id AND o.resource_kind = e.resource_kind
        AND o.resource_id = e.resource_id AND o.sequence < e.sequence
        AND o.type <> ALL (${evidenceOfCertificates}::text[])
      RETURNING o.position
    )
    UPDATE event_retention
    SET swept_position = ${until},
        deleted_position = GREATEST(deleted_position, (SELECT max(position) FROM deleted))
    WHERE account_id = ${accountId}`;
}
