// Fees that the sandbox bank charges, checked against the price list that was agreed: what it
// overcharges is found to the cent, and follows the list and the lines.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

interface FeeBreak {
  id: string;
  state: string;
  amount: number;
  nsu: number;
  evidence: object;
}

let service: ServiceOnSandbox;
let month: string;
const pix = { kind: 'pix_received', price: 0.5, freeItems: 1 };
const packageOf = (price: number) => ({
  ...{ kind: 'package', period: 'month', price, text: 'pacote' },
});

const call = async (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) => {
  const headers = method === 'GET' ? {} : newKeyHeader();
  const answer = await service.call(method, path, { ...(body ? { body } : {}), headers });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const bank = (method: 'PATCH' | 'POST', path: string, body: object) =>
  service.bank.call(method, path, { body });
const receive = (amount: number) => bank('POST', '/sandbox/pix/received', { amount });
const agree = (tariffs: object[], reason: string) =>
  call('PUT', '/v1/price-list', { validFrom: `${month}-01`, tariffs, reason });
/** Decides what is due, and what is due only later. */
const reconcile = async () => {
  const { accountId, pool } = service;
  const reconciliation = service.application.get(ReconciliationService, { strict: false });
  await service.sync();
  for (let round = 0; round < 3; round += 1) {
    await reconciliation.reconcile({ accountId });
    await pool.query(`UPDATE reconciliation_task SET due_at = now() WHERE kind = 'fees'`);
  }
};
const feeBreaks = async (state: string): Promise<FeeBreak[]> => {
  const { data } = await call('GET', `/v1/breaks?kind=fee_mismatch&state=${state}`);
  return (data as FeeBreak[]).sort((a, b) => a.nsu - b.nsu);
};
const check = () => call('GET', `/v1/fee-checks/${month}`);

beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
  const { body } = await service.bank.call('GET', '/sandbox/clock');
  month = new Date(Date.parse(body.now) - 3 * 3_600_000).toISOString().slice(0, 7);
});
afterAll(() => service.stop());

it('opens no break without a price list', async () => {
  await bank('PATCH', '/sandbox/modes', { fees: { CREDIT_PIX: 0.5 } });
  await receive(10);
  await receive(20);
  await reconcile();
  expect(await feeBreaks('open')).toEqual([]);
  expect(await check()).toMatchObject({ charged: 1, overcharge: 0, unpriced: 2, mismatches: [] });
  expect(await call('GET', '/v1/price-list')).toEqual({ versions: [] });
});

it('finds a planted overcharge to the cent, line by line', async () => {
  await agree([pix, packageOf(29.9)], 'Contrato de janeiro');
  await bank('PATCH', '/sandbox/modes', { fees: { CREDIT_PIX: 0.62 } });
  await receive(30);
  await bank('POST', '/sandbox/transactions', {
    ...{ amount: 29.9, isCredit: false, typeName: 'DEBIT_FEE', notes: 'Pacote mensal' },
  });
  await reconcile();
  // Of three Pix, the first is free: 0.50 twice and 0.62 were charged.
  const { tariffs, mismatches, ...sums } = await check();
  expect(sums).toEqual({
    ...{ month, expected: 30.9, charged: 31.52, overcharge: 0.62, undercharge: 0, lines: 4 },
    ...{ waiting: 0, unpriced: 0, returned: 0 },
  });
  expect(tariffs).toContainEqual({
    ...{ kind: 'package', expected: 29.9, charged: 29.9, overcharge: 0, undercharge: 0, lines: 1 },
  });
  const open = await feeBreaks('open');
  expect(open.map(({ nsu, amount }) => [nsu, amount])).toEqual(
    (mismatches as { nsu: number; overcharge: number }[]).map((one) => [one.nsu, one.overcharge]),
  );
  expect(open[0]?.evidence).toMatchObject({ tariff: 'pix_received', priceList: 1 });
  const file = await service.call('GET', `/v1/exports/fees/${month}`);
  expect(file.text.trim().split('\r\n')).toHaveLength(5);
});

