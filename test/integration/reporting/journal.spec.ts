// What the money of lines is called by decisions, rules and payments, and the journal entries of a
// month that follow.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

let service: ServiceOnSandbox;
let today: string;

const ask = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) =>
  service.call(method, path, {
    ...{ ...(body ? { body } : {}), headers: method === 'GET' ? {} : newKeyHeader() },
  });
const call = async (...args: Parameters<typeof ask>) => {
  const answer = await ask(...args);
  if (answer.status >= 300) throw new Error(`${args[1]}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const book = (line: object) => service.bank.call('POST', '/sandbox/transactions', { body: line });
const reconcile = async () => {
  const { accountId } = service;
  await service.sync();
  await service.application.get(ReconciliationService, { strict: false }).reconcile({ accountId });
};
const breakOf = async (amount: number): Promise<{ id: string; nsu: number }> => {
  const { data } = await call('GET', '/v1/breaks?state=open');
  return (data as { id: string; nsu: number; amount: number }[]).find(
    (one) => one.amount === amount,
  )!;
};
const act = async (amount: number, action: object) => {
  const { id } = await breakOf(amount);
  return call('POST', `/v1/breaks/${id}/actions`, { reason: 'Conferido', ...action });
};
/** Category, cost centre and project of the line with this amount, as the CSV has them. */
const exported = async (amount: string) => {
  const { text } = await service.call('GET', `/v1/exports/transactions?format=csv&from=${today}`);
  const [head = [], ...rows] = text.split('\r\n').map((row) => row.replaceAll('"', '').split(','));
  const of = (name: string) => head.findIndex((one) => one.replace(/^\uFEFF/, '') === name);
  const row = rows.find((one) => one[of('amount')] === amount) ?? [];
  return ['category', 'costCentre', 'project'].map((name) => row[of(name)]);
};

beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
  const { body } = await service.bank.call('GET', '/sandbox/clock');
  today = new Date(Date.parse(body.now) - 3 * 3_600_000).toISOString().slice(0, 10);
  const coding = { category: 'Tarifas', costCentre: 'Matriz' };
  const rule = await call('POST', '/v1/rules', {
    ...{ name: 'Tarifas', priority: 1, when: { types: ['DEBIT_FEE'] }, reason: 'do banco' },
    then: { classify: 'fee', reason: 'tarifa', coding },
  });
  expect(rule.versions[0].then.coding).toEqual({ ...coding, project: null });
  await call('POST', `/v1/rules/${rule.id}/versions/1/trial`, {});
  await call('POST', `/v1/rules/${rule.id}/versions/1/activate`, { reason: 'conferida' });
  await call('PUT', '/v1/reason-codes/COMPRA-1', {
    ...{ name: 'Compra sem previsão', coding: { category: 'Compras', costCentre: 'Loja 1' } },
    reason: 'Plano de contas',
  });
  await call('POST', '/v1/expected-payments', {
    ...{ externalId: 'folha', direction: 'debit', amount: 70, text: 'folha', dateFrom: today },
    ...{ category: 'Salários', costCentre: 'RH', project: 'Obra 4' },
  });
  await book({ amount: 1.5, isCredit: false, typeName: 'DEBIT_FEE', notes: 'Tarifa' });
  await book({ amount: 70, isCredit: false, typeName: 'DEBIT_TRANSFER', notes: 'folha' });
  await book({ amount: 30, isCredit: false, typeName: 'DEBIT_OTHER', notes: 'Compra' });
  await book({ amount: 20, isCredit: true, typeName: 'CREDIT_OTHER', notes: 'Sem motivo' });
  await reconcile();
});
afterAll(() => service.stop());

it('exports what a rule, a payment and a decision with a reason code say of the money', async () => {
  expect(await exported('-1.50')).toEqual(['Tarifas', 'Matriz', '']);
  expect(await exported('-70.00')).toEqual(['Salários', 'RH', 'Obra 4']);
  expect(await exported('-30.00')).toEqual(['', '', '']);
  const given = { action: 'accept', reasonCode: 'COMPRA-1', coding: { project: 'Vitrine' } };
  const { id } = await act(30, given);
  expect(await exported('-30.00')).toEqual(['Compras', 'Loja 1', 'Vitrine']);
  // A note corrects it, and a reopened break says nothing any more.
  const note = { action: 'note', reason: 'Era outra', coding: { category: 'Estoque' } };
  await call('POST', `/v1/breaks/${id}/actions`, note);
  expect(await exported('-30.00')).toEqual(['Estoque', '', '']);
  await call('POST', `/v1/breaks/${id}/actions`, { action: 'reopen', reason: 'Engano' });
  expect(await exported('-30.00')).toEqual(['', '', '']);
  await act(30, given);
});

it('keeps what a code said then, and accepts no code that is retired or unknown', async () => {
  await call('PUT', '/v1/reason-codes/COMPRA-1', {
    ...{ name: 'Compra', coding: { category: 'Outra' }, isActive: false, reason: 'fora de uso' },
  });
  const { data } = await call('GET', '/v1/reason-codes');
  expect(data).toMatchObject([{ code: 'COMPRA-1', version: 2, isActive: false }]);
  expect(await exported('-30.00')).toEqual(['Compras', 'Loja 1', 'Vitrine']);
  const { id } = await breakOf(20);
  for (const reasonCode of ['COMPRA-1', 'NENHUM']) {
    const refused = await ask('POST', `/v1/breaks/${id}/actions`, {
      ...{ action: 'accept', reason: 'Conferido', reasonCode },
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: { '$.reasonCode': [expect.any(String)] } },
    });
  }
});
