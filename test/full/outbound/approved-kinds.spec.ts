// Each kind of operation that sends money, from each source, while all of them need approval.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { recordRestore } from '../../../src/outbound/operations/restores.service.js';
import { RefundPolicies } from '../../../src/reconciliation/breaks/refund-policies.service.js';
import { slip } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { billsAt } from '../../support/bills.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { withoutTriggers } from '../../support/parent-rows.js';
import { adminKey } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('while everything needs approval', () => {
  let service: ServiceOnSandbox;
  let approver: string;
  const fixture = new BreaksFixture(() => service);
  const { act, actions, get, sql } = fixture;

  const call = (method: string, path: string, body?: object, key?: string) =>
    service.call(method, path, {
      body,
      headers: { IdempotencyKey: key ?? randomUUID(), 'Concilia-Allow-Duplicate': 'true' },
    });
  const createKey = async (scopes: string[]): Promise<string> => {
    const body = { name: 'a person', kind: 'api', scopes };
    const path = '/v1/accounts/main/keys';
    return (await service.call('POST', path, { body, apiKey: adminKey })).body.key;
  };
  const decide = (id: string, decision = 'approve', apiKey = approver) =>
    service.call('POST', `/v1/operations/${id}/approvals`, {
      body: { decision, reason: 'as agreed' },
      apiKey,
    });
  const advance = async (id: string) => {
    const recovery = service.application.get(OperationRecovery, { strict: false });
    await recovery.advance({ accountId: service.accountId, operationId: id });
  };
  const operation = async (id: string) => (await service.call('GET', `/v1/operations/${id}`)).body;
  const stateOf = async (id: string): Promise<string> => (await operation(id)).state;
  const setPolicy = (policy: object = {}) =>
    service.call('PUT', '/v1/approval-policy', { body: { aboveAmount: 0, ...policy } });
  const withPolicy = async (policy: object, work: () => Promise<void>) => {
    const clear = () =>
      withoutTriggers(service.pool, async (client) => {
        await client.query('DELETE FROM approval_policy_change');
      });
    await clear();
    expect((await setPolicy(policy)).status).toBe(200);
    await work();
    await clear();
    await setPolicy();
  };
  const awaiting = ({ status, body }: Awaited<ReturnType<typeof call>>): string => {
    // Of a batch it is a list.
    const [{ id, state, operationId = id }] = [body].flat();
    expect([status, state]).toEqual([202, 'awaiting_approval']);
    return operationId;
  };
  /** Declines it, approves what is requested again, and expects that it was sent once. */
  const declineThenApprove = async (request: () => ReturnType<typeof call>) => {
    const declined = awaiting(await request());
    expect((await decide(declined, 'decline')).body.state).toBe('declined');
    const id = awaiting(await request());
    expect(id).not.toBe(declined);
    expect((await decide(id)).body.state).toBe('received');
    await advance(id);
    expect(await operation(id)).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect(await operation(declined)).toMatchObject({ state: 'declined', attempts: 0 });
    return { id, declined };
  };
  const lookUp = async (): Promise<string> => {
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    return (await call('POST', path, { key: 'maria@pessoa-dois.example' })).body.endToEndId;
  };
  const receivePix = async (amount: number): Promise<number> => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    return body.nsu;
  };
  const refund = (nsu: number, amount: number) =>
    call('PUT', `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`, { amount });
  const receiveInBreak = async (amount: number) => {
    const nsu = await receivePix(amount);
    await fixture.expectLine(nsu, amount * 100, { isPaidBefore: true });
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}&state=open`);
    return { nsu, id: body.data[0].id as string };
  };
  const refundsOf = async (nsu: number) =>
    (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data;

  beforeAll(async () => {
    service = await serviceOnSandbox();
    approver = await createKey(['read', 'approve']);
    await service.sync();
    expect((await setPolicy()).status).toBe(200);
  });
  afterAll(() => service.stop());

  it('a transfer by key, a manual one and a batch are sent after the approval', async () => {
    const endToEndId = await lookUp();
    const { declined } = await declineThenApprove(() =>
      call('POST', '/baas/api/v2/transfers', keyTransfer(endToEndId)),
    );
    const { body } = await service.call('GET', `/v1/transfers/${declined}`);
    expect(body).toMatchObject({ state: 'rejected', operationState: 'declined' });
    await declineThenApprove(() => call('POST', '/baas/api/v2/transfers', manualTransfer()));
    const { id } = await declineThenApprove(() =>
      call('POST', '/baas/v1/transfers/batch', [batchItem(), batchItem()]),
    );
    expect((await service.call('GET', `/v1/transfers?operationId=${id}`)).status).toBe(200);
  });

  it('a transfer whose look-up has expired is not approved', async () => {
    const endToEndId = await lookUp();
    const path = '/baas/api/v2/transfers';
    const id = awaiting(await call('POST', path, keyTransfer(endToEndId)));
    await sql(`UPDATE pix_lookup SET expires_at = now() - interval '1 day'`);
    expect(statusAndCode(await decide(id))).toEqual([409, 'look_up_expired']);
    expect(await operation(id)).toMatchObject({
      state: 'awaiting_approval',
      approval: { given: 0 },
    });
    expect((await decide(id, 'decline')).body.state).toBe('declined');
  });

  it('a bill is paid after the approval, and a declined one is free', async () => {
    const bills = billsAt(service);
    const { barCode } = await bills.newBill();
    await declineThenApprove(() =>
      call('POST', '/baas/api/v1/bill-payments', { barCode, amount: 80 }),
    );
    expect(await bills.paymentsAtBank(barCode)).toHaveLength(1);
  });

  it('a scheduled bill whose time has passed is not approved', async () => {
    const { barCode } = await billsAt(service).newBill();
    const payAt = '2090-01-02T15:00:00Z';
    const body = { barCode, amount: 80, payAt };
    const id = awaiting(await call('POST', '/baas/api/v1/bill-payments', body));
    const other = await call('POST', '/baas/api/v1/bill-payments', { barCode, amount: 80 });
    expect(statusAndCode(other)).toEqual([422, 'bill_already_scheduled']);
    await sql(`UPDATE statement_state SET clock_offset_ms = clock_offset_ms + 3000000000000`);
    expect(statusAndCode(await decide(id))).toEqual([409, 'pay_time_passed']);
    await sql(`UPDATE statement_state SET clock_offset_ms = clock_offset_ms - 3000000000000`);
    expect((await decide(id, 'decline')).status).toBe(200);
  });

  it('a refund that waits counts as refunded, and a declined one does not', async () => {
    const nsu = await receivePix(10);
    const id = awaiting(await refund(nsu, 7));
    expect(statusAndCode(await refund(nsu, 4))).toEqual([422, 'refund_exceeds_original']);
    expect((await decide(id, 'decline')).body.state).toBe('declined');
    await declineThenApprove(() => refund(nsu, 10));
    expect(await refundsOf(nsu)).toMatchObject([
      { state: 'accepted' },
      { state: 'rejected' },
      { state: 'rejected' },
    ]);
  });

  it('a refund is not approved once a dispute of its Pix is reported', async () => {
    const nsu = await receivePix(6);
    const id = awaiting(await refund(nsu, 6));
    await sql(
      `INSERT INTO dispute (account_id, id, kind, reference, status, reported_at, deadline_at,
         end_to_end_id)
       SELECT account_id, gen_random_uuid(), 'med', 'd', 'reported', now(), now(), end_to_end_id
       FROM statement_line WHERE nsu = $1`,
      nsu,
    );
    expect(statusAndCode(await decide(id))).toEqual([409, 'disputed']);
    await sql('DELETE FROM dispute');
    expect((await decide(id)).body.state).toBe('received');
    await advance(id);
  });

  it('a refund of a break waits, and is refused when the break was resolved meanwhile', async () => {
    const { nsu, id } = await receiveInBreak(12);
    const acting = await createKey(['read', 'approve', 'reconcile', 'refund']);
    const requested = await service.call('POST', `/v1/breaks/${id}/actions`, {
      body: { action: 'refund', reason: 'paid twice' },
      apiKey: acting,
    });
    expect(requested.status).toBe(200);
    const [{ id: refundId, operationState }] = await refundsOf(nsu);
    expect(operationState).toBe('awaiting_approval');
    expect((await act(id, 'refund')).status).toBe(200);
    expect(await refundsOf(nsu)).toHaveLength(1);
    expect(statusAndCode(await decide(refundId, 'approve', acting))).toEqual([403, 'own_request']);
    expect((await operation(refundId)).approval.source).toBe('break');
    expect(statusAndCode(await act(id, 'accept'))).toEqual([409, 'refund_under_way']);
    await sql(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'automatic'
               WHERE id = $1`,
      id,
    );
    expect(statusAndCode(await decide(refundId))).toEqual([409, 'break_changed']);
    await sql(`UPDATE break SET state = 'open' WHERE id = $1`, id);
    expect((await decide(refundId, 'decline')).body.state).toBe('declined');
    expect((await act(id, 'refund')).status).toBe(200);
    const [{ id: second }] = await refundsOf(nsu);
    expect(second).not.toBe(refundId);
    await decide(second);
    await advance(second);
    await service.sync();
    await fixture.reconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect((await actions(id)).filter((action) => action === 'refund').length).toBeGreaterThan(1);
  });

  it('an automatic refund waits for another key than the one that set its policy', async () => {
    const setter = await createKey(['read', 'approve', 'reconcile', 'refund']);
    const kinds = [{ kind: 'duplicate_payment', isOn: true }];
    const changed = await service.call('PUT', '/v1/refund-policies', {
      body: { policies: kinds, reason: 'as agreed' },
      apiKey: setter,
    });
    expect(changed.status).toBe(200);
    const { nsu } = await receiveInBreak(13);
    await sql(
      `UPDATE statement_state SET closed_from = now() - interval '1 day',
         closed_until = now() + interval '1 hour', first_gap_nsu = NULL, broken_since = NULL`,
    );
    const policies = service.application.get(RefundPolicies, { strict: false });
    const apply = () => policies.apply({ accountId: service.accountId });
    await apply();
    const [{ id }] = await refundsOf(nsu);
    expect((await operation(id)).approval.source).toBe('policy');
    expect(statusAndCode(await decide(id, 'approve', setter))).toEqual([403, 'own_request']);
    expect((await decide(id, 'decline')).body.state).toBe('declined');
    await apply();
    expect(await refundsOf(nsu)).toHaveLength(1);
  });

  it('rows of a file wait, and are decided together, each on its own', async () => {
    const file = [1, 2, 3].map((amount) => internalTransfer({ amount }));
    const { body: upload } = await service.call('POST', '/v1/transfers/bulk', {
      body: file.map((row) => JSON.stringify(row)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const bulk = service.application.get(BulkService, { strict: false });
    await bulk.issueNextRows({ accountId: service.accountId, uploadId: upload.id });
    const rows = async () => (await service.call('GET', `/v1/bulk/${upload.id}/rows`)).body.data;
    const waiting = await rows();
    expect(waiting.map((row: { state: string }) => row.state)).toEqual(Array(3).fill('accepted'));
    const decideAll = (decision: string, more: object = {}, apiKey?: string) =>
      service.call('POST', `/v1/bulk/${upload.id}/approvals`, {
        body: { decision, reason: 'payroll', ...more },
        apiKey: apiKey ?? approver,
      });
    const own = await service.call('POST', `/v1/bulk/${upload.id}/approvals`, {
      body: { decision: 'approve', reason: 'mine' },
    });
    expect(statusAndCode(own)).toEqual([403, 'own_request']);
    await decide(waiting[0].operationId, 'decline');
    expect((await decideAll('approve', { afterLine: 2 })).body).toEqual({
      ...{ decided: 1, waiting: 1, refused: [], nextAfterLine: null },
    });
    expect((await decideAll('approve')).body).toMatchObject({ decided: 1, waiting: 0 });
    expect((await decideAll('approve')).body).toMatchObject({ decided: 0, waiting: 0 });
    for (const { operationId } of waiting) await advance(operationId);
    const states = (await rows()).map((row: { operationState: string }) => row.operationState);
    expect(states).toEqual(['declined', 'succeeded', 'succeeded']);
  });

  it('charges do not wait, and their kind is refused in a policy', async () => {
    expect((await call('POST', '/baas/v1/charges', slip())).status).toBe(200);
    const { status, body } = await setPolicy({ kinds: ['create_charge'] });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['$.kinds[0]']]);
  });

  it('a beneficiary is new until an operation has sent money to it', () =>
    withPolicy({ aboveAmount: null, newBeneficiary: true }, async () => {
      const [path, number] = ['/baas/api/v2/transfers', '9988776'];
      const beneficiary = { ...manualTransfer().beneficiary, number };
      const send = () => call('POST', path, manualTransfer({ beneficiary }));
      const first = awaiting(await send());
      const second = awaiting(await send());
      await decide(first);
      await advance(first);
      expect(await stateOf(first)).toBe('succeeded');
      expect((await send()).status).toBe(200);
      expect(await stateOf(second)).toBe('awaiting_approval');
      const batch = [batchItem({ beneficiaryAccountNumber: '1000003' })];
      expect((await call('POST', '/baas/v1/transfers/batch', batch)).status).toBe(202);
    }));

  it('a policy restricts sources and kinds', () =>
    withPolicy({ sources: ['bulk'], kinds: ['create_transfer'] }, async () => {
      expect((await call('POST', '/baas/api/v2/transfers', internalTransfer())).status).toBe(200);
      const { body: upload } = await service.call('POST', '/v1/transfers/bulk', {
        body: JSON.stringify(internalTransfer()),
        headers: { 'content-type': 'application/x-ndjson' },
      });
      const bulk = service.application.get(BulkService, { strict: false });
      await bulk.issueNextRows({ accountId: service.accountId, uploadId: upload.id });
      const { body } = await service.call('GET', `/v1/bulk/${upload.id}/rows`);
      expect(body.data).toMatchObject([{ operationState: 'awaiting_approval' }]);
    }));

  it('a debit on the statement is no payment of what waits, and a linked one blocks it', async () => {
    const { barCode } = await billsAt(service).newBill({ amount: 33 });
    const id = awaiting(await call('POST', '/baas/api/v1/bill-payments', { barCode, amount: 33 }));
    const nsu = await fixture.addLine({ amountCents: 3_300, isCredit: false });
    await withoutTriggers(service.pool, async (client) => {
      const set = 'UPDATE statement_line SET bill_code = $2 WHERE nsu = $1';
      await client.query(set, [nsu, barCode]);
    });
    await fixture.decideAll();
    const [{ id: expected }] = await sql(
      'SELECT id FROM expected_payment WHERE operation_id = $1',
      id,
    );
    const matches = () => sql('SELECT 1 FROM match WHERE nsu = $1 AND unlinked_at IS NULL', nsu);
    expect(await matches()).toEqual([]);
    await service.match(nsu, expected);
    expect(await matches()).toHaveLength(1);
    expect(statusAndCode(await decide(id))).toEqual([409, 'already_on_statement']);
    expect(await stateOf(id)).toBe('awaiting_approval');
    await service.unlink(nsu, expected);
    expect((await decide(id, 'decline')).status).toBe(200);
  });

  it('what waits in a restored database is unknown, and is not sent', async () => {
    const id = awaiting(await call('POST', '/baas/api/v2/transfers', internalTransfer()));
    await recordRestore(service.database, 'Ana');
    expect(await operation(id)).toMatchObject({ state: 'unknown', reason: 'restored' });
    expect(statusAndCode(await decide(id))).toEqual([409, 'not_awaiting_approval']);
  });
});
