// Takes, renews and ends leases. All times are on PostgreSQL's clock, and no connection is held
// while a lease is held.
import type { Db, Tx } from '../database.service.js';
import { Prisma, type Lease as LeaseRow } from '../../../generated/service/client.js';
import { AppError } from '../../errors.js';

/** What a process holds: the token shows that no other process has taken the lease since. */
export type Lease = Omit<LeaseRow, 'leasedUntil'>;

/**
 * Takes the lease if it is free or has run out, and returns a row then. It may be part of the
 * statement that reads what the work begins with: what the last holder wrote is in its snapshot.
 */
// A lease that is held is found without waiting for the transactions of its holder.
export const takingLease = ({ accountId, name, token }: Lease, durationMs: number) => Prisma.sql`
  INSERT INTO lease AS l (account_id, name, token, leased_until)
  SELECT ${accountId}, ${name}::lease_name, ${token}::uuid,
         clock_timestamp() + ${durationMs} * interval '1 millisecond'
  WHERE NOT EXISTS (
    SELECT 1 FROM lease WHERE account_id = ${accountId} AND name = ${name}::lease_name
      AND leased_until > clock_timestamp())
  ON CONFLICT (account_id, name) DO UPDATE SET token = EXCLUDED.token,
    leased_until = clock_timestamp() + ${durationMs} * interval '1 millisecond'
  WHERE l.leased_until <= clock_timestamp()
  RETURNING true`;

/** False while another process holds the lease. */
export async function takeLease(db: Db, lease: Lease, durationMs: number): Promise<boolean> {
  return (await db.$executeRaw`${takingLease(lease, durationMs)}`) === 1;
}

/**
 * Renews the leases of a process. One that has run out is not renewed, and one that is just being
 * ended or taken is left out: the others do not wait for it.
 */
export async function renewLeases(
  db: Db,
  leases: readonly Lease[],
  durationMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE lease SET leased_until = clock_timestamp() + ${durationMs} * interval '1 millisecond'
    FROM (
      SELECT l.account_id, l.name FROM lease l
      JOIN unnest(${leases.map(({ accountId }) => accountId)}::int[],
                  ${leases.map(({ name }) => name)}::text[],
                  ${leases.map(({ token }) => token)}::uuid[]) AS held (account_id, name, token)
        ON l.account_id = held.account_id AND l.name = held.name::lease_name
          AND l.token = held.token
      WHERE l.leased_until > clock_timestamp()
      FOR NO KEY UPDATE OF l SKIP LOCKED
    ) renewed
    WHERE lease.account_id = renewed.account_id AND lease.name = renewed.name`;
}

/** Ends the lease, if no other process has taken it. A statement may add conditions. */
export const endingLease = ({ accountId, name, token }: Lease) => Prisma.sql`
  DELETE FROM lease
  WHERE account_id = ${accountId} AND name = ${name}::lease_name AND token = ${token}::uuid`;

export async function endLease(db: Db, lease: Lease): Promise<void> {
  await db.$executeRaw`${endingLease(lease)}`;
}

/**
 * The fence of everything that is written under a lease: a row if it is held. No other process can
 * take the lease until the transaction ends.
 */
export const holdingLease = ({ accountId, name, token }: Lease) => Prisma.sql`
  SELECT 1 FROM lease
  WHERE account_id = ${accountId} AND name = ${name}::lease_name AND token = ${token}::uuid
    AND leased_until > clock_timestamp()
  FOR KEY SHARE`;

/** Throws `conflict` when the lease has run out or is another process's. */
export async function assertLeaseHeld(tx: Tx, lease: Lease): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`SELECT FROM (${holdingLease(lease)}) held`;
  const { accountId, name } = lease;
  if (held.length === 0)
    throw new AppError('conflict', { internal: `the lease ${name} of account ${accountId} ended` });
}
