// Two workers that settle the same breaks at once: the one that comes second settles, and tells, nothing.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { resolveEndedOfBills } from '../../src/reconciliation/bill-payment-breaks.queries.js';
import { resolveKnownOutcomes } from '../../src/reconciliation/breaks.queries.js';
import { resolveOverOfStatement } from '../../src/reconciliation/statement-breaks.queries.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { until } from '../support/until.js';

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

it.each([
  ['unknown_outcome', `operation:${randomUUID()}`, resolveKnownOutcomes],
  ['unknown_outcome', `bill_payment:${randomUUID()}`, resolveEndedOfBills],
  ['broken_chain', 'hole:5', resolveOverOfStatement],
])('a break %s of %s is settled by one of them', async (kind, subject, resolve) => {
  const { accountId, database } = service;
  await database.pool.query(
    `INSERT INTO break (account_id, id, kind, state, subject, evidence)
     VALUES ($1, gen_random_uuid(), $2, 'open', $3, '{}')`,
    [accountId, kind, subject],
  );
  let second: Promise<unknown[]> | undefined;
  const first = await database.transaction(async (tx) => {
    const told = await resolve(tx, accountId);
    second = database.transaction((other) => resolve(other, accountId));
    await until('the second is held up', async () => {
      const { rows } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows.length > 0;
    });
    return told;
  });
  expect([first.length, (await second)?.length]).toEqual([1, 0]);
});
