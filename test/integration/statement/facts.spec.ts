// The facts that decisions are recomputed from: added and never changed, and the only source of
// whether a payment is still expected.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addPayments } from '../../support/parent-rows.js';

const paymentId = '00000000-0000-4000-8000-000000000001';

let service: ServiceDatabase;
let accountId: number;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

const run = async (sql: string, ...values: unknown[]) =>
  (await service.database.pool.query<Record<string, unknown>>(sql, values)).rows;

const recordFact = (kind: string, recordedAt: string) =>
  run(
    `INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time,
       recorded_at) VALUES ($1, $2, $3, $4, $4)`,
    ...[accountId, paymentId, kind, recordedAt],
  );
const withdrawnAt = async () =>
  (await run('SELECT withdrawn_at FROM expected_payment WHERE account_id = $1', accountId))[0]
    ?.withdrawn_at;

beforeEach(async () => {
  const [account] = await run(
    `INSERT INTO bank_account (slug, go_live_at, updated_at)
     VALUES (gen_random_uuid()::text, now(), now())
     RETURNING id`,
  );
  accountId = Number(account?.id);
  await addPayments(service.database.pool, accountId, [paymentId]);
});

describe('facts are never changed or deleted', () => {
  beforeEach(async () => {
    await recordFact('failed', '2026-03-02T12:00:00Z');
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, 1, 'x', true, 1000, 'CREDIT_PIX', 0, 0, now(), 'h', '{}')`,
      accountId,
    );
    await run(
      `INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
       VALUES ($1, 1, 'link', '[]', 'ana', 'the payer called')`,
      accountId,
    );
  });

  it.each([
    `UPDATE expected_payment_fact SET kind = 'rejected' WHERE account_id = $1`,
    'DELETE FROM expected_payment_fact WHERE account_id = $1',
    `UPDATE line_decision SET reason = 'another' WHERE account_id = $1`,
    'DELETE FROM line_decision WHERE account_id = $1',
  ])('%s', async (sql) => {
    await expect(run(sql, accountId)).rejects.toThrow('append-only');
  });
});

describe('whether a payment is expected', () => {
  it('a payment is withdrawn since the first fact that says so', async () => {
    expect(await withdrawnAt()).toBeNull();
    await recordFact('absence_proven', '2026-03-02T12:00:00Z');
    await recordFact('failed', '2026-03-03T12:00:00Z');
    expect(await withdrawnAt()).toEqual(new Date('2026-03-02T12:00:00Z'));
  });

  it.each(['absence_revoked', 'expected_again'])('`%s` ends the withdrawal', async (kind) => {
    await recordFact('absence_proven', '2026-03-02T12:00:00Z');
    await recordFact(kind, '2026-03-03T12:00:00Z');
    expect(await withdrawnAt()).toBeNull();
    await recordFact('failed', '2026-03-04T12:00:00Z');
    expect(await withdrawnAt()).toEqual(new Date('2026-03-04T12:00:00Z'));
  });
});