it('resolves the break when the list is corrected, and opens it again with the old one', async () => {
  await agree(
    [{ ...pix, freeItems: 0, price: 0.5, tiers: [{ from: 3, price: 0.62 }] }, packageOf(29.9)],
    'Aditivo',
  );
  await reconcile();
  expect(await feeBreaks('open')).toEqual([]);
  expect(await check()).toMatchObject({ expected: 31.52, overcharge: 0 });
  await agree([pix, packageOf(30)], 'Aditivo cancelado');
  await reconcile();
  expect((await feeBreaks('open')).map(({ amount }) => amount).sort()).toEqual([0.1, 0.62]);
  // Undercharge is a mismatch, and no overcharge.
  expect(await check()).toMatchObject({ overcharge: 0.62, undercharge: 0.1 });
});

it('keeps an acceptance while the difference is no larger', async () => {
  const [claimed] = await feeBreaks('open');
  const action = { action: 'accept', reason: 'Reclamado ao banco' };
  await call('POST', `/v1/breaks/${claimed!.id}/actions`, action);
  await reconcile();
  expect(await feeBreaks('open')).toHaveLength(1);
  await call('POST', `/v1/breaks/${claimed!.id}/actions`, { action: 'reopen', reason: 'Engano' });
  await reconcile();
  expect(await feeBreaks('open')).toHaveLength(2);
});

it('counts the items again when one comes late or a line is no fee any more', async () => {
  await bank('PATCH', '/sandbox/modes', { fees: {} });
  await receive(40);
  await reconcile();
  // A fourth Pix makes three that cost 0.50: the third fee is 0.12 too much.
  expect(await check()).toMatchObject({ overcharge: 0.12, undercharge: 0.1 });
  const { rows } = await service.pool.query<{ rule_id: string; version: number }>(
    `SELECT rule_id, version FROM rule_version WHERE state = 'active'`,
  );
  const { rule_id: id, version } = rows[0]!;
  await call('POST', `/v1/rules/${id}/versions/${version}/retire`, { reason: 'teste' });
  await reconcile();
  expect(await feeBreaks('open')).toEqual([]);
});

it('is shown and changed on its page, by those whose role allows it', async () => {
  const { accountId } = service;
  const path = '/console/accounts/main/tariffs';
  const list = { validFrom: `${month}-01`, tariffs: 'pix_received; 0,50; 1', reason: 'Contrato' };
  const viewer = await signedInPerson(service, 'v@example.com', { accountId, role: 'viewer' });
  expect((await viewer.submit(path, list)).status).toBe(403);
  const analyst = await signedInPerson(service, 'a@example.com', { accountId, role: 'analyst' });
  expect((await analyst.submit(path, { ...list, tariffs: 'Pix; 1' })).status).toBe(400);
  expect((await analyst.submit(path, list)).status).toBe(303);
  const { text } = await viewer.get(`${path}?month=${month}`);
  expect(text).toMatch(/Pix received: R\$\s0,50 \/ each/);
  const [once] = (await feeBreaks('resolved')).filter(({ amount }) => amount === 0.12);
  const page = await viewer.get(`/console/accounts/main/breaks/${once!.id}`);
  expect(page.text.replace(/<[^>]*>/g, ' ')).toMatch(
    /Tariff\s+Pix received\s+Period\s+\d\d\/\d\d\/\d{4}\s+Charged\s+R\$\s0,62\s+Agreed\s+R\$\s0,50/,
  );
  const file = await analyst.submit(`${path}/file`, { month, format: 'csv' });
  expect((await analyst.submit(`${path}/file`, { month: 'a b' })).status).toBe(400);
  expect(file.text).toContain('nsu;date;tariff;period;state;charged;expected;overcharge');
});

it('refuses a list that contradicts itself, and stores a repeated request once', async () => {
  const put = (tariffs: object[], headers = newKeyHeader()) =>
    service.call('PUT', '/v1/price-list', {
      ...{ body: { validFrom: `${month}-01`, tariffs, reason: 'teste' }, headers },
    });
  expect((await put([pix, pix])).status).toBe(400);
  expect((await put([{ ...packageOf(1), period: 'day' }])).status).toBe(400);
  expect((await put([{ ...pix, tiers: [5, 3].map((from) => ({ from, price: 1 })) }])).status).toBe(
    400,
  );
  const headers = newKeyHeader();
  const first = await put([], headers);
  expect((await put([], headers)).body).toEqual(first.body);
  expect(first.body.versions).toHaveLength(5);
  expect((await service.call('GET', '/v1/fee-checks/2199-01')).status).toBe(404);
});
