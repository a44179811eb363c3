// The API of declared payments: what it accepts, repeats, and files of them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

describe('the API of declared payments', () => {
  let service: ServiceApplication;
  const path = '/v1/expected-payments';
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    service.call('POST', path, { body, headers });
  const salary = (externalId: string, change: object = {}) => ({
    ...{ externalId, direction: 'debit', amount: 4_321.09 },
    ...{ dateFrom: '2026-06-05', dateTo: '2026-06-08' },
    counterparty: { taxId: '111.444.777-35', name: 'Anna Souza' },
    ...change,
  });

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  it('returns what was declared, also by its externalId and in the list', async () => {
    const { status, body } = await post(
      salary('folha-1', {
        references: [
          { kind: 'endToEndId', value: 'E1' },
          { kind: 'bill_code', value: '2379' },
        ],
        ...{ text: 'folha', category: 'Salários', costCentre: 'RH', tolerance: 0.01 },
        metadata: { 'erp.batch': '77' },
      }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ externalId: 'folha-1', direction: 'debit', amount: 4_321.09, settlement: 'open' },
      ...{ amountFrom: null, tolerance: 0.01, dateFrom: '2026-06-05', dateTo: '2026-06-08' },
      references: [
        { kind: 'bill_code', value: '2379' },
        { kind: 'end_to_end_id', value: 'E1' },
      ],
      counterparty: { taxId: '11144477735', name: 'Anna Souza' },
      ...{ text: 'folha', category: 'Salários', costCentre: 'RH', version: 1, payments: [] },
      ...{ settledAmount: 0, returnedAmount: 0, metadata: { 'erp.batch': '77' } },
      history: [{ version: 1, action: 'declared', reason: null, amount: 4_321.09 }],
    });
    for (const name of ['folha-1', body.id as string])
      expect((await service.call('GET', `${path}/${name}`)).body).toEqual(body);
    const listed = await service.call('GET', `${path}?externalId=folha-1`);
    expect(listed.body.data).toEqual([
      expect.objectContaining({
        ...{ id: body.id, operationId: null, kind: 'declared', externalId: 'folha-1' },
        ...{ isCredit: false, amount: 4_321.09, category: 'Salários', costCentre: 'RH' },
        counterparty: { taxId: '11144477735', name: 'Anna Souza' },
      }),
    ]);
  });

  it('masks the counterparty for keys without the scope `personal-data`', async () => {
    const { createKey } = operatorOf(() => service);
    const { key: apiKey } = await createKey('main', { scopes: ['read', 'expect'] });
    const masked = { taxId: '***.444.777-**', name: 'A*** S***' };
    const expectMasked = ({ text, body }: Awaited<ReturnType<typeof post>>) => {
      expect(text).not.toMatch(/Anna|Souza|11144477735/);
      const shown = (body.data as { counterparty: object }[] | undefined)?.[0] ?? body;
      expect(shown.counterparty).toEqual(masked);
    };
    const declared = await service.call('POST', path, { body: salary('masked'), apiKey });
    expectMasked(declared);
    for (const url of [`${path}/masked`, `${path}?externalId=masked`])
      expectMasked(await service.call('GET', url, { apiKey }));
    const change = { body: { reason: 'test' }, apiKey };
    expectMasked(await service.call('PATCH', `${path}/masked`, change));
    expectMasked(await service.call('POST', `${path}/masked/cancel`, change));
  });

  it.each([
    ['amount', { amount: undefined }],
    ['amount', { amountFrom: 1, amountTo: 2 }],
    ['amountTo', { amount: undefined, amountFrom: 1 }],
    ['amountTo', { amount: undefined, amountFrom: 2, amountTo: 1 }],
    ['tolerance', { tolerance: 4_321.09 }],
    ['dateTo', { dateTo: '2026-06-04' }],
    ['dateTo', { dateTo: '2027-06-06' }],
    ['text', { text: '(' }],
    ['text', { text: 'folha|' }],
    ['text', { amount: undefined, amountFrom: 1, amountTo: 2, counterparty: null, text: '.*' }],
    ['text', { amount: undefined, amountFrom: 1, amountTo: 2, counterparty: null, text: '.' }],
    ['text', { text: '[a-z0-9]' }],
    ['references', { amount: undefined, amountFrom: 1, amountTo: 2, counterparty: null }],
    ['references', { amount: undefined, amountFrom: 1, amountTo: 10_000, text: 'folha' }],
    ['references[0].kind', { references: [{ kind: 'txid', value: 'x' }] }],
    ['counterparty.taxId', { counterparty: { taxId: '123' } }],
    ['direction', { direction: 'in' }],
    ['parts', { parts: [1, 2].map((amount) => ({ kind: 'ibs', amount })) }],
    ['parts[0].kind', { parts: [{ kind: 'IBS', amount: 1 }] }],
    ['parts[0].amount', { parts: [{ kind: 'ibs', amount: 0 }] }],
    [
      'parts',
      {
        ...{ amount: undefined, amountFrom: 1, amountTo: 2, parts: [{ kind: 'ibs', amount: 1 }] },
      },
    ],
    [
      'metadata',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, ''])) },
    ],
  ])('refuses a wrong %s: %j', async (field, change) => {
    const { status, body } = await post(salary('wrong', change));
    expect([status, Object.keys(body.errors as object)]).toEqual([400, [`$.${field}`]]);
    expect((await service.call('GET', `${path}/wrong`)).status).toBe(404);
  });

  it('declares once, whatever is repeated, and refuses other terms under the same id', async () => {
    const first = await post(salary('once'));
    expect((await post(salary('once'))).body).toEqual(first.body);
    const all = await Promise.all(Array.from({ length: 5 }, () => post(salary('together'))));
    expect(new Set(all.map(({ body }) => body.id as string)).size).toBe(1);
    const other = await post(salary('once', { amount: 1 }));
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const key = { IdempotencyKey: 'expect-key-1' };
    const keyed = await post(salary('keyed'), key);
    expect((await post(salary('keyed'), key)).text).toBe(keyed.text);
    expect((await post(salary('keyed-2'), key)).status).toBe(422);
  });

  it('amends what a request names, with its reason, and stores equal terms once', async () => {
    await post(salary('changed', { text: 'folha', category: 'Salários' }));
    const amend = (body: object) =>
      service.call('PATCH', `${path}/changed`, { body: { reason: 'dissídio', ...body } });
    const toRange = await amend({ amountFrom: 4_000, amountTo: 5_000, text: null });
    expect(toRange.body).toMatchObject({
      ...{ amount: null, amountFrom: 4_000, amountTo: 5_000, text: null, version: 2 },
      ...{ category: 'Salários', counterparty: { taxId: '11144477735', name: 'Anna Souza' } },
    });
    expect((await amend({ category: 'Salários' })).body.version).toBe(2);
    const back = await amend({ amount: 4_500, counterparty: { name: 'Anna S.' } });
    expect(back.body).toMatchObject({
      ...{ amount: 4_500, amountFrom: null, amountTo: null, version: 3 },
      counterparty: { taxId: '11144477735', name: 'Anna S.' },
    });
    const wrong = await amend({ dateTo: '2026-01-01' });
    expect([wrong.status, Object.keys(wrong.body.errors as object)]).toEqual([400, ['$.dateTo']]);
    expect((await service.call('PATCH', `${path}/changed`, { body: {} })).status).toBe(400);
  });

  it('cancels for good', async () => {
    const metadata = { payroll: '2026-06' };
    await post({ ...salary('gone'), metadata });
    const cancel = () =>
      service.call('POST', `${path}/gone/cancel`, { body: { reason: 'demissão' } });
    expect((await cancel()).body).toMatchObject({
      settlement: 'cancelled',
      history: [{ action: 'cancelled', reason: 'demissão', version: 2 }, { action: 'declared' }],
    });
    const again = await cancel();
    expect([again.status, again.body.code]).toEqual([409, 'expected_payment_cancelled']);
    // A repeat of the declaration is still the same payment.
    expect((await post({ ...salary('gone'), metadata })).body.settlement).toBe('cancelled');
    const types = ['expected_payment.amended', 'expected_payment.cancelled'] as const;
    await expectDeclaredEvents(service.database.pool, types);
    const { body } = await service.call('GET', `/v1/events?type=${types[1]}`);
    const ofPayment = (body.data as { data: { externalId: string } }[]).filter(
      ({ data }) => data.externalId === 'gone',
    );
    expect(ofPayment).toMatchObject([{ data: { metadata } }]);
  });

  it('takes a file of payments, and says what is wrong with a row', async () => {
    const csv = [
      'externalId;direction;amount;dateFrom;counterparty.taxId;references.0.kind;references.0.value;category',
      'ted-1;debit;1500.00;2026-06-05;52998224725;externalId;nf-77;Fornecedores',
      'ted-2;credit;20.00;2026-06-31;;;;',
      'folha-1;debit;1.00;2026-06-05;;;;',
    ].join('\n');
    const uploaded = await service.call('POST', `${path}/bulk`, {
      body: csv,
      headers: { 'content-type': 'text/csv' },
    });
    expect(uploaded.status).toBe(202);
    const id = uploaded.body.id as string;
    const { accountId } = await service.database.prisma.bulkUpload.findFirstOrThrow();
    await service.application
      .get(BulkService, { strict: false })
      .issueNextRows({ accountId, uploadId: id });
    const { body } = await service.call('GET', `/v1/bulk/${id}/rows`);
    expect(body.data).toMatchObject([
      { reference: 'ted-1', state: 'accepted', operationId: null },
      { reference: 'ted-2', state: 'invalid', errors: { '$.dateFrom': expect.any(Array) } },
      { reference: 'folha-1', state: 'rejected', code: 'idempotency_key_reused' },
    ]);
    expect((await service.call('GET', `${path}/ted-1`)).body).toMatchObject({
      ...{ amount: 1_500, dateTo: '2026-06-05', category: 'Fornecedores' },
      references: [{ kind: 'external_id', value: 'nf-77' }],
      history: [{ actor: `upload ${id}` }],
    });
  });

  it('is exported with its category, cost centre and counterparty', async () => {
    await post(salary('exported', { category: 'Folha', costCentre: 'RH' }));
    await post(salary('never', { amount: 7, category: '=1+1', costCentre: 'Obra 4' }));
    const { pool, prisma } = service.database;
    const { id: accountId } = await prisma.bankAccount.findFirstOrThrow();
    await pool.query('UPDATE bank_account SET go_live_at = $1 WHERE id = $2', [
      new Date(0),
      accountId,
    ]);
    await pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         correlation_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content, counterparty_document)
       VALUES ($1, 77, 'x', false, 432109, 'DEBIT_TED', NULL, 432109, 0, '2026-06-05T15:00Z', 'h',
         '{}', '11144477735')`,
      [accountId],
    );
    // The other payments of Anna compete for the line.
    for (const name of ['folha-1', 'once', 'together', 'keyed', 'changed'])
      await service.call('POST', `${path}/${name}/cancel`, { body: { reason: 'test' } });
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
    const lines = await service.call(
      'GET',
      '/v1/exports/transactions?format=csv&from=2026-06-05&to=2026-06-05',
    );
    expect(lines.text).toMatch(/exported.*Folha.*RH/);
    const overdue = await service.call('GET', '/v1/exports/expected-payments?format=csv');
    expect(overdue.text).toMatch(/Anna Souza.*11144477735.*never.*'=1\+1.*Obra 4/);
  });
});
