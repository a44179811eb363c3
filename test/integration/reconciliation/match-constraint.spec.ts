import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';
import { addAccounts, succeededOperations } from '../../support/parent-rows.js';

const insertSql = `
  WITH part AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, cents FROM unnest($2::bigint[]) cents
  ), o AS (${succeededOperations({ id: 'id' }, 'part')}), e AS (
    INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, is_multi_use)
    SELECT $1, id, id, 'create_charge', true, false FROM part
  )
  INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
  SELECT $1, id, 1, id, cents, 'reference', '{}' FROM part`;

describe('the matches of a line of 1000 cents, whatever code writes them', () => {
  let service: ServiceDatabase;
  let account = 0;

  beforeAll(async () => {
    service = await serviceDatabase();
    await addAccounts(service.database.pool, 2_000);
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    account += 1;
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, 1, 'x', true, 1000, 'CREDIT_PIX', 0, 1000, now(), 'h', '{}')`,
      account,
    );
  });

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const match = (...cents: number[]) => run(insertSql, account, cents);
  const liveCents = async () => {
    const sql = `SELECT sum(amount_cents)::int AS cents FROM match
      WHERE account_id = $1 AND unlinked_at IS NULL`;
    return (await run(sql, account)).rows[0].cents as number | null;
  };

  const isWaiting = async () =>
    (
      await run(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).rowCount === 1;

  it.each([[[999]], [[1_001]], [[500, 499]], [[-1_000]], [[1_000, 1_000]]])(
    'are refused when they are %j',
    async (cents) => {
      await expect(match(...cents)).rejects.toThrow(/do not add up/);
      expect(await liveCents()).toBeNull();
    },
  );

  it('are refused for a line of another account', async () => {
    account += 1_000;
    await expect(match(1_000)).rejects.toThrow(/do not add up/);
    account -= 1_000;
  });

  it('explain the line once when two transactions write at the same time', async () => {
    const { pool } = service.database;
    const [one, other] = [await pool.connect(), await pool.connect()];
    try {
      for (const client of [one, other]) await client.query('BEGIN');
      await one.query(insertSql, [account, [1_000]]);
      // The second may wait for the first, be refused at once, or be refused at its commit.
      let isWritten = false;
      const second = other
        .query(insertSql, [account, [1_000]])
        .finally(() => (isWritten = true))
        .then(() => other.query('COMMIT'))
        .catch(() => other.query('ROLLBACK'));
      await until('the second has written, or waits', async () => isWritten || (await isWaiting()));
      await one.query('COMMIT');
      await second;
      expect(await liveCents()).toBe(1_000);
    } finally {
      for (const client of [one, other]) client.release(true);
    }
  });

  it('cannot be changed, unlinked or deleted in part', async () => {
    await match(600, 400);
    const part = 'WHERE account_id = $1 AND amount_cents = 400';
    for (const sql of [
      `UPDATE match SET unlinked_at = now() ${part}`,
      `UPDATE match SET amount_cents = 399 ${part}`,
      `DELETE FROM match ${part}`,
    ]) {
      await run(sql, account).catch(() => undefined);
      expect([sql, await liveCents()]).toEqual([sql, 1_000]);
    }
  });

  it('can be unlinked as a whole and made again', async () => {
    await match(600, 400);
    await run('UPDATE match SET unlinked_at = now() WHERE account_id = $1', account);
    await match(1_000);
    expect(await liveCents()).toBe(1_000);
  });
});
