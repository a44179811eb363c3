// What every declared list has: what its filters find in all, both orders, a file, and the views
// that people save.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { slip } from '../../contract/samples.js';
import { findPages } from '../../support/console-pages.js';
import { signedInPerson, type SignedIn } from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const pages = '/console/accounts/main';
const formula = '=HYPERLINK("https://evil.example")';

describe('a list of the account', () => {
  let service: ServiceApplication;
  let accountId: number;
  const people = {} as Record<'viewer' | 'analyst' | 'admin' | 'stranger', SignedIn>;
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');
  const get = async (page: string, who = people.analyst, language = 'en') =>
    plain((await who.get(`${pages}/${page}`, { 'accept-language': language })).text);

  beforeAll(async () => {
    service = await serviceApplication();
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    for (const role of ['viewer', 'analyst', 'admin'] as const)
      people[role] = await signedInPerson(service, `${role}@example.com`, { accountId, role });
    const { slug } = await operatorOf(() => service).addAccount({ apiKey: 'sandbox-dev-key-2' });
    const other = await service.database.prisma.bankAccount.findFirstOrThrow({ where: { slug } });
    const stranger = { accountId: other.id, role: 'admin' } as const;
    people.stranger = await signedInPerson(service, 'stranger@example.com', stranger);
    const post = (path: string, body: object) =>
      service.call('POST', path, { body, headers: { IdempotencyKey: randomUUID() } });
    for (const [index, Amount] of [100.5, 20, 3].entries())
      await post('/baas/v1/charges', slip({ correlationId: `order-${index}`, Amount }));
    for (const amount of [45.67, 1, 2]) {
      const body = { amount, payer: { name: formula, document: '12345678909' } };
      await service.sandbox.call('POST', '/sandbox/pix/received', { body });
    }
    const looked = await post('/baas/api/v2/pix/dict/payment-initialization', {
      key: 'maria@pessoa-dois.example',
    });
    const { endToEndId } = looked.body as { endToEndId: string };
    await post('/baas/api/v2/transfers', { amount: 10.5, initiationType: 'KEY', endToEndId });
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
  }, 60_000);
  afterAll(() => service.stop());

  it.each([
    ['statement', 'Total: 4 · R$ 48,67 in · R$ 10,50 out'],
    ['statement?isCredit=true', 'Total: 3 · R$ 48,67 in<'],
    ['statement?state=in_break&isCredit=true', 'Total: 3 · R$ 48,67 in<'],
    ['statement?nsu=1&isCredit=false', 'Total: 0<'],
    ['statement?minAmount=2', 'Total: 3 · R$ 47,67 in · R$ 10,50 out'],
    ['statement?maxAmount=1,50', 'Total: 1 · R$ 1,00 in<'],
    ['statement?dayFrom=2190-01-01', 'Total: 0<'],
    ['statement?dayFrom=2000-01-01&dayTo=2190-01-01&state=in_break', 'Total: 3 · R$ 48,67 in<'],
    ['charges?settlement=open', 'Total: 3 · R$ 123,50<'],
    ['charges?settlement=settled', 'Total: 0<'],
    ['charges?minAmount=20,00&createdFrom=01/01/2000', 'Total: 2 · R$ 120,50<'],
    ['charges?createdTo=2000-01-01', 'Total: 0<'],
    ['transfers?minAmount=11', 'Total: 0<'],
    ['charges', 'Total: 3 · R$ 123,50<'],
    ['charges?correlationId=order-1', 'Total: 1 · R$ 20,00<'],
    ['transfers', 'Total: 1 · R$ 10,50<'],
    ['transfers?state=failed', 'Total: 0<'],
    ['operations?kind=create_charge', 'Total: 3<'],
    ['expected-payments', 'Total: 4 · R$ 123,50 in · R$ 10,50 out'],
    ['expected-payments?state=open', 'Total: 3 · R$ 123,50 in<'],
    ['bills', 'Total: 0<'],
    ['refunds', 'Total: 0<'],
    ['webhooks', 'Total: '],
    ['deliveries', 'Total: '],
    ['bulk', 'Total: 0<'],
    ['approvals', 'Total: 0<'],
    ['approvals?kind=pay_bill', 'Total: 0<'],
    ['breaks', 'Total: 3 · R$ 48,67<'],
    ['breaks?minAmount=2', 'Total: 2 · R$ 47,67<'],
    ['breaks?state=resolved', 'Filters (1)<'],
  ])('says what its filters find in all: %s', async (page, total) => {
    expect(await get(page)).toContain(total);
  });

  it('says how many it has also where its API counts nothing', async () => {
    expect(await get('keys', people.admin)).toContain('Total: 2<');
    expect(await get('people', people.admin)).toMatch(/Total: \d+</);
  });

  it('is read from either end by the API, page by page', async () => {
    const walk = async (path: string, order: string) => {
      const ids: unknown[] = [];
      let cursor = '';
      do {
        const { body } = await service.call('GET', `${path}?limit=2&order=${order}${cursor}`);
        const { data, next } = body as { data: Record<string, unknown>[]; next: string | null };
        ids.push(...data.map((one) => one.nsu ?? one.id ?? one.correlationId));
        cursor = next === null ? '' : `&cursor=${next}`;
      } while (cursor !== '');
      return ids;
    };
    for (const [list, least] of Object.entries({
      ...{ transactions: 4, charges: 3, operations: 4, transfers: 1, 'expected-payments': 4 },
      ...{ 'bill-payments': 0, refunds: 0, deliveries: 0, bulk: 0 },
    })) {
      const newest = await walk(`/v1/${list}`, 'desc');
      expect([list, newest.length]).toEqual([list, expect.any(Number)]);
      expect(newest.length).toBeGreaterThanOrEqual(least);
      expect([list, await walk(`/v1/${list}`, 'asc')]).toEqual([list, newest.toReversed()]);
    }
  });

  it('turns its order round by the head of its column', async () => {
    const nsus = (text: string) => [...text.matchAll(/statement\/(\d+)"/g)].map(([, nsu]) => nsu);
    const newest = await get('statement');
    expect(newest).toContain(`aria-sort="descending"><a href="${pages}/statement?order=asc"`);
    const oldest = await get('statement?order=asc');
    expect(oldest).toContain(`aria-sort="ascending"><a href="${pages}/statement"`);
    expect(nsus(oldest)).toEqual(nsus(newest).toReversed());
  });

  it('is taken as a file with what its filters find, without formulas, and audited', async () => {
    const { text, headers } = await people.analyst.get(
      `${pages}/statement?isCredit=true&order=asc&file=csv`,
      { 'accept-language': 'pt-BR' },
    );
    expect(headers.get('content-disposition')).toBe(
      'attachment; filename="concilia-main-statement.csv"',
    );
    const [head = '', ...rows] = text.trim().split('\r\n');
    expect(head).toMatch(/^\uFEFF?Quando;NSU;.*;Valor;/);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain(';45,67;');
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    const entry = await service.database.prisma.auditEntry.findFirstOrThrow({
      where: { action: 'take file' },
    });
    expect(entry).toMatchObject({ subject: 'file statement', operatorId: people.analyst.id });
    expect((await people.viewer.get(`${pages}/statement?file=csv`)).status).toBe(403);
    expect(await get('statement', people.viewer)).not.toContain('file=csv');
  });

  it.each([
    [
      'breaks',
      /^\uFEFF?Kind,Amount,Counterparty,Assignee,Day,Age,Severity\r\n"Unexpected line",45\.67,/,
    ],
    ['audit', /^\uFEFF?When,By,.*,Id,Trace\r\n/],
    ['approvals', /^\uFEFF?Payment,Kind,Paid to,Expires/],
    [
      'people',
      /^\uFEFF?E-mail,State,Role in this account,Where\r\n"admin@example.com \(you\)",Active,Admin,\r/,
    ],
    ['keys', /^\uFEFF?Name,Kind,.*\r\n.*Usable/],
    ['endpoints', /^\uFEFF?Address,Description,State/],
  ])('has a file without the controls of its page: %s', async (page, content) => {
    expect(await get(`${page}?file=csv`, people.admin)).toMatch(content);
    expect(await get(page, people.admin)).toContain(`href="${pages}/${page}?`);
  });

  it('saves as a view what differs from the filters that a list has by itself', async () => {
    const queryOf = (text: string) => /name="query" value="([^"]*)"/.exec(text)?.[1];
    expect(queryOf(await get('breaks'))).toBeUndefined();
    expect(queryOf(await get('breaks?state=&minAmount=2&sort=amount'))).toBe(
      'state=&amp;minAmount=2&amp;sort=amount',
    );
    expect(queryOf(await get('people?role=admin&order=asc', people.admin))).toBe(
      'role=admin&amp;order=asc',
    );
  });

  it('has the views that a person saved, and those that others share', async () => {
    const save = (who: SignedIn, name: string, isShared: boolean) =>
      who.submit(`${pages}/views`, {
        ...{ list: 'statement', query: 'isCredit=true&order=asc', name },
        ...(isShared ? { isShared: 'yes' } : {}),
      });
    const views = (text: string) =>
      [...text.matchAll(/isCredit=true&amp;order=asc"[^>]*>([\w ]+)</g)].map(([, name]) => name);
    const saved = await save(people.analyst, 'Entradas', false);
    expect(saved.location).toBe(`${pages}/statement?isCredit=true&order=asc`);
    await save(people.analyst, 'Entradas de todos', true);
    await save(people.viewer, 'Minhas', true);
    expect(views(await get('statement'))).toEqual(['Entradas', 'Entradas de todos']);
    expect(views(await get('statement', people.viewer))).toEqual(['Entradas de todos', 'Minhas']);
    expect(views(await get('statement', people.admin))).toEqual(['Entradas de todos']);
    expect(views(await get('charges'))).toEqual([]);
    expect(await get('statement?isCredit=true&order=asc')).toContain('aria-current="true"');
    const { savedView } = service.database.prisma;
    const shared = await savedView.findFirstOrThrow({ where: { isShared: true } });
    const remove = (who: SignedIn) =>
      who.submit(`${pages}/views/${shared.id}/remove`, { list: 'statement' });
    expect((await remove(people.viewer)).status).toBe(404);
    expect((await remove(people.stranger)).status).toBe(404);
    expect((await remove(people.admin)).location).toBe(`${pages}/statement`);
    expect(views(await get('statement'))).toEqual(['Entradas']);
    const elsewhere = { list: '../../../evil', query: 'a=b', name: 'x' };
    expect((await people.analyst.submit(`${pages}/views`, elsewhere)).status).toBe(400);
    for (let index = 0; index < 20; index++) await save(people.admin, `n${index}`, false);
    expect((await save(people.admin, 'one more', false)).status).toBe(422);
    expect((await save(people.admin, 'n1', true)).status).toBe(303);
  });

  it('and every other page is Portuguese in Portuguese', async () => {
    const portuguese = { 'accept-language': 'pt-BR' };
    const get = (path: string) => people.admin.get(path, portuguese);
    const found: string[] = [];
    for (const { path, pattern } of await findPages(get, 'main', [])) {
      const { text } = await get(path);
      const words = text
        .replace(/<(code|pre|script|style|textarea)\b[\s\S]*?<\/\1>/g, ' ')
        .replace(/<(?:"[^"]*"|[^">])*>|“[^”]*”/g, ' ')
        .match(/\b(?:[a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+|HTTP \d+|mm\/dd\/yyyy|yyyy)\b/g);
      if (words) found.push(`${pattern}: ${[...new Set(words)].join(' ')}`);
      expect([pattern, /type="(date|month|datetime-local)"/.test(text)]).toEqual([pattern, false]);
    }
    expect(found).toEqual([]);
  }, 60_000);
});
