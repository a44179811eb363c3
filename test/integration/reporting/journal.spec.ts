// What the money of lines is called by decisions, rules and payments, and the journal entries of a
// month that follow.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { Database } from '../../../src/platform/postgres/database.service.js';
import { Journals } from '../../../src/reporting/journal/journals.service.js';
import { hiddenIn, signedInPerson, type SignedIn } from '../../support/console-visitor.js';
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
  await call('PUT', '/v1/reason-codes', {
    ...{
      code: 'COMPRA-1',
      name: 'Compra sem previsão',
      coding: { category: 'Compras', costCentre: 'Loja 1' },
    },
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
  await call('PUT', '/v1/reason-codes', {
    ...{
      code: 'COMPRA-1',
      name: 'Compra',
      coding: { category: 'Outra' },
      isActive: false,
      reason: 'fora de uso',
    },
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

const chart = [
  'Código;Descrição;Natureza;Analítica',
  '1;Ativo;Ativo;Não',
  '1.1.02;Banco;Ativo;Sim',
  '4.1.01;Tarifas bancárias;Despesa;Sim',
  '4.1.02;Salários;Despesa;Sim',
  '4.1.03;Compras;Despesa;Sim',
];
const setChart = (rows: string[]) =>
  ask('PUT', '/v1/chart-of-accounts', { csv: rows.join('\r\n'), reason: 'Plano de 2026' });
const setMapping = (entries: object[], more: object = {}) =>
  ask('PUT', '/v1/journal-mapping', {
    ...{ bankCode: '1.1.02', entries, reason: 'Contabilidade', ...more },
  });
const mapped = [
  { classification: 'fee', contraCode: '4.1.01' },
  { direction: 'debit', category: 'salarios', contraCode: '4.1.02' },
];
const month = () => today.slice(0, 7);
const journal = (query = '') => call('GET', `/v1/months/${month()}/journal${query}`);
const sidesOf = (entries: { postings: Record<string, unknown>[] }[]) =>
  entries.flatMap(({ postings }) => postings.map((one) => [one.debit, one.credit, one.amount]));

it('refuses codes that the chart does not have, or has as a heading, and keeps those in use', async () => {
  expect((await call('GET', '/v1/journal-mapping')).mapping).toBeNull();
  expect(await setMapping(mapped)).toMatchObject({ status: 400 });
  expect((await setChart(['a;b', '1;2'])).status).toBe(400);
  expect(await setChart(chart)).toMatchObject({ status: 200, body: { chart: { version: 1 } } });
  const wrong = [[{ contraCode: '1' }], [{ contraCode: '9' }], [{ contraCode: '1.1.02' }]];
  for (const entries of wrong)
    expect(await setMapping(entries)).toMatchObject({
      ...{ status: 400, body: { errors: { '$.entries[0].contraCode': [expect.any(String)] } } },
    });
  expect((await setMapping(mapped)).status).toBe(200);
  const dropped = await setChart(chart.filter((row) => !row.startsWith('4.1.02')));
  expect(dropped.body.errors).toEqual({ '$.csv': [expect.stringContaining('4.1.02')] });
  expect((await call('GET', '/v1/chart-of-accounts')).chart.accounts).toHaveLength(5);
});

it('lists entries, open and unmapped lines, page by page', async () => {
  expect(sidesOf((await journal()).data)).toEqual([
    ...[
      ['4.1.01', '1.1.02', 1.5],
      ['4.1.02', '1.1.02', 70],
    ],
  ]);
  const { nsu } = await breakOf(20);
  expect((await journal('?state=open')).data).toMatchObject([{ nsu, postings: [] }]);
  const { data } = await journal('?state=unmapped');
  expect(data).toMatchObject([
    { postings: [{ amount: 30, debit: null, classification: 'accepted', category: 'Compras' }] },
  ]);
  const first = await journal('?limit=1');
  const second = await journal(`?limit=1&cursor=${first.next}`);
  expect(sidesOf([...first.data, ...second.data])).toHaveLength(2);
  expect((await ask('GET', '/v1/months/2199-01/journal')).status).toBe(404);
  const journals = service.application.get(Journals, { strict: false });
  expect(await journals.listUnmapped(service.accountId, month())).toMatchObject([
    { isCredit: false, classification: 'accepted', category: 'Compras', lines: 1, cents: 3_000n },
  ]);
});

describe('the pages of the console', () => {
  const page = '/console/accounts/main/journal';
  let viewer: SignedIn;
  let analyst: SignedIn;
  beforeAll(async () => {
    const { accountId } = service;
    viewer = await signedInPerson(service, 'v@example.com', { accountId, role: 'viewer' });
    analyst = await signedInPerson(service, 'a@example.com', { accountId, role: 'analyst' });
  });
  const words = async (who: SignedIn, path: string) =>
    (await who.get(path, { 'accept-language': 'pt' })).text.replace(/<[^>]*>|&nbsp;/g, ' ');
  const sendChart = async (csv: string, reason = 'Plano novo') => {
    const { text } = await analyst.get(`${page}/chart`);
    const form = new FormData();
    for (const [name, value] of hiddenIn(text, `${page}/chart`)) form.set(name, value);
    form.set('reason', reason);
    form.set('csv', new Blob([csv]), 'plano.csv');
    const { headers, body } = new Response(form);
    return analyst.send(`${page}/chart`, {
      method: 'POST',
      body: Buffer.from(await new Response(body).arrayBuffer()),
      headers: {
        ...{ origin: service.url, 'accept-language': 'pt' },
        'content-type': headers.get('content-type') ?? '',
      },
    });
  };

  it('imports a chart, or says in which lines and columns it is wrong', async () => {
    const wrong = await sendChart([...chart, '5;;Receita;Sim', '6;x;y;Sim'].join('\r\n'));
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('Linha 7, coluna Descrição: precisa ter de 1 a 200 caracteres.');
    expect(wrong.text).toContain('Linha 8, coluna Natureza: use ativo,');
    expect((await call('GET', '/v1/chart-of-accounts')).chart.version).toBe(1);
    expect((await sendChart([...chart, '3;Vendas;Receita;Sim'].join('\n'))).status).toBe(303);
    expect((await call('GET', '/v1/chart-of-accounts')).chart).toMatchObject({
      ...{ version: 2, reason: 'Plano novo' },
    });
    expect(await words(viewer, `${page}/chart?q=vend`)).toMatch(/3\s+Vendas\s+Receita\s+Sim/);
  });

  it('leads from unmapped lines to the entry that they lack, once, for those who may', async () => {
    const unmapped = `${page}?month=${month()}`;
    expect(await words(viewer, unmapped)).toMatch(
      /Saída\s+Outro\s+Aceito\s+Compras\s+1\s+R\$\s30,00\s+\d/,
    );
    const { text } = await analyst.get(unmapped);
    const link = /href="([^"]*#entry)">Give an account/.exec(text)?.[1] ?? '';
    const opened = (await analyst.get(link.replaceAll('&amp;', '&').split('#')[0]!)).text;
    expect(opened).toContain('name="category" value="Compras"');
    expect(opened).toMatch(/<option value="accepted" selected/);
    const path = `${page}/entries?month=${month()}`;
    const entry = {
      ...Object.fromEntries(hiddenIn(opened, path)),
      ...{ direction: 'debit', classification: 'accepted', category: 'Compras' },
      ...{ contraCode: '4.1.03', position: '1', reason: 'Faltava' },
    };
    expect((await viewer.submit(path, entry)).status).toBe(403);
    const wrong = await analyst.submit(path, { ...entry, contraCode: '1.1.02' });
    expect(wrong.text).toContain('Must be another code than the bank’s.');
    for (const sent of [await analyst.submit(path, entry), await analyst.submit(path, entry)])
      expect(sent.location).toBe(`${page}?month=${month()}&saved=1`);
    expect((await call('GET', '/v1/journal-mapping')).mapping).toMatchObject({
      ...{ version: 2, bankCode: '1.1.02' },
      entries: [{ contraCode: '4.1.03' }, { contraCode: '4.1.01' }, { contraCode: '4.1.02' }],
    });
    expect((await viewer.get(unmapped)).text).toContain('Every explained line of this month');
    const [key] = ['00000000-0000-4000-8000-000000000001'];
    const late = await analyst.submit(`${path.replace('?', '/remove?')}&entry=1`, {
      ...entry,
      key,
    });
    expect([late.status, late.text.includes('The mapping has changed')]).toEqual([409, true]);
  });

  it('changes and retires reason codes', async () => {
    const path = `${page}/reason-codes`;
    const change = async (fields: Record<string, string>) => {
      const hidden = Object.fromEntries(hiddenIn((await analyst.get(path)).text, path));
      return analyst.submit(path, { ...hidden, name: 'Brinde', reason: 'Novo', ...fields });
    };
    expect((await viewer.submit(path, { code: 'B', name: 'x', reason: 'xyz' })).status).toBe(403);
    expect((await change({ code: 'a b' })).status).toBe(400);
    await change({ code: 'BRINDE', isActive: 'yes', costCentre: 'Marketing' });
    expect(await words(viewer, path)).toMatch(/BRINDE\s+Brinde\s+—\s+Marketing\s+—\s+Em uso/);
    expect((await change({ code: 'BRINDE' })).status).toBe(303);
    expect((await call('GET', '/v1/reason-codes')).data).toMatchObject([
      ...[{ code: 'BRINDE', version: 2, isActive: false }, { code: 'COMPRA-1' }],
    ]);
    const { rows } = await service.pool.query(
      `SELECT action, shown FROM audit_entry WHERE action LIKE 'change %' ORDER BY id`,
    );
    expect(rows.map(({ action }: { action: string }) => action)).toContain(
      'change journal mapping',
    );
  });
});

it('has the file of each posting or of each day, as the mapping says', async () => {
  const fileRows = async () =>
    (await service.call('GET', `/v1/exports/journal/${month()}`)).text.trim().split('\r\n');
  const [head, fee, wages] = await fileRows();
  expect(head).toMatch(/^Data;Conta débito;Conta crédito;Valor;Histórico;/);
  const [year, of, day] = today.split('-');
  expect(fee).toMatch(`${day}/${of}/${year};4.1.01;1.1.02;1,50;"Tarifa NSU `);
  expect(wages).toContain(';70,00;');
  await setMapping([{ contraCode: '4.1.03' }], { per: 'day' });
  await book({ amount: 3, isCredit: false, typeName: 'DEBIT_FEE', notes: 'Tarifa' });
  await reconcile();
  const [, ...rows] = await fileRows();
  expect(rows.find((row) => row.includes('"Tarifa: 2 lançamentos"'))).toMatch(/;4,50;.*;2;/);
});

it('enters gross a receipt of which others withheld a part', async () => {
  await call('POST', '/v1/expected-payments', {
    ...{ externalId: 'nota', direction: 'credit', amount: 94, text: 'nota', dateFrom: today },
    parts: [{ kind: 'irrf', amount: 6 }],
  });
  await book({ amount: 94, isCredit: true, typeName: 'CREDIT_TRANSFER', notes: 'nota' });
  await reconcile();
  const { data } = await journal();
  expect(data.at(-1).postings).toMatchObject([
    { direction: 'credit', amount: 100, classification: 'payment' },
    { direction: 'debit', amount: 6, classification: 'withheld_irrf', lineKind: 'income_tax' },
  ]);
});

it('stores the entries of a closed month, which later changes leave as they are', async () => {
  const { accountId, application, pool } = service;
  const key = { accountId, month: month(), revision: 1 };
  const journals = application.get(Journals, { strict: false });
  const { prisma } = application.get(Database, { strict: false });
  expect(await journals.findUnmapped(prisma, key)).toMatchObject({ count: 0 });
  const stored = await application.get(Database, { strict: false }).transaction(async (tx) => {
    const closed = { accountId, month: month() };
    const by = { holder: 'x', role: 'admin', actor: 'x' } as const;
    const hash = 'a'.repeat(64);
    await tx.monthDecision.create({
      data: { ...closed, ...by, sequence: 1, action: 'approve', seen: hash },
    });
    const cut = { lastArrival: 0n, outcomeSequence: 0n };
    await tx.monthClose.create({
      data: { ...closed, ...cut, revision: 1, approval: 1, report: '{}', hash },
    });
    return journals.store(tx, key);
  });
  expect(stored).toMatchObject({ lines: 5, cents: 21_050n });
  const before = (await journal()).data;
  await setMapping(mapped);
  expect((await journal()).data).toEqual(before);
  expect((await journal('?state=unmapped')).data).toEqual([]);
  // The database has no row that is out of balance, or posts to what is no account of the chart.
  const insert = (changes: object) => {
    const row = { debit: '4.1.01', credit: '1.1.02', cents: 1, chart: 2, ...changes };
    return pool.query(
      `INSERT INTO journal_posting (account_id, month, revision, chart_version, occurred_at, nsu,
         ordinal, is_credit, debit_code, credit_code, amount_cents, line_kind, classification)
       SELECT account_id, month, revision, $4, occurred_at, nsu, 99, false, $1, $2, $3, 'fee', 'fee'
       FROM journal_posting LIMIT 1`,
      [row.debit, row.credit, row.cents, row.chart],
    );
  };
  await expect(insert({ cents: 0 })).rejects.toThrow('journal_posting_amount');
  await expect(insert({ debit: '1.1.02' })).rejects.toThrow('journal_posting_codes');
  await expect(insert({ debit: '9.9' })).rejects.toThrow('journal_posting_debit_code_fkey');
  await expect(insert({ credit: '9.9' })).rejects.toThrow('journal_posting_credit_code_fkey');
  await expect(insert({ debit: null })).rejects.toThrow('not-null');
  await expect(insert({ chart: 1 })).rejects.toThrow('journal_posting_journal_fkey');
  await expect(pool.query('DELETE FROM journal_posting')).rejects.toThrow();
  await insert({});
});
