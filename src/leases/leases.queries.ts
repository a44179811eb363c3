// Takes, renews and ends leases. All times are on PostgreSQL's clock, and no connection is held
// while a lease is held.
import type { Db, Tx } from '../database.service.js';
import type { Lease as LeaseRow } from '../generated/service/client.js';
import { AppError } from '../platform/errors.js';

/** What a process holds: the token shows that no other process has taken the lease since. */
export type Lease = Omit<LeaseRow, 'leasedUntil'>;

/** Takes the lease if it is free or has run out. False while another process holds it. */
export async function takeLease(
  db: Db,
  { accountId, name, token }: Lease,
  durationMs: number,
): Promise<boolean> {
  // A lease that is held is found without waiting for the transactions of its holder.
  const taken = await db.$executeRaw`
    INSERT INTO lease AS l (account_id, name, token, leased_until)
    SELECT ${accountId}, ${name}::lease_name, ${token}::uuid,
           clock_timestamp() + ${durationMs} * interval '1 millisecond'
    WHERE NOT EXISTS (
      SELECT 1 FROM lease WHERE account_id = ${accountId} AND name = ${name}::lease_name
        AND leased_until > clock_timestamp())
    ON CONFLICT (account_id, name) DO UPDATE SET token = EXCLUDED.token,
      leased_until = clock_timestamp() + ${durationMs} * interval '1 millisecond'
    WHERE l.leased_until <= clock_timestamp()`;
  return taken === 1;
}

/** Renews the lease. A lease that has run out is not renewed. */
export async function renewLease(db: Db, lease: Lease, durationMs: number): Promise<void> {
  const { accountId, name, token } = lease;
  await db.$executeRaw`
    UPDATE lease SET leased_until = clock_timestamp() + ${durationMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND name = ${name}::lease_name AND token = ${token}::uuid
      AND leased_until > clock_timestamp()`;
}

/** Ends the lease, if no other process has taken it. */
export async function endLease(db: Db, { accountId, name, token }: Lease): Promise<void> {
  await db.$executeRaw`
    DELETE FROM lease
    WHERE account_id = ${accountId} AND name = ${name}::lease_name AND token = ${token}::uuid`;
}

/**
 * The fence of everything that is written under a lease: no other process can take the lease until
 * the transaction ends. Throws `conflict` when the lease has run out or is another process's.
 */
export async function assertLeaseHeld(tx: Tx, { accountId, name, token }: Lease): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM lease
    WHERE account_id = ${accountId} AND name = ${name}::lease_name AND token = ${token}::uuid
      AND leased_until > clock_timestamp()
    FOR KEY SHARE`;
  if (held.length === 0)
    throw new AppError('conflict', { internal: `the lease ${name} of account ${accountId} ended` });
}
