// Approval by a second holder, over HTTP, with two processes of the service on one database. A
// proxy in front of the sandbox bank records what is sent.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newKeyHeader } from '../../contract/samples.js';
import { internalTransfer } from '../../contract/transfer-samples.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { withoutTriggers } from '../../support/parent-rows.js';
import {
  approvalsSetup,
  transferCall,
  type ApprovalsSetup,
} from '../../support/approvals-setup.js';
import { adminKey, apiKey } from '../../support/service-application.js';

describe('an operation that needs approval', () => {
  let setup: ApprovalsSetup;

  beforeAll(async () => {
    setup = await approvalsSetup();
  });
  afterAll(() => setup.stop());
  afterEach(() => setup.reset());

  const taken = () => setup.bank.takeChanges();
  const maker = { key: apiKey };

  it('waits with 202, and is sent once when a key of another holder approves it', async () => {
    const { ana, send, decide, operation, events, advance } = setup;
    expect((await setup.setPolicy({ aboveAmount: 0.5 })).status).toBe(200);
    const metadata = { invoice: '7' };
    const [body, headers] = [{ ...internalTransfer(), metadata }, newKeyHeader()];
    const first = await send(body, headers);
    const { id } = first.body;
    expect(first.status).toBe(202);
    expect(first.headers.get('location')).toBe(`/v1/operations/${id}`);
    expect(first.body).toMatchObject({ state: 'awaiting_approval', kind: 'create_transfer' });
    const repeated = await send(body, headers);
    expect([repeated.status, repeated.text]).toEqual([202, first.text]);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    await advance(id);
    expect(taken()).toEqual([]);

    const shown = await operation(id);
    expect(shown.approval).toMatchObject({ needed: 1, given: 0, source: 'api', decisions: [] });
    const { requestHash } = shown.approval;
    const approved = await decide(id, ana, { requestHash });
    expect(approved.status).toBe(200);
    expect(approved.body).toMatchObject({ state: 'received', approval: { given: 1 } });
    expect(approved.body.approval.decisions).toMatchObject([
      { actor: ana.id, decision: 'approve', reason: 'invoice seen' },
    ]);
    await Promise.all([advance(id), advance(id, setup.other)]);
    expect(taken()).toEqual([transferCall]);
    expect(await operation(id)).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect((await send(body, headers)).status).toBe(200);
    const reported = await events(id);
    expect(reported.filter((type) => type.startsWith('operation.'))).toEqual([
      'operation.awaiting_approval',
      'operation.approved',
      'operation.succeeded',
    ]);
    const types = ['operation.awaiting_approval', 'operation.approved'] as const;
    await expectDeclaredEvents(setup.test.pool, types);
    const ids = { externalId: body.externalId, idempotencyKey: headers.IdempotencyKey, metadata };
    for (const type of types)
      expect((await setup.one.call('GET', `/v1/events?type=${type}`)).body.data).toMatchObject([
        { data: ids },
      ]);
  });

  it('is sent at once up to the amount, of other kinds, and without a policy', async () => {
    expect((await setup.send()).status).toBe(200);
    await setup.setPolicy({ aboveAmount: 0.75 });
    expect((await setup.send()).status).toBe(200);
    expect((await setup.send(internalTransfer({ amount: 0.76 }))).status).toBe(202);
    expect(taken()).toEqual([transferCall, transferCall]);
  });

  it('is not moved by its maker, by a rotated key of the maker, or by a wrong key', async () => {
    const { ana, bia, createKey, asOperator, decide } = setup;
    await setup.setPolicy({});
    const id = await setup.sendWaiting();
    const own = await decide(id, maker);
    expect([own.status, own.body.code]).toEqual([403, 'own_request']);
    expect((await decide(id, maker, { decision: 'decline' })).status).toBe(403);
    const withoutScope = await createKey(['read', 'transfer']);
    expect((await decide(id, withoutScope)).status).toBe(403);
    expect((await decide(id, { key: adminKey })).status).toBe(403);
    await asOperator('POST', '/v1/accounts', {
      slug: 'second',
      credentials: { apiKey: 'sandbox-dev-key-2' },
    });
    expect((await decide(id, await createKey(['approve'], 'second'))).status).toBe(404);

    const made = await createKey(['read', 'approve', 'transfer']);
    const sent = await setup.one.call('POST', '/baas/api/v2/transfers', {
      body: internalTransfer({ amount: 3 }),
      headers: newKeyHeader(),
      apiKey: made.key,
    });
    const rotated = await asOperator('POST', `/v1/accounts/main/keys/${made.id}/rotate`, {});
    const successor = await decide(sent.body.id, rotated.body);
    expect([successor.status, successor.body.code]).toEqual([403, 'own_request']);
    expect(taken()).toEqual([]);
    expect((await decide(sent.body.id, ana)).body.state).toBe('received');
    expect((await decide(id, bia)).body.state).toBe('received');
    await setup.test.pool.query(`DELETE FROM api_key WHERE account_id <> $1`, [setup.accountId]);
    // The log of its rights refers to it, and stays.
    await withoutTriggers(setup.test.pool, async (client) => {
      await client.query('DELETE FROM bank_account WHERE id <> $1', [setup.accountId]);
    });
  });

  it('that needs two approvals waits for two holders, and takes no third', async () => {
    const { ana, bia, createKey, asOperator, decide, operation, advance } = setup;
    await setup.setPolicy({ approvals: 2 });
    const id = await setup.sendWaiting();
    expect((await decide(id, ana)).body).toMatchObject({
      state: 'awaiting_approval',
      approval: { needed: 2, given: 1 },
    });
    expect((await decide(id, ana)).body.approval.given).toBe(1);
    const disagreeing = await decide(id, ana, { decision: 'decline' });
    expect([disagreeing.status, disagreeing.body.code]).toEqual([409, 'already_decided']);
    const third = await createKey(['approve']);
    const rotated = await asOperator('POST', `/v1/accounts/main/keys/${third.id}/rotate`, {});
    await advance(id);
    expect(taken()).toEqual([]);
    expect((await decide(id, bia)).body.state).toBe('received');
    const late = await decide(id, rotated.body);
    expect([late.status, late.body.code]).toEqual([409, 'not_awaiting_approval']);
    await advance(id);
    expect((await decide(id, third, { decision: 'decline' })).status).toBe(409);
    expect((await decide(id, bia)).status).toBe(200);
    expect(taken()).toEqual([transferCall]);
    expect((await operation(id)).approval.given).toBe(2);
  });

  it('is sent once when two approvers race, twenty times', async () => {
    const { ana, bia, one, other, decide, operation, advance } = setup;
    await setup.setPolicy({});
    for (let round = 0; round < 20; round += 1) {
      const id = await setup.sendWaiting(internalTransfer({ amount: round + 1 }));
      const results = await Promise.all([decide(id, ana, {}, one), decide(id, bia, {}, other)]);
      expect(results.map(({ status }) => status).sort()).toEqual([200, 409]);
      await Promise.all([advance(id, one), advance(id, other), advance(id, one)]);
      expect(taken()).toEqual([transferCall]);
      expect(await operation(id)).toMatchObject({ state: 'succeeded', approval: { given: 1 } });
    }
  });

  it.each([
    ['two approvals that are needed', { approvals: 2 }, 'approve', [200, 200]],
    ['an approval and a decline', { approvals: 1 }, 'decline', [200, 409]],
  ])('is sent at most once when %s race', async (_, policy, decision, statuses) => {
    const { ana, bia, one, other, decide, operation, advance } = setup;
    await setup.setPolicy(policy);
    for (let round = 0; round < 10; round += 1) {
      const id = await setup.sendWaiting(internalTransfer({ amount: round + 1 }));
      const results = await Promise.all([
        decide(id, ana, {}, one),
        decide(id, bia, { decision }, other),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(statuses);
      await Promise.all([advance(id, one), advance(id, other)]);
      const isSent = results[0]?.status === 200;
      expect(taken()).toEqual(isSent ? [transferCall] : []);
      expect((await operation(id)).state).toBe(isSent ? 'succeeded' : 'declined');
    }
  });

  it('ends when it is declined, and a corrected request can be sent', async () => {
    const { ana, bia, decide, operation, events, send } = setup;
    await setup.setPolicy({});
    const [body, headers] = [internalTransfer(), newKeyHeader()];
    const id = await setup.sendWaiting(body, headers);
    const declined = await decide(id, ana, { decision: 'decline', reason: 'wrong account' });
    expect([declined.status, declined.body.state]).toEqual([200, 'declined']);
    expect(declined.body.endedAt).not.toBeNull();
    expect((await decide(id, bia)).status).toBe(409);
    expect((await decide(id, ana, { decision: 'decline' })).status).toBe(200);
    await setup.advance(id);
    expect(taken()).toEqual([]);
    expect((await operation(id)).state).toBe('declined');
    const { body: transfer } = await setup.one.call('GET', `/v1/transfers/${id}`);
    expect(transfer).toMatchObject({
      state: 'rejected',
      operationState: 'declined',
      settlement: 'withdrawn',
    });
    const repeated = await send(body, headers);
    expect(repeated.body).toMatchObject({ id, state: 'declined' });
    // The same payment under a new key is a new request, and no possible duplicate.
    expect(await setup.sendWaiting(body)).not.toBe(id);
    expect(await events(id)).toEqual(['operation.awaiting_approval', 'operation.declined']);
  });

  it('expires by the clock of PostgreSQL, or is approved: one of them', async () => {
    const { ana, decide, operation, events, advance, one, other } = setup;
    await setup.setPolicy({});
    const id = await setup.sendWaiting();
    await advance(id);
    expect((await operation(id)).state).toBe('awaiting_approval');
    await setup.passExpiry();
    const late = await decide(id, ana);
    expect([late.status, late.body.code]).toEqual([409, 'approval_expired']);
    await Promise.all([advance(id, one), advance(id, other)]);
    expect((await operation(id)).state).toBe('expired');
    expect((await decide(id, ana)).body.code).toBe('not_awaiting_approval');
    expect(await events(id)).toEqual(['operation.awaiting_approval', 'operation.expired']);
    expect(taken()).toEqual([]);

    for (let round = 0; round < 10; round += 1) {
      const racing = await setup.sendWaiting(internalTransfer({ amount: 5 + round }));
      await setup.test.pool.query(
        `UPDATE operation SET next_action_at = now() WHERE state = 'awaiting_approval'`,
      );
      const expiring = setup.passExpiry().then(() => advance(racing, other));
      const [{ status }] = await Promise.all([decide(racing, ana), expiring]);
      await advance(racing);
      const { state } = await operation(racing);
      const sent = taken();
      expect([status, state, sent]).toEqual(
        status === 200 ? [200, 'succeeded', [transferCall]] : [409, 'expired', []],
      );
    }
  });

  it('keeps what it needs when the policy changes, and cannot be changed', async () => {
    const { ana, bia, decide, operation } = setup;
    await setup.setPolicy({ approvals: 2 });
    const id = await setup.sendWaiting();
    await setup.setPolicy({ approvals: 1 });
    await setup.setPolicy({ approvals: 1 }, ana.key);
    expect((await decide(id, ana)).body.state).toBe('awaiting_approval');
    const { pool } = setup.test;
    const change = (sql: string) => pool.query(`${sql} AND id = '${id}'`);
    for (const sql of [
      `UPDATE operation SET request_body = '{}' WHERE true`,
      `UPDATE operation SET amount_cents = 1 WHERE true`,
      `UPDATE operation SET counterparty = 'x' WHERE true`,
      `UPDATE operation SET state = 'received' WHERE true`,
      `UPDATE operation SET state = 'sending' WHERE true`,
      `UPDATE operation SET state = 'unknown', reason = NULL WHERE true`,
    ])
      await expect(change(sql)).rejects.toThrow();
    await expect(pool.query('UPDATE operation_approval_request SET needed = 1')).rejects.toThrow();
    await expect(pool.query('DELETE FROM operation_approval')).rejects.toThrow('append-only');
    const other = await decide(id, bia, { requestHash: 'another' });
    expect([other.status, other.body.code]).toEqual([409, 'request_differs']);
    expect(taken()).toEqual([]);
    expect((await operation(id)).approval).toMatchObject({ needed: 2, given: 1 });
  });

  it('is not sent when its row was changed past the triggers', async () => {
    const { ana, decide, operation, advance, test } = setup;
    await setup.setPolicy({});
    for (const change of [
      `UPDATE operation SET request_body = replace(request_body, '0.75', '75.0')`,
      `UPDATE operation SET amount_cents = 1`,
      `UPDATE operation SET counterparty = '1/1/1'`,
      `UPDATE operation_approval_request SET requested_by = 'another'`,
    ]) {
      const id = await setup.sendWaiting();
      await withoutTriggers(test.pool, async (client) => void (await client.query(change)));
      const refused = await decide(id, ana);
      expect([refused.status, refused.body.code]).toEqual([409, 'request_changed']);
      await advance(id);
      expect((await operation(id)).state).toBe('awaiting_approval');
      expect((await decide(id, ana, { decision: 'decline' })).body.state).toBe('declined');
    }
    expect(taken()).toEqual([]);
  });

  it('waits also where its caller does not wait', async () => {
    await setup.setPolicy({});
    const headers = { ...newKeyHeader(), Prefer: 'respond-async' };
    const id = await setup.sendWaiting(internalTransfer(), headers as never);
    await setup.advance(id);
    expect(taken()).toEqual([]);
    expect((await setup.operation(id)).attempts).toBe(0);
  });

  it('is sent after a lost job, an hour later, and by another process', async () => {
    const { ana, decide, other, test } = setup;
    await setup.setPolicy({});
    const id = await setup.sendWaiting();
    await test.pool.query(`UPDATE operation SET created_at = created_at - interval '70 hours'`);
    await decide(id, ana);
    await test.pool.query('DELETE FROM bullmq.jobs').catch(() => undefined);
    await setup.advance(id, other);
    expect(taken()).toEqual([transferCall]);
    expect((await setup.operation(id)).state).toBe('succeeded');
  });

  it('is not approved while its account is stopped, and can be declined', async () => {
    const { ana, decide, asOperator, operation } = setup;
    await setup.setPolicy({});
    const id = await setup.sendWaiting();
    const mode = (value: string) =>
      asOperator('PUT', '/v1/accounts/main/mode', { mode: value, actor: 'Ana', reason: 'x' });
    await mode('stopped');
    const refused = await decide(id, ana);
    expect([refused.status, refused.body.code]).toEqual([503, 'account_stopped']);
    expect((await operation(id)).approval.given).toBe(0);
    expect((await decide(id, ana, { decision: 'decline' })).body.state).toBe('declined');
    await mode('live');
    expect(taken()).toEqual([]);
  });

  it('counts in the summary, in lists, and as a possible duplicate', async () => {
    await setup.setPolicy({});
    const id = await setup.sendWaiting(internalTransfer({ externalId: 'invoice-1' }));
    const { body: summary } = await setup.one.call('GET', '/v1/summary');
    expect(summary.operations).toMatchObject({ awaitingApproval: 1, sending: 0 });
    const { body: list } = await setup.one.call('GET', '/v1/operations?state=awaiting_approval');
    expect(list.data).toMatchObject([{ id, state: 'awaiting_approval' }]);
    const repeated = await setup.send(internalTransfer({ externalId: 'invoice-1' }));
    expect([repeated.status, repeated.body.code]).toEqual([409, 'possible_duplicate']);
    expect(repeated.headers.get('location')).toBe(`/v1/operations/${id}`);
  });
});
