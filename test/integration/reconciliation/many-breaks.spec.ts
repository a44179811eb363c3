import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Tx } from '../../../src/platform/postgres/database.service.js';
import {
  listBreakRows,
  placeOfBreak,
  totalOpenBreaks,
  type BreakFilters,
} from '../../../src/reconciliation/breaks/break-list.queries.js';
import { reviseBreaks } from '../../../src/reconciliation/apply/break-writer.queries.js';
import { measureRowsRead } from '../../support/rows-read.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const openBreaks = 3_000;
const revised = 20;
const noScale = { today: '2026-11-30', amountSteps: [], cutoffs: [] };
const scale = { today: '2026-11-30', amountSteps: [100_000n, 1_000_000n], cutoffs: [] };

/** Open breaks of which PostgreSQL has no statistics, as in the first import of an account. */
describe('many open breaks', () => {
  let service: ServiceDatabase;

  beforeAll(async () => {
    service = await serviceDatabase();
    await service.database.pool.query(
      `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence)
       SELECT $1, gen_random_uuid(), 'unexpected', 'open', 'nsu:' || nsu, 100, nsu, '{}'
       FROM generate_series(1, $2::int) AS nsu`,
      [service.accountId, openBreaks],
    );
  });
  afterAll(() => service.drop());

  const breaksOf = (amountCents: bigint) =>
    Array.from({ length: revised }, (_, index) => {
      const nsu = BigInt(index + 1);
      return { kind: 'unexpected', subject: `nsu:${nsu}`, amountCents, nsu, evidence: {} };
    });
  /** How many rows of breaks PostgreSQL has read for this work. */
  const rowsReadBy = async (work: (tx: Tx) => Promise<unknown>) =>
    (await measureRowsRead(service.database, 'break', work)).rowsRead;
  const entries = async () => {
    const { rows } = await service.database.pool.query<{ entries: number }>(
      `SELECT count(*)::int AS entries FROM break_history_entry WHERE action = 'revised'`,
    );
    return rows[0]?.entries;
  };

  it.each([
    ['without statistics', 'SELECT'],
    ['with statistics, which say that any kind is frequent', 'ANALYZE break'],
  ])('lists a page of them and reads no more, %s', async (_, prepare) => {
    const { pool } = service.database;
    await pool.query(prepare);
    const idsAfter = (after: string | null) =>
      pool.query<{ id: string }>(
        'SELECT id FROM break WHERE $1::uuid IS NULL OR id < $1 ORDER BY id DESC LIMIT 50',
        [after],
      );
    let after: string | null = null;
    for (let page = 0; page < 2; page += 1) {
      let found: string[] = [];
      const rows = await rowsReadBy(async (tx) => {
        const filters = { state: 'open' as const };
        const position = { after, limit: 50 };
        const list = await listBreakRows(tx, service.accountId, filters, position, noScale);
        found = list.rows.map(({ id }) => id);
      });
      expect(rows).toBeLessThan(300);
      expect(found.slice(0, 50)).toEqual((await idsAfter(after)).rows.map(({ id }) => id));
      after = found[49] ?? null;
    }
  });

  it('reads the revised breaks and not all others of their kind', async () => {
    const rows = await rowsReadBy((tx) => reviseBreaks(tx, service.accountId, breaksOf(200n)));
    expect(rows).toBeLessThan(10 * revised);
    const { rows: stored } = await service.database.pool.query<{ amounts: string[] }>(
      `SELECT array_agg(DISTINCT amount_cents ORDER BY amount_cents)::text[] AS amounts
       FROM break WHERE nsu <= $1`,
      [revised],
    );
    expect(stored[0]?.amounts).toEqual(['200']);
    expect(await entries()).toBe(revised);
  });

  it('writes nothing about a break that is as it was, that is resolved, or that is none', async () => {
    await service.database.pool.query(
      `UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = 1 AND account_id = $1`,
      [service.accountId],
    );
    const before = await entries();
    const [resolved, ...unchanged] = breaksOf(200n);
    await service.database.transaction((tx) =>
      reviseBreaks(tx, service.accountId, [
        ...unchanged,
        { ...resolved!, amountCents: 300n },
        { ...resolved!, subject: 'nsu:0', nsu: 0n },
      ]),
    );
    expect(await entries()).toBe(before);
    const { rows } = await service.database.pool.query<{ breaks: number; largest: string }>(
      'SELECT count(*)::int AS breaks, max(amount_cents)::text AS largest FROM break',
    );
    expect(rows).toEqual([{ breaks: openBreaks, largest: '200' }]);
  });

  it('fills each page of a filter that few breaks pass, in every order', async () => {
    const { pool, prisma } = service.database;
    await pool.query(`UPDATE break SET state = 'open', amount_cents = 100`);
    // Each 60th has an amount of its own, and each 600th of them has none.
    await pool.query(
      `UPDATE break SET amount_cents = CASE WHEN nsu % 600 = 0 THEN NULL ELSE 1000 * nsu END
       WHERE nsu % 60 = 0`,
    );
    const listAll = async (filters: BreakFilters, limit = 9) => {
      const [pages, found] = [[] as number[], [] as (bigint | null)[]];
      let after: string | null = null;
      do {
        const page = { after, limit };
        const { rows } = await listBreakRows(prisma, service.accountId, filters, page, scale);
        const shown = rows.slice(0, limit);
        pages.push(shown.length);
        found.push(...shown.map(({ amountCents }) => amountCents));
        after = rows.length > limit ? placeOfBreak(shown.at(-1)!) : null;
      } while (after !== null);
      return { pages, found };
    };
    const selected = { state: 'open', minAmount: 50_000n } as const;
    const { pages, found: byAge } = await listAll(selected);
    expect(pages).toEqual([9, 9, 9, 9, 9]);
    const rising = [...byAge].sort((one, other) => Number(one! - other!));
    const inOrder = async (order: Pick<BreakFilters, 'sort' | 'order'>) =>
      (await listAll({ ...selected, ...order })).found;
    expect(await inOrder({ order: 'asc' })).toEqual([...byAge].reverse());
    expect(await inOrder({ sort: 'amount', order: 'asc' })).toEqual(rising);
    expect(await inOrder({ sort: 'amount' })).toEqual([...rising].reverse());
    const bySeverity = await inOrder({ sort: 'severity' });
    // All are of one day and kind: of one severity by amount, and so in all by amount.
    expect(bySeverity).toEqual([...rising].reverse());
    const all = await listAll({ sort: 'amount', order: 'asc' }, 500);
    expect(all.found).toHaveLength(openBreaks);
    expect(all.found.slice(0, 6)).toEqual([null, null, null, null, null, 100n]);
    const totals = await totalOpenBreaks(prisma, service.accountId, selected, scale);
    const cents = rising.reduce<bigint>((sum, one) => sum + one!, 0n);
    expect(totals).toEqual([
      { kind: 'unexpected', openedDay: expect.any(String), breaks: 45n, cents },
    ]);
  });
});
