import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { beforeCommit, type Tx } from '../../../src/platform/postgres/database.service.js';
import { EventCounterparties } from '../../../src/events/event-counterparties.service.js';
import { EventRetention } from '../../../src/events/event-retention.service.js';
import { EventsController } from '../../../src/events/events.controller.js';
import { EventsService } from '../../../src/events/events.service.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';
import { recordedQueues } from '../../support/recorded-queues.js';

/** A promise that a test resolves. */
function signal() {
  let give = () => undefined as void;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

describe('the order of events', () => {
  let service: ServiceDatabase;
  let events: EventsService;

  beforeEach(async () => {
    service = await serviceDatabase();
    events = new EventsService(service.database, recordedQueues()('deliverEvents'));
  });
  afterEach(() => service.drop());

  const record = (tx: Tx, ids: readonly string[], accountId = service.accountId) =>
    events.record(
      tx,
      accountId,
      ids.map((id) => ({ type: 'charge.paid', resource: { kind: 'charge', id }, data: { id } })),
    );
  const list = async (query: { after?: number; cursor?: string; limit?: number }) => {
    const controller = new EventsController(
      service.database,
      events,
      undefined as never,
      new EventRetention(service.database, undefined as never),
      new EventCounterparties(service.database),
      undefined as never,
    );
    const { data, next } = await controller.events({
      ...{ accountId: service.accountId, query, scopes: [] },
    } as never);
    return { next, rows: [...data] };
  };
  /** Position, resource and sequence of each event after a position. */
  const follow = async (after: number) =>
    (await list({ after })).rows.map(({ position, resource: { id }, sequence }) => [
      Number(position),
      `${id} ${sequence}`,
    ]);
  const hasWaitingLock = async () => {
    const { rows } = await service.database.pool.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  };

  it('is that of the commits, not that of the recording', async () => {
    const [recorded, released] = [signal(), signal()];
    const slow = service.database.transaction(async (tx) => {
      record(tx, ['a', 'b']);
      recorded.give();
      await released.given;
    });
    await recorded.given;
    await service.database.transaction(async (tx) => record(tx, ['a']));
    expect(await follow(0)).toEqual([[1, 'a 1']]);
    released.give();
    await slow;
    expect(await follow(1)).toEqual([
      [2, 'a 2'],
      [3, 'b 1'],
    ]);
  });

  it('lets a transaction number its events only after the one before has committed', async () => {
    const [inserted, released] = [signal(), signal()];
    const first = service.database.transaction(async (tx) => {
      record(tx, ['a']);
      beforeCommit(tx, async () => {
        inserted.give();
        await released.given;
      });
    });
    await inserted.given;
    const second = service.database.transaction(async (tx) => record(tx, ['a', 'b']));
    await until('the second transaction waits', hasWaitingLock);
    expect(await follow(0)).toEqual([]);
    released.give();
    await Promise.all([first, second]);
    expect(await follow(0)).toEqual([
      [1, 'a 1'],
      [2, 'a 2'],
      [3, 'b 1'],
    ]);
  });

  it('is that of the recording in one transaction, of thousands of events too', async () => {
    const resources = Array.from({ length: 1_403 }, (_, index) => `${index % 700}`);
    await service.database.transaction(async (tx) => {
      record(tx, resources.slice(0, 2));
      record(tx, resources.slice(2, 700));
      for (const resource of resources.slice(700, 703)) record(tx, [resource]);
      record(tx, resources.slice(703));
    });
    const { rows } = await service.database.pool.query(
      `SELECT resource_id, sequence, position::int, data::jsonb ->> 'id' AS id
       FROM event ORDER BY position`,
    );
    expect(rows).toEqual(
      resources.map((id, index) => {
        const sequence = 1 + Math.floor(index / 700);
        return { resource_id: id, sequence, position: index + 1, id };
      }),
    );
  });

  it('throws the error of a statement that fails before the last one is sent', async () => {
    const refuse = 'ALTER TABLE event_position ADD CHECK (position < 1)';
    await service.database.pool.query(refuse);
    const many = Array.from({ length: 600 }, (_, index) => `${index}`);
    const failed = service.database.transaction(async (tx) => {
      record(tx, many);
      record(tx, many);
    });
    await expect(failed).rejects.toThrow('event_position_position_check');
  });

  it('has no gap after a rollback, and is each account’s own', async () => {
    const other = await service.database.prisma.bankAccount.create({
      data: { slug: 'other', goLiveAt: new Date(0) },
    });
    const failed = service.database.transaction(async (tx) => {
      record(tx, ['a']);
      beforeCommit(tx, () => Promise.reject(new Error('refused')));
    });
    await expect(failed).rejects.toThrow('refused');
    await service.database.transaction(async (tx) => {
      record(tx, ['a'], other.id);
      record(tx, ['a']);
      record(tx, ['a'], other.id);
    });
    expect(await follow(0)).toEqual([[1, 'a 1']]);
    const rows = await service.database.prisma.event.findMany({ where: { accountId: other.id } });
    expect(rows.map(({ sequence }) => sequence).sort()).toEqual([1, 2]);
  });

  it('shows each event once and in order to a caller that follows concurrent commits', async () => {
    const writers = 6;
    const transactions = 15;
    let active = writers;
    const write = async (writer: number) => {
      for (let index = 0; index < transactions; index += 1) {
        const ids = [`own-${writer}`, 'shared', ...(index % 2 ? ['shared'] : [])];
        const isRolledBack = index % 5 === 4;
        await service.database
          .transaction(async (tx) => {
            record(tx, ids);
            // Later writers overtake this one, so that commits do not follow the recording.
            await sleep(Math.random() * 10);
            if (isRolledBack) throw new Error('rolled back');
          })
          .catch((error: Error) => expect(error.message).toBe('rolled back'));
      }
      active -= 1;
    };
    const seen: { position: bigint; resource: { id: string }; sequence: number }[] = [];
    const readOn = async () => {
      const { rows } = await list({ after: Number(seen.at(-1)?.position ?? 0), limit: 7 });
      seen.push(...rows);
      return rows.length;
    };
    const followAll = async () => {
      while (active > 0) await readOn();
      while ((await readOn()) > 0);
    };
    await Promise.all([followAll(), ...Array.from({ length: writers }, (_, n) => write(n))]);
    const total = await service.database.prisma.event.count();
    expect(total).toBeGreaterThan(writers * transactions);
    expect(seen.map(({ position }) => Number(position))).toEqual(
      Array.from({ length: total }, (_, index) => index + 1),
    );
    for (const id of new Set(seen.map(({ resource }) => resource.id))) {
      const own = seen.filter(({ resource }) => resource.id === id);
      expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
    }
  });

  it('is paged in both directions without a repeat', async () => {
    await service.database.transaction(async (tx) => record(tx, ['a', 'b', 'c', 'd', 'e']));
    const pageThrough = async (query: { after?: number }) => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list({ ...query, limit: 2, ...(cursor ? { cursor } : {}) });
        ids.push(...page.rows.map(({ resource: { id } }) => id));
        cursor = page.next ?? undefined;
      } while (cursor);
      return ids.join('');
    };
    expect(await pageThrough({})).toBe('edcba');
    expect(await pageThrough({ after: 0 })).toBe('abcde');
    expect(await pageThrough({ after: 3 })).toBe('de');
  });
});
