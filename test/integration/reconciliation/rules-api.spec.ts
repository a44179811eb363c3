import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

describe('the rules of an account', () => {
  let service: ServiceApplication;
  const post = (path: string, body: unknown, key?: string) =>
    service.call('POST', path, { body, ...(key ? { headers: { IdempotencyKey: key } } : {}) });
  const declaration = (name: string) => ({
    name,
    priority: 10,
    when: { document: '111.444.777-35', amount: { max: 100.5 } },
    then: { match: { by: ['document', 'amount'], tolerance: { percent: 1.25 } } },
    reason: 'Anna pays without naming her order.',
  });

  const findListed = async (id: unknown) => {
    const { body } = await service.call('GET', '/v1/rules');
    return body.data.find((rule: { id: string }) => rule.id === id);
  };
  const range = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  /** Version 1 becomes active, 2 to 20 are retired, 21 to 60 drafts. Version 60 has the history. */
  const addHistory = async (ruleId: string) => {
    const { prisma } = service.database;
    const { accountId, ...declared } = await prisma.ruleVersion.findFirstOrThrow({
      where: { ruleId },
    });
    const key = { accountId, ruleId, version: 1 };
    await prisma.ruleVersion.update({
      where: { accountId_ruleId_version: key },
      data: { state: 'active' },
    });
    const definition = declared.definition as object;
    await prisma.ruleVersion.createMany({
      data: range(2, 60).map((version) => ({
        ...{ ...declared, accountId, version, definition },
        state: version <= 20 ? 'retired' : 'draft',
      })),
    });
    const at = (second: number) => new Date(Date.now() + second * 1_000);
    const none = { count: 0, nsus: [] };
    const samples = { matchedMore: none, classifiedMore: none, less: none, ambiguous: none };
    const result = {
      ...samples,
      changed: none,
      conflicts: none,
      tolerated: { count: 0, cents: '0' },
    };
    const last = { accountId, ruleId, version: 60 };
    await prisma.ruleTrial.createMany({
      data: range(1, 110).map((lines) => ({
        ...{ ...last, id: randomUUID(), from: at(0), until: at(0), createdAt: at(lines) },
        result: { ...result, lines },
      })),
    });
    await prisma.ruleHistoryEntry.createMany({
      data: range(1, 210).map((number) => ({
        ...{ ...last, action: 'tried' as const, createdAt: at(number) },
        reason: String(number),
      })),
    });
  };

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  it('include a default rule for bank fees', async () => {
    const { body } = await service.call('GET', '/v1/rules');
    expect(body.data).toMatchObject([{ name: 'Bank fees', origin: 'default', activeVersion: 1 }]);
  });

  it('are declared once per idempotency key and once per name', async () => {
    const first = await post('/v1/rules', declaration('twice'), 'rule-1');
    const again = await post('/v1/rules', declaration('twice'), 'rule-1');
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    const named = await post('/v1/rules', declaration('twice'));
    expect([named.status, named.body.code]).toEqual([409, 'name_taken']);
  });

  it('show the declaration with masked documents', async () => {
    const { body, text } = await post('/v1/rules', declaration('shown'));
    expect(text).not.toContain('11144477735');
    expect(body.versions).toMatchObject([
      {
        version: 1,
        state: 'draft',
        when: { document: '***.444.777-**', amount: { max: 100.5 } },
        then: { match: { by: ['document', 'amount'], tolerance: { percent: 1.25, max: 1000 } } },
        steps: [{ action: 'declared', reason: 'Anna pays without naming her order.' }],
      },
    ]);
  });

  it('report a wrong declaration at the path of the field', async () => {
    const wrong = { ...declaration('wrong'), then: { match: { by: ['amount'] } } };
    const { status, body } = await post('/v1/rules', wrong);
    expect([status, Object.keys(body.errors as object)]).toEqual([400, ['$.then.match.by']]);
  });

  it('are activated only after a new trial of the same version', async () => {
    const { id } = (await post('/v1/rules', declaration('tried'))).body;
    const reason = { reason: 'The trial was correct.' };
    const activate = (version: number) =>
      post(`/v1/rules/${id}/versions/${version}/activate`, reason);
    const tryOut = (version: number) => post(`/v1/rules/${id}/versions/${version}/trial`, {});
    expect((await activate(1)).body.code).toBe('trial_needed');
    expect(await tryOut(1)).toMatchObject({ status: 200, body: { version: 1, lines: 0 } });
    expect((await activate(1)).body.activeVersion).toBe(1);
    expect((await activate(1)).body.code).toBe('already_active');
    const { name: _, ...next } = declaration('tried');
    expect((await post(`/v1/rules/${id}/versions`, next)).status).toBe(201);
    expect((await activate(2)).body.code).toBe('trial_needed');
    await tryOut(2);
    const { body } = await activate(2);
    expect([body.activeVersion, body.versions[0].state]).toEqual([2, 'retired']);
    const retired = await post(`/v1/rules/${id}/versions/2/retire`, reason);
    expect(retired.body.activeVersion).toBeNull();
    const steps = retired.body.versions[1].steps as { action: string }[];
    expect(steps.map(({ action }) => action)).toEqual([
      'declared',
      'tried',
      'activated',
      'retired',
    ]);
    expect((await activate(2)).body.code).toBe('trial_needed');
    expect((await activate(9)).status).toBe(404);
  });

  it('are listed with their active and draft versions, without trials and steps', async () => {
    const { name, ...next } = declaration('listed');
    const { id } = (await post('/v1/rules', { name, ...next })).body;
    await post(`/v1/rules/${id}/versions`, next);
    await post(`/v1/rules/${id}/versions/1/retire`, { reason: 'Version 2 is better.' });
    const { body: shown } = await service.call('GET', `/v1/rules/${id}`);
    const [retired, { trials, steps, ...draft }] = shown.versions;
    expect([retired.state, draft.state, trials, steps.length]).toEqual(['retired', 'draft', [], 1]);
    expect(await findListed(id)).toEqual({ ...shown, versions: [draft] });
  });

  it('are shown with at most 50 versions, the newest 100 trials and the newest 200 steps', async () => {
    const { id } = (await post('/v1/rules', declaration('long history'))).body;
    await addHistory(id as string);
    const numbersOf = (rule: { versions: { version: number }[] }) =>
      rule.versions.map(({ version }) => version);
    const { body: shown } = await service.call('GET', `/v1/rules/${id}`);
    expect([shown.activeVersion, ...numbersOf(shown)]).toEqual([1, 1, ...range(12, 60)]);
    const { trials, steps } = shown.versions.at(-1);
    expect(trials.map(({ lines }: { lines: number }) => lines)).toEqual(range(11, 110).reverse());
    expect(steps.map(({ reason }: { reason: string }) => Number(reason))).toEqual(range(11, 210));
    expect(numbersOf(await findListed(id))).toEqual([1, ...range(21, 60)]);
  });

  it('have trials over at most 400 days', async () => {
    const { id } = (await post('/v1/rules', declaration('long'))).body;
    const days = { from: '2025-01-01', to: '2026-06-30' };
    const { status, body } = await post(`/v1/rules/${id}/versions/1/trial`, days);
    expect([status, Object.keys(body.errors as object)]).toEqual([400, ['$.from']]);
  });

  it('are a 500 when one cannot be described while the list is written', async () => {
    const { id } = (await post('/v1/rules', declaration('unreadable'))).body;
    const { definition: _, ...first } = await service.database.prisma.ruleVersion.findFirstOrThrow({
      where: { ruleId: id as string },
    });
    await service.database.prisma.ruleVersion.create({
      data: { ...first, version: 2, definition: {} },
    });
    const { status, body } = await service.call('GET', '/v1/rules');
    expect([status, body.status, body.title]).toEqual([500, 500, 'Internal Server Error']);
  });

  it('hide no large debit that has the type name of a fee', async () => {
    const { id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow();
    const debit = async (amount: number) => {
      const body = { amount, isCredit: false, typeName: 'DEBIT_FEE' };
      return (await service.sandbox.call('POST', '/sandbox/transactions', { body })).body.nsu;
    };
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    const [fee, other] = [await debit(100), await debit(100.01)];
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
    const explanationOf = async (nsu: number) =>
      (await service.call('GET', `/v1/transactions?nsu=${nsu}`)).body.data[0].explanation;
    expect(await explanationOf(fee)).toMatchObject({ state: 'classified', category: 'fee' });
    expect(await explanationOf(other)).toMatchObject({ state: 'in_break' });
    const { body } = await service.call('GET', `/v1/breaks?nsu=${other as number}`);
    expect(body.data).toMatchObject([{ kind: 'unrequested_debit', amount: 100.01 }]);
  });
});
