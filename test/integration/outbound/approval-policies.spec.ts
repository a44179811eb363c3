// The approval policy of an account: who may set it, and how it is weakened.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { internalTransfer } from '../../contract/transfer-samples.js';
import { approvalsSetup, type ApprovalsSetup } from '../../support/approvals-setup.js';
import { withoutTriggers } from '../../support/parent-rows.js';

describe('an approval policy', () => {
  let setup: ApprovalsSetup;

  beforeAll(async () => {
    setup = await approvalsSetup();
  });
  afterAll(() => setup.stop());
  afterEach(() => setup.reset());

  const read = async () => (await setup.one.call('GET', '/v1/approval-policy')).body;

  it('is off until it is set, with defaults for what is left out', async () => {
    expect(await read()).toEqual({
      ...{ aboveAmount: null, kinds: [], approvals: 1, newBeneficiary: false, sources: [] },
      ...{ expiresAfterHours: 72, proposed: [], changes: [] },
    });
    const { status, body } = await setup.one.call('PUT', '/v1/approval-policy', {
      body: { aboveAmount: 1_000.5 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ aboveAmount: 1_000.5, approvals: 1, expiresAfterHours: 72 });
    expect(body.changes).toMatchObject([{ sequence: 1, isInForce: true, aboveAmount: 1_000.5 }]);
  });

  it('is refused without the scope, and where a field is wrong', async () => {
    const { key } = await setup.createKey(['read', 'transfer']);
    expect((await setup.setPolicy({}, key)).status).toBe(403);
    for (const wrong of [
      { aboveAmount: -1 },
      { aboveAmount: undefined },
      { approvals: 3 },
      { approvals: 0 },
      { kinds: ['pay_bill', 'pay_bill'] },
      { kinds: ['unknown'] },
      { sources: ['unknown'] },
      { expiresAfterHours: 0 },
      { expiresAfterHours: 721 },
      { more: 1 },
    ])
      expect((await setup.setPolicy(wrong)).status).toBe(400);
    expect((await read()).changes).toEqual([]);
  });

  it('is strengthened at once, and weakened by two holders only', async () => {
    const { setPolicy, ana, bia, send } = setup;
    await setPolicy({ aboveAmount: 10 });
    expect((await setPolicy({ aboveAmount: 0, reason: 'stricter' })).status).toBe(200);
    const off = { aboveAmount: null, reason: 'we trust ourselves' };
    const proposed = await setPolicy(off, ana.key);
    expect(proposed.status).toBe(202);
    expect(proposed.body).toMatchObject({ aboveAmount: 0, proposed: [{ aboveAmount: null }] });
    expect((await setPolicy(off, ana.key)).body.proposed).toHaveLength(1);
    expect((await send()).status).toBe(202);
    const rotated = await setup.asOperator('POST', `/v1/accounts/main/keys/${ana.id}/rotate`, {});
    expect((await setPolicy(off, rotated.body.key)).status).toBe(202);
    expect((await setPolicy({ aboveAmount: 5 }, bia.key)).status).toBe(202);
    const confirmed = await setPolicy({ ...off, reason: 'confirmed' }, bia.key);
    expect([confirmed.status, confirmed.body.aboveAmount]).toEqual([200, null]);
    expect(confirmed.body.proposed).toEqual([]);
    expect(
      confirmed.body.changes.map(({ isInForce }: { isInForce: boolean }) => isInForce),
    ).toEqual([true, false, false, true, true]);
    expect((await send(internalTransfer({ amount: 3 }))).status).toBe(200);
  });

  it('is not weakened by a proposal that is too old, or that another change has ended', async () => {
    const { setPolicy, bia, test } = setup;
    const weaker = { aboveAmount: 50 };
    await setPolicy({ aboveAmount: 10 });
    await setPolicy(weaker);
    await withoutTriggers(test.pool, async (client) => {
      await client.query(
        `UPDATE approval_policy_change SET created_at = created_at - interval '73 hours'`,
      );
    });
    expect((await setPolicy(weaker, bia.key)).status).toBe(202);
    await setPolicy({ aboveAmount: 9 });
    expect((await setPolicy(weaker)).status).toBe(202);
    expect((await read()).aboveAmount).toBe(9);
  });

  it('is set by one of several at the same moment, and keeps its history', async () => {
    const { setPolicy, one, test } = setup;
    const amounts = [7, 6, 5, 4, 3];
    await Promise.all(amounts.map((aboveAmount) => setPolicy({ aboveAmount })));
    const { changes } = await read();
    expect(changes.map(({ sequence }: { sequence: number }) => sequence)).toEqual([5, 4, 3, 2, 1]);
    await expect(one.database.pool.query('DELETE FROM approval_policy_change')).rejects.toThrow();
    const change = 'UPDATE approval_policy_change SET is_in_force = true';
    await expect(test.pool.query(change)).rejects.toThrow('append-only');
  });
});
