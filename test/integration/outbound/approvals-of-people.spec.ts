// People as makers and approvers, beside keys: who counts as whom, and whose approval counts when
// an operation is released.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { personActor } from '../../../src/access/accounts/actor.js';
import type { ApprovalDecision } from '../../../src/generated/service/client.js';
import { ApprovalPolicies } from '../../../src/outbound/operations/approval-policies.service.js';
import { Approvals } from '../../../src/outbound/operations/approvals.service.js';
import { noPreferences } from '../../../src/outbound/operations/operation.js';
import { commandLine, Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { AppError } from '../../../src/platform/errors.js';
import { TransfersService } from '../../../src/outbound/transfers/transfers.service.js';
import { internalTransfer } from '../../contract/transfer-samples.js';
import { newKeyHeader } from '../../contract/samples.js';
import {
  approvalsSetup,
  transferCall,
  transfers,
  type ApprovalsSetup,
} from '../../support/approvals-setup.js';

describe('a person', () => {
  let setup: ApprovalsSetup;
  let operators: Operators;

  beforeAll(async () => {
    setup = await approvalsSetup();
    operators = setup.one.application.get(Operators, { strict: false });
  });
  afterAll(() => setup.stop());
  afterEach(() => setup.reset());

  let people = 0;
  const personWith = async (role: PersonRole): Promise<string> => {
    const grant = { accountId: setup.accountId, role };
    people += 1;
    return (await operators.invite(commandLine, `person${people}@example.com`, grant)).id;
  };
  const decide = async (operatorId: string, id: string, decision: ApprovalDecision = 'approve') => {
    const approver = { accountId: setup.accountId, actor: personActor(operatorId) };
    const approvals = setup.one.application.get(Approvals, { strict: false });
    try {
      await approvals.decide(approver, id, { decision, reason: 'invoice seen' });
      const { state, approval } = await setup.operation(id);
      return `${state} ${approval.given}`;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.details.reason ?? error.code;
    }
  };

  it('approves with another person, once each, and a key is a third holder', async () => {
    await setup.setPolicy({ approvals: 2 });
    const [ana, bruno] = [await personWith('approver'), await personWith('admin')];
    const id = await setup.sendWaiting();
    expect(await decide(ana, id)).toBe('awaiting_approval 1');
    expect(await decide(ana, id)).toBe('awaiting_approval 1');
    expect(await decide(ana, id, 'decline')).toBe('already_decided');
    await setup.advance(id);
    expect(setup.bank.takeChanges()).toEqual([]);
    expect(await decide(bruno, id)).toBe('received 2');
    await setup.advance(id);
    expect(setup.bank.takeChanges()).toEqual([transferCall]);

    const other = await setup.sendWaiting(internalTransfer({ amount: 2 }));
    expect((await setup.decide(other, setup.ana)).body.approval.given).toBe(1);
    expect(await decide(ana, other)).toBe('received 2');
  });

  it('who made the request decides nothing about it', async () => {
    await setup.setPolicy({});
    const ana = await personWith('approver');
    const service = setup.one.application.get(TransfersService, { strict: false });
    const body = { ...internalTransfer(), amount: 75n };
    const preferences = {
      ...noPreferences,
      requestedBy: { source: 'api', actor: personActor(ana) } as const,
    };
    const key = newKeyHeader().IdempotencyKey;
    const request = { params: {}, query: {}, body, idempotencyKey: key };
    await service.create(setup.accountId, request, preferences);
    const waiting = await setup.one.call('GET', '/v1/operations?state=awaiting_approval');
    const [{ id }] = waiting.body.data;
    expect((await setup.operation(id)).approval.requestedBy).toBe(personActor(ana));
    expect(await decide(ana, id)).toBe('own_request');
    expect(await decide(ana, id, 'decline')).toBe('own_request');
    expect(await decide(await personWith('approver'), id)).toBe('received 1');
  });

  it('with a key of their own is one holder by both', async () => {
    await setup.setPolicy({ approvals: 2 });
    const ana = await personWith('approver');
    const { body: key } = await setup.asOperator('POST', '/v1/accounts/main/keys', {
      ...{ name: 'Ana', scopes: ['approve', 'transfer'], holder: personActor(ana) },
    });
    const id = await setup.sendWaiting();
    expect((await setup.decide(id, key)).body.approval.given).toBe(1);
    expect(await decide(ana, id)).toBe('awaiting_approval 1');
    const made = await setup.one.call('POST', transfers, {
      ...{ body: internalTransfer({ amount: 3 }), headers: newKeyHeader(), apiKey: key.key },
    });
    expect(await decide(ana, made.body.id)).toBe('own_request');
    const wrong = { name: 'x', scopes: ['approve'], holder: 'settings' };
    expect((await setup.asOperator('POST', '/v1/accounts/main/keys', wrong)).status).toBe(400);
  });

  it('who lost the role, was disabled, or never had it cannot decide', async () => {
    await setup.setPolicy({});
    const [viewer, analyst] = [await personWith('viewer'), await personWith('analyst')];
    const [ana, bruno] = [await personWith('approver'), await personWith('approver')];
    const id = await setup.sendWaiting();
    await operators.setRole(commandLine, ana, { accountId: setup.accountId, role: 'analyst' });
    await operators.disable(commandLine, bruno, 'left the company');
    for (const person of [viewer, analyst, ana, bruno])
      expect(await decide(person, id)).toBe('may_not_approve');
    expect(await decide(viewer, id, 'decline')).toBe('may_not_approve');
    expect((await setup.operation(id)).approval).toMatchObject({ given: 0, decisions: [] });
  });

  it.each([
    ['was disabled', (id: string) => operators.disable(commandLine, id, 'left')],
    [
      'lost the role',
      (id: string) =>
        operators.setRole(commandLine, id, { accountId: setup.accountId, role: null }),
    ],
  ])('who %s before the release has not approved', async (_, lose) => {
    await setup.setPolicy({ approvals: 2 });
    const [ana, bruno] = [await personWith('approver'), await personWith('approver')];
    const id = await setup.sendWaiting();
    expect(await decide(ana, id)).toBe('awaiting_approval 1');
    await lose(ana);
    const { approval } = await setup.operation(id);
    expect(approval).toMatchObject({ given: 0, decisions: [{ counts: false }] });
    expect(await decide(bruno, id)).toBe('awaiting_approval 1');
    await setup.advance(id);
    expect(setup.bank.takeChanges()).toEqual([]);
    expect((await setup.decide(id, setup.bia)).body.state).toBe('received');
  });

  it('whose approval counts again releases the operation by repeating it', async () => {
    await setup.setPolicy({ approvals: 2 });
    const [ana, bruno] = [await personWith('approver'), await personWith('approver')];
    const id = await setup.sendWaiting();
    const setRole = (role: PersonRole) =>
      operators.setRole(commandLine, ana, { accountId: setup.accountId, role });
    await decide(ana, id);
    await setRole('viewer');
    expect(await decide(bruno, id)).toBe('awaiting_approval 1');
    await setRole('approver');
    expect(await decide(bruno, id)).toBe('received 2');
  });

  it('and a key of whom each proposed a weaker policy set it together', async () => {
    const policies = setup.one.application.get(ApprovalPolicies, { strict: false });
    const caller = async (role: PersonRole) => {
      return { accountId: setup.accountId, actor: personActor(await personWith(role)) };
    };
    const weaker = {
      ...{ aboveAmount: 5_000n, kinds: [], sources: [], approvals: 1 as const },
      ...{ newBeneficiary: false, expiresAfterHours: 72, reason: 'fewer' },
    };
    await setup.setPolicy({ aboveAmount: 10 });
    const [ana, bruno] = [await caller('admin'), await caller('admin')];
    expect((await policies.change(ana, weaker)).isProposed).toBe(true);
    expect((await policies.change(ana, weaker)).isProposed).toBe(true);
    await operators.setRole(commandLine, ana.actor.slice('person:'.length), {
      ...{ accountId: setup.accountId, role: 'approver' },
    });
    // The one who proposed it may set it no more.
    expect((await policies.change(bruno, weaker)).isProposed).toBe(true);
    const confirmed = await setup.setPolicy({ aboveAmount: 50, reason: 'x' }, setup.ana.key);
    expect([confirmed.status, confirmed.body.aboveAmount]).toEqual([200, 50]);
  });
});

describe('a key that was revoked before the release', () => {
  let setup: ApprovalsSetup;

  beforeAll(async () => {
    setup = await approvalsSetup();
  });
  afterAll(() => setup.stop());

  it('has not approved, and its holder approves again with a later key', async () => {
    const { createKey, asOperator, decide, bia } = setup;
    await setup.setPolicy({ approvals: 2 });
    const id = await setup.sendWaiting();
    const first = await createKey(['approve']);
    expect((await decide(id, first)).body.approval.given).toBe(1);
    const keys = '/v1/accounts/main/keys';
    const { body: rotated } = await asOperator('POST', `${keys}/${first.id}/rotate`, {});
    expect((await decide(id, rotated)).body.approval).toMatchObject({ given: 1 });
    await asOperator('DELETE', `${keys}/${first.id}`);
    expect((await setup.operation(id)).approval).toMatchObject({
      given: 0,
      decisions: [{ actor: first.id, counts: false }],
    });
    expect((await decide(id, bia)).body).toMatchObject({ state: 'awaiting_approval' });
    const again = await decide(id, rotated);
    expect([again.status, again.body.state]).toEqual([200, 'received']);
    expect(again.body.approval.given).toBe(2);
  });
});
