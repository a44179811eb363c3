// Leases: one process at a time does a work, a process that stops loses it, and what it writes
// afterwards is rejected by the database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  assertLeaseHeld,
  endLease,
  renewLeases,
  takeLease,
  type Lease,
} from '../../../src/platform/postgres/leases/leases.queries.js';
import { withLease } from '../../../src/platform/postgres/leases/leases.service.js';
import { addAccounts } from '../../support/parent-rows.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';

describe('a lease', () => {
  let service: ServiceDatabase;
  let accountId = 0;

  beforeAll(async () => {
    service = await serviceDatabase();
    await addAccounts(service.database.pool, 50);
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 2;
  });

  const run = <Result>(work: (lease: Lease) => Promise<Result>, id = accountId) =>
    withLease(service.database, id, 'sync_statement', work);
  /** What happens to the lease of a process that was suspended for longer than its lease. */
  const runOut = () =>
    service.database.pool.query(
      `UPDATE lease SET leased_until = clock_timestamp() - interval '1 second'
       WHERE account_id = $1`,
      [accountId],
    );
  const write = (lease: Lease) =>
    service.database.transaction(async (tx) => {
      await assertLeaseHeld(tx, lease);
      return 'written';
    });

  it('has one holder at a time, and the next after the work ended or failed', async () => {
    const held = await run(async () => {
      expect(await run(() => Promise.resolve('second holder'))).toBeNull();
      expect(await run(() => Promise.resolve('done'), accountId + 1)).toEqual({ result: 'done' });
      const { database } = service;
      const other = () => Promise.resolve('done');
      expect(await withLease(database, accountId, 'close_days', other)).not.toBeNull();
      return 'done';
    });
    expect(held).toEqual({ result: 'done' });
    await expect(run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await run(() => Promise.resolve('done'))).toEqual({ result: 'done' });
  });

  it('is taken by one of the processes that compete for a lease that ran out', async () => {
    const taken = await run(async () => {
      await runOut();
      let refused = 0;
      const competing = Array.from({ length: 5 }, () =>
        run(async (lease) => {
          await write(lease);
          await until('all others were refused', () => refused === 4);
        }).then((result) => void (refused += result ? 0 : 1)),
      );
      await Promise.all(competing);
    });
    expect(taken).not.toBeNull();
  });

  it('rejects the writes of a suspended process once it ran out or another process took it', async () => {
    await run(async (lease) => {
      expect(await write(lease)).toBe('written');
      await runOut();
      await expect(write(lease)).rejects.toThrow('sync_statement');
      const taken = await run(async (second) => {
        await renewLeases(service.database.prisma, [lease], 60_000);
        await expect(write(lease)).rejects.toThrow('sync_statement');
        return write(second);
      });
      expect(taken).toEqual({ result: 'written' });
      await expect(write(lease)).rejects.toThrow('sync_statement');
    });
  });

  it('is not taken before a transaction of its holder ends, and is renewed meanwhile', async () => {
    await run(async (lease) => {
      const { prisma } = service.database;
      const second = { ...lease, token: '00000000-0000-4000-8000-000000000002' };
      const order: string[] = [];
      let taking: Promise<unknown> | undefined;
      await service.database.transaction(async (tx) => {
        await assertLeaseHeld(tx, lease);
        // Neither a renewal nor a process that finds the lease held waits for the transaction.
        await renewLeases(prisma, [lease], 60_000);
        expect(await takeLease(prisma, second, 60_000)).toBe(false);
        await runOut();
        taking = takeLease(prisma, second, 60_000).then(() => order.push('taken'));
        await until('the second process waits', async () => {
          const { rows } = await service.database.pool.query(
            `SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return rows.length > 0;
        });
        order.push('committed');
      });
      await taking;
      expect(order).toEqual(['committed', 'taken']);
      await expect(write(lease)).rejects.toThrow('sync_statement');
    });
  });

  it('is renewed while the work runs', async () => {
    const leasedUntil = async () => {
      const { rows } = await service.database.pool.query<{ at: Date }>(
        'SELECT leased_until AS at FROM lease WHERE account_id = $1',
        [accountId],
      );
      return rows[0]?.at.getTime() ?? 0;
    };
    await run(async () => {
      const first = await leasedUntil();
      await until('it is renewed', async () => (await leasedUntil()) > first);
    });
    expect(await leasedUntil()).toBe(0);
  });

  it('is renewed together with the others of its process, by one statement', async () => {
    const { prisma } = service.database;
    const ids = [accountId, accountId + 1];
    const tokenOf = (index: number) => `00000000-0000-4000-8000-00000000010${index}`;
    const leases = ids.map((id, index) => ({
      ...{ accountId: id, name: 'sync_statement' as const, token: tokenOf(index) },
    }));
    for (const lease of leases) expect(await takeLease(prisma, lease, 1_000)).toBe(true);
    const foreign = { ...leases[0], token: tokenOf(7) } as Lease;
    const secondsLeft = async () => {
      const { rows } = await service.database.pool.query<{ left: number }>(
        `SELECT extract(epoch FROM leased_until - clock_timestamp())::float8 AS left
         FROM lease WHERE account_id = ANY ($1) ORDER BY account_id`,
        [ids],
      );
      return rows.map(({ left }) => left > 30);
    };
    await renewLeases(prisma, [foreign], 60_000);
    expect(await secondsLeft()).toEqual([false, false]);
    // One that is being ended holds up neither the statement nor the other.
    await service.database.transaction(async (tx) => {
      await endLease(tx, leases[1] as Lease);
      await renewLeases(prisma, [foreign, ...leases], 60_000);
    });
    expect(await secondsLeft()).toEqual([true]);
  });
});
