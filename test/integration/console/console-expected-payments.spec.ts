// The pages of expected payments and of the cash forecast.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { dayFromToday, newKeyHeader, slip } from '../../contract/samples.js';
import { signedInPerson, type VisitedPage, type SignedIn } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const hostile = '<script>alert(1)</script> ‮"><img src=x onerror=alert(1)> 😀';
const today = dayFromToday(0);

describe('the pages of expected payments', () => {
  let service: ServiceApplication;
  let accountId: number;
  let analyst: SignedIn;
  let viewer: SignedIn;

  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const person = (email: string, role: PersonRole) =>
    signedInPerson(service, email, { accountId, role });
  const at = (path: string) => `/console/accounts/main/expected-payments${path}`;
  const terms = {
    direction: 'credit',
    ...{ amount: '1.234,56', dateFrom: today, dateTo: '' },
    ...{ referenceKind: 'external_id', referenceValue: 'nf-77' },
    ...{ taxId: '111.444.777-35', counterpartyName: hostile, category: 'Vendas' },
    metadata: 'order: 12\ncolour: blue',
  };
  const declare = async (externalId: string, change: Record<string, string> = {}) => {
    const page = await analyst.submit(at('/new'), { externalId, ...terms, ...change });
    expect([page.status, page.text]).toEqual([303, '']);
    return page.location?.split('/').at(-1) ?? '';
  };
  const plain = ({ text }: VisitedPage) => text.replaceAll('\u00a0', ' ');
  const reconcile = async () => {
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
  };

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    accountId = (await operators.findAccountId('main')) ?? 0;
    analyst = await person('analyst@example.com', 'analyst');
    viewer = await person('viewer@example.com', 'viewer');
  }, 60_000);
  afterAll(() => service.stop());

  it('say how the empty list fills, in the language of the reader', async () => {
    expect((await viewer.get(at(''))).text).toContain('No expected payment here.');
    const portuguese = await viewer.get(at(''), { 'accept-language': 'pt-BR' });
    expect(portuguese.text).toContain('Nenhum pagamento previsto aqui.');
  });

  it('declare a payment, and show it masked to a viewer', async () => {
    const id = await declare('order-1');
    const own = await analyst.get(at(`/${id}`));
    expect(plain(own)).toContain('R$ 1.234,56');
    expect(own.text).toContain('nf-77');
    expect(own.text).toContain('analyst@example.com');
    expect(own.text).toContain('&lt;script>alert(1)');
    expect(own.text).not.toMatch(/<script>alert|<img src=x/);
    expect(own.text).toMatch(/order[\s\S]*12[\s\S]*colour[\s\S]*blue/);
    const seen = await viewer.get(at(`/${id}`));
    expect(seen.text).toContain('***.444.777-**');
    expect(seen.text).not.toMatch(/11144477735|111\.444|alert|analyst@example/);
    expect(seen.text).not.toContain('/cancel');
    const { rows } = await update(`SELECT subject FROM audit_entry
      WHERE action = 'declare expected payment'`);
    expect(rows).toEqual([{ subject: 'expected_payment new' }]);
  });

  it('are listed by the filters of the address', async () => {
    await declare('order-2', { category: 'Outra' });
    const listed = await viewer.get(at('?externalId=order-2'));
    expect([listed.text.includes('order-2'), listed.text.includes('>order-1<')]).toEqual([
      true,
      false,
    ]);
    expect((await viewer.get(at('?state=settled'))).text).not.toContain('order-1');
    const wrong = await viewer.get(at('?state=nonsense&metadata=x'));
    expect([wrong.status, wrong.text.includes('Filters left out')]).toEqual([200, true]);
    expect((await viewer.get(at('?metadata=order:12'))).text).toContain('order-2');
  });

  it('change the terms, and highlight what changed', async () => {
    const id = await declare('order-3');
    const form = await analyst.get(at(`/${id}/edit`));
    expect(form.text).toContain('value="1234,56"');
    const change = { ...terms, amount: '1.300,00', reason: 'the customer ordered more' };
    const amend = (shown: string, fields: Record<string, string> = change) =>
      analyst.submit(at(`/${id}/amend`), { externalId: 'order-3', shown, ...fields });
    expect((await amend('1')).status).toBe(303);
    const shown = plain(await analyst.get(at(`/${id}`)));
    expect(shown).toContain('<del>R$ 1.234,56</del>');
    expect(shown).toContain('<ins>R$ 1.300,00</ins>');
    expect(shown).toContain('the customer ordered more');
    const late = await amend('1', { ...change, amount: '1' });
    expect([late.status, late.text.includes('Nothing was stored')]).toEqual([409, true]);
    const toRange = { ...change, amount: '', amountFrom: '10', amountTo: '20,00' };
    expect((await amend('2', toRange)).status).toBe(303);
    expect(plain(await analyst.get(at(`/${id}`)))).toContain('R$ 10,00 to R$ 20,00');
  });

  it('show each wrong field with its error, and store nothing', async () => {
    const wrong = { externalId: 'wrong', ...terms, amount: '1.234', tolerance: '-1', taxId: '12' };
    const refused = await analyst.submit(at('/new'), { ...wrong, dateTo: '2020-01-01', text: '(' });
    expect(refused.status).toBe(400);
    for (const words of [
      'Must not be negative.',
      'Must be a CPF or a CNPJ.',
      'Some fields need correction.',
    ])
      expect([words, refused.text.includes(words)]).toEqual([words, true]);
    const portuguese = await analyst.post(at('/new'), { csrf: 'x', ...wrong });
    expect(portuguese.status).toBe(403);
    const again = await analyst.submit(at('/new'), {
      externalId: 'order-1',
      ...terms,
      amount: '9',
    });
    expect([
      again.status,
      again.text.includes('names a payment that was declared with other terms.'),
    ]).toEqual([400, true]);
    const together = { externalId: 'x', ...terms, dateTo: '2020-01-01', text: '(', taxId: '' };
    const whole = await analyst.submit(at('/new'), together);
    expect(whole.text).toContain('Must not be before dateFrom.');
    expect(whole.text).toContain('a valid pattern (RE2 syntax)');
    expect((await viewer.get(at('?externalId=wrong'))).text).toContain(
      'Nothing matches the filters.',
    );
  });

  it('cancel a payment with a reason, once', async () => {
    const id = await declare('order-4');
    const cancel = (fields: Record<string, string>) =>
      analyst.submit(at(`/${id}/cancel`), { shown: '1', ...fields });
    expect((await cancel({ reason: '' })).status).toBe(400);
    expect((await cancel({ reason: 'not due' })).status).toBe(303);
    const shown = await analyst.get(at(`/${id}`));
    expect([shown.text.includes('Cancelled'), shown.text.includes('/cancel"')]).toEqual([
      true,
      false,
    ]);
    const again = await cancel({ reason: 'again' });
    expect([again.status, again.text.includes('is cancelled already')]).toEqual([409, true]);
  });

  it('show the lines that pay a charge, with its operation', async () => {
    const request = slip({ type: 'BANKSLIP_PIX', Amount: 45.6, dueDate: dayFromToday(5) });
    await service.call('POST', '/baas/v1/charges', { body: request, headers: newKeyHeader() });
    const paid = { correlationId: request.correlationId };
    await service.sandbox.call('POST', '/sandbox/pix/received', { body: paid });
    await reconcile();
    const { rows } = await update(
      `SELECT id, operation_id FROM expected_payment WHERE kind = 'create_charge'`,
    );
    const [{ id, operation_id: operationId }] = rows as [{ id: string; operation_id: string }];
    const shown = await viewer.get(at(`/${id}`));
    expect(plain(shown)).toContain('R$ 45,60');
    expect(shown.text).toContain('By a reference');
    expect(shown.text).toContain(`/operations/${operationId}`);
    expect(shown.text).toMatch(/\/statement\/\d+"/);
    expect((await viewer.get(at('?state=settled'))).text).toContain(id);
  });

  it('let a viewer change nothing, and show payments of the account alone', async () => {
    const id = await declare('order-5');
    for (const path of ['/new', `/${id}/amend`, `/${id}/cancel`]) {
      const fields = { externalId: 'x', ...terms, shown: '1', reason: 'because' };
      expect([path, (await viewer.submit(at(path), fields)).status]).toEqual([path, 403]);
    }
    for (const path of ['/new', `/${id}/edit`])
      expect([path, (await viewer.get(at(path))).status]).toEqual([path, 403]);
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const path of [`/${unknown}`, '/no-uuid', `/${unknown}/edit`])
      expect([path, (await analyst.get(at(path))).status]).toEqual([path, 404]);
  });

  it('forecast the balance of each day, as a chart and as a table', async () => {
    const forecast = '/console/accounts/main/forecast';
    await declare('order-6', { amount: '987,65', dateFrom: dayFromToday(20) });
    await reconcile();
    const shown = plain(await viewer.get(forecast));
    expect(shown).toContain('role="img"');
    expect(shown).toContain('R$ 987,65');
    expect(shown).toMatch(/<path class="balance projected"/);
    const wrong = await viewer.get(`${forecast}?from=2026-05-02&to=2026-05-01`);
    expect([wrong.status, wrong.text.includes('The period is not valid')]).toEqual([400, true]);
    const left = await viewer.get(`${forecast}?from=yesterday`, { 'accept-language': 'pt' });
    expect([left.status, left.text.includes('Filtros ignorados')]).toEqual([200, true]);
  });
});
