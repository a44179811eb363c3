// Runs work that one process at a time may do for an account. The lease is a row that is renewed
// while the work runs. The lease of a process that was killed or suspended runs out, and another
// process takes it.
import { setTimeout as sleep } from 'node:timers/promises';
import { v4 as uuidv4 } from 'uuid';
import type { Database, Db, Tx } from '../database.service.js';
import { assertLeaseHeld, endLease, renewLeases, takeLease, type Lease } from './leases.queries.js';

/** How long the lease of a killed process delays other processes. */
export const leaseMs = 15_000;
const renewalMs = 3_000;

export interface HeldLease extends Lease {
  /** Whether the last statement of the work has ended the lease. */
  hasEnded: boolean;
}

/**
 * Runs `work` under the lease; returns null when another process holds it. The work is not stopped
 * when the lease is lost. Therefore it writes by `transactionUnderLease` alone.
 */
export async function withLease<Result>(
  database: Database,
  accountId: number,
  name: Lease['name'],
  work: (lease: Lease) => Promise<Result>,
): Promise<{ result: Result } | null> {
  const lease = newLease(accountId, name);
  if (!(await takeLease(database.prisma, lease, leaseMs))) return null;
  return { result: await underLease(database, lease, () => work(lease)) };
}

export function newLease(accountId: number, name: Lease['name']): HeldLease {
  return { accountId, name, token: uuidv4(), hasEnded: false };
}

/** Runs `work` under a lease that was taken for `leaseMs`, and then ends the lease. */
export async function underLease<Result>(
  { prisma }: Database,
  lease: HeldLease,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = renewalsOf(prisma).hold(lease);
  try {
    return await work();
  } finally {
    release();
    // A lease that cannot be ended runs out.
    if (!lease.hasEnded) await endLease(prisma, lease).catch(() => undefined);
  }
}

/**
 * Renews what a process holds by one statement: the syncs of a thousand accounts that wait for the
 * bank would else cost hundreds of commits a second, which delay what they wait for next.
 */
class Renewals {
  private readonly held = new Set<HeldLease>();
  private timer: NodeJS.Timeout | null = null;
  private isRenewing = false;

  constructor(private readonly db: Db) {}

  /** Renews the lease until the returned function is called. */
  hold(lease: HeldLease): () => void {
    this.held.add(lease);
    this.timer ??= setInterval(() => void this.renew(), renewalMs);
    return () => {
      this.held.delete(lease);
      if (this.held.size > 0 || !this.timer) return;
      clearInterval(this.timer);
      this.timer = null;
    };
  }

  private async renew(): Promise<void> {
    if (this.isRenewing) return;
    this.isRenewing = true;
    const leases = [...this.held].filter(({ hasEnded }) => !hasEnded);
    // A failed renewal is repeated, and one that gets no answer is followed by another, on another
    // connection. If all fail, the leases run out, and no work writes anything.
    const renewed = renewLeases(this.db, leases, leaseMs).catch(() => undefined);
    await Promise.race([renewed, sleep(renewalMs, undefined, { ref: false })]);
    this.isRenewing = false;
  }
}

const renewals = new WeakMap<Db, Renewals>();

function renewalsOf(db: Db): Renewals {
  const existing = renewals.get(db) ?? new Renewals(db);
  renewals.set(db, existing);
  return existing;
}

/** A transaction that writes nothing when the lease was lost: it throws `conflict`. */
export function transactionUnderLease<Result>(
  database: Database,
  lease: Lease,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await assertLeaseHeld(tx, lease);
    return work(tx);
  });
}
