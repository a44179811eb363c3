// The search, the lists of payments and the statement of the console: what each finds and shows, to
// whom, and that nothing typed or written by strangers reaches an address, a log or a script.
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '../../../src/platform/log.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { eraseLine } from '../../../src/statement/lines/line-erasure.queries.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { slip } from '../../contract/samples.js';
import { signedInPerson, type Visitor } from '../../support/console-visitor.js';
import { findPages } from '../../support/console-pages.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { storeRawLine } from '../../support/stored-line.js';

const payer = { name: 'Zuleika Quaresma', document: '12345678909' };
const hostile = '<script>alert(1)</script>\u202Eevil 💸';
const pages = '/console/accounts/main';

describe('the records of an account', () => {
  let service: ServiceApplication;
  let accountId: number;
  let log = '';
  const people = {} as Record<'viewer' | 'analyst' | 'stranger', Visitor>;
  let chargeId = '';
  let paidNsu = 0;
  let unexpectedNsu = 0;
  let transferId = '';

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const provider = <Provider>(type: new (...args: never[]) => Provider) =>
    service.application.get<Provider>(type, { strict: false });
  const person = (role: PersonRole, account: number, name: string = role) =>
    signedInPerson(service, `${name}@example.com`, { accountId: account, role });
  const sync = async () => {
    await provider(StatementSync).sync(accountId);
    await provider(ReconciliationService).reconcile({ accountId });
  };
  const get = (page: string, who: Visitor = people.analyst) => who.get(`${pages}/${page}`);
  /** What a person gets who types into the box: the page, or the address to which they are led. */
  const search = async (q: string, who: Visitor = people.analyst) => {
    const answer = await who.submit(`${pages}/search`, { q });
    const isAddress = answer.location?.startsWith(`${pages}/search?`);
    return isAddress ? who.get(answer.location ?? '') : answer;
  };
  const addLine = (nsu: number, fields: object) => storeRawLine(service, accountId, nsu, fields);
  const call = async (
    method: 'POST' | 'PUT',
    path: string,
    body: object,
    key: string = randomUUID(),
  ) => {
    const answer = await service.call(method, path, { body, headers: { IdempotencyKey: key } });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body as Record<string, unknown>;
  };

  beforeAll(async () => {
    const stream = new Writable({
      write: (chunk, _, done) => {
        log += String(chunk);
        done();
      },
    });
    service = await serviceApplication({}, createLog('trace', 'concilia', stream));
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    const { addAccount } = operatorOf(() => service);
    const other = await addAccount({ apiKey: 'sandbox-dev-key-2' });
    const { id: otherId } = await service.database.prisma.bankAccount.findFirstOrThrow({
      where: { slug: other.slug },
    });
    people.viewer = await person('viewer', accountId);
    people.analyst = await person('analyst', accountId);
    people.stranger = await person('admin', otherId, 'stranger');

    const charge = slip({ correlationId: 'order-77', Amount: 1_234.56, payer });
    await call('POST', '/baas/v1/charges', charge, 'key-of-order-77');
    await call('POST', '/baas/v1/charges', slip({ correlationId: hostile.slice(0, 25) }));
    await service.sandbox.call('POST', '/baas/v1/charges/order-77/pay', {});
    const pix = { amount: 45.67, payer };
    const { body } = await service.sandbox.call('POST', '/sandbox/pix/received', { body: pix });
    unexpectedNsu = (body as { nsu: number }).nsu;
    await sync();
    const { operationId } = await service.database.prisma.charge.findFirstOrThrow({
      where: { correlationId: 'order-77' },
    });
    chargeId = operationId;
    const paid = await run(`SELECT nsu FROM match WHERE account_id = $1`, accountId);
    paidNsu = Number((paid.rows[0] as { nsu: string }).nsu);

    const key = 'maria@pessoa-dois.example';
    const looked = await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key },
    });
    const { endToEndId } = looked.body as { endToEndId: string };
    await call('POST', '/baas/api/v2/transfers', {
      ...{ amount: 10.5, initiationType: 'KEY', endToEndId },
    });
    ({ id: transferId } = await service.database.prisma.transfer.findFirstOrThrow());
    await call('PUT', `/baas/api/v1/transactions/${unexpectedNsu}/refund?filterBy=NSU`, {
      amount: 1.23,
    });
    await sync();
    await addLine(9_001, { proof: { endToEndId: 'E-9001' } });
  }, 60_000);
  afterAll(() => service.stop());

  describe('are found by the box', () => {
    it.each([
      ['a correlationId', () => 'order-77', () => `charges/${chargeId}`],
      ['an idempotency key', () => 'key-of-order-77', () => `charges/${chargeId}`],
      ['the id of an operation', () => chargeId, () => `charges/${chargeId}`],
      ['an amount', () => '1.234,56', () => `charges/${chargeId}`],
      ['an amount as it is printed', () => 'R$ 45,67', () => `statement/${unexpectedNsu}`],
      ['a CPF with punctuation', () => '123.456.789-09', () => `charges/${chargeId}`],
      ['a CPF', () => '12345678909', () => `statement/${unexpectedNsu}`],
      ['a name in any case', () => 'zuleika quaresma', () => `statement/${unexpectedNsu}`],
      ['parts of a name in any order', () => 'quares ULEIKA', () => `statement/${paidNsu}`],
      ['how a correlationId begins', () => 'order-7', () => `charges/${chargeId}`],
      ['how an id begins', () => chargeId.slice(0, 20), () => `charges/${chargeId}`],
      ['a Pix key', () => 'Maria@pessoa-dois.example', () => `transfers/${transferId}`],
      ['the id of a transfer', () => transferId, () => `transfers/${transferId}`],
    ])('by %s', async (_, typed, path) => {
      const { status, location, text } = await search(typed());
      const link = `${pages}/${path()}`;
      if (location === null) expect([status, text.includes(`href="${link}"`)]).toEqual([200, true]);
      else expect([status, location]).toEqual([303, link]);
    });

    it('by the endToEndId and the nsu of a line', async () => {
      const { endToEndId } = await service.database.prisma.statementLine.findFirstOrThrow({
        where: { nsu: unexpectedNsu },
      });
      for (const typed of [endToEndId ?? '', String(unexpectedNsu)])
        expect((await search(typed)).text).toContain(`href="${pages}/statement/${unexpectedNsu}"`);
    });

    it('by the code of a slip that is not paid', async () => {
      const unpaid = slip({ correlationId: 'order-78', Amount: 99.9 });
      const { digitableLine, barCode } = await call('POST', '/baas/v1/charges', unpaid);
      const { operationId } = await service.database.prisma.charge.findFirstOrThrow({
        where: { correlationId: 'order-78' },
      });
      for (const code of [digitableLine, barCode])
        expect(await search(String(code))).toMatchObject({
          ...{ status: 303, location: `${pages}/charges/${operationId}` },
        });
    });

    it('by a name and a document that only a webhook has', async () => {
      await run(
        `INSERT INTO webhook_counterparty
           (account_id, reference_kind, reference, is_credit, name, tax_id)
         VALUES ($1, 'end_to_end_id', 'E-9001', true, 'Ácido Único', '11222333000181')`,
        accountId,
      );
      for (const typed of ['ACIDO uni', 'único', '11.222.333/0001-81'])
        expect(await search(typed)).toMatchObject({
          ...{ status: 303, location: `${pages}/statement/9001` },
        });
    });

    it('by a name until the last line that has it is erased', async () => {
      for (const nsu of [9_003, 9_004]) {
        await addLine(nsu, { proof: { payer: { holder: { name: 'Conceição Só Ela' } } } });
      }
      const link = `${pages}/statement/9004`;
      const erase = async (nsu: number) => {
        await service.database.transaction((tx) => eraseLine(tx, accountId, BigInt(nsu), 'asked'));
        return run('SELECT plain FROM line_name WHERE plain LIKE $1', 'conceicao%');
      };
      expect((await search('conceicao ela')).text).toContain(`href="${link}"`);
      expect((await erase(9_003)).rows).toEqual([{ plain: 'conceicao so ela' }]);
      expect(await search('conceicao')).toMatchObject({ status: 303, location: link });
      expect((await erase(9_004)).rows).toEqual([]);
    });

    it('with the breaks of what was found', async () => {
      const { rows } = await run(`SELECT id FROM break WHERE nsu = $1`, unexpectedNsu);
      const [{ id }] = rows as [{ id: string }];
      expect((await search('45,67')).text).toContain(`href="${pages}/breaks/${id}"`);
      expect(await search(id)).toMatchObject({ status: 303, location: `${pages}/breaks/${id}` });
    });

    it('in their account only', async () => {
      const elsewhere = (q: string) => people.stranger.submit(`${pages}/search`, { q });
      expect((await elsewhere('order-77')).status).toBe(404);
      const { slug } = await service.database.prisma.bankAccount.findFirstOrThrow({
        where: { id: { not: accountId } },
      });
      const own = `/console/accounts/${slug}/search`;
      for (const q of ['order-77', chargeId, '1.234,56', payer.document, payer.name]) {
        const led = await people.stranger.submit(own, { q });
        const { text } = led.location ? await people.stranger.get(led.location) : led;
        expect(text).toContain('Nothing was found');
      }
    });

    it('or the page says that nothing was, whatever was typed', async () => {
      for (const typed of [
        'no-such-order',
        hostile,
        '\u0000',
        '%00',
        "'; DROP TABLE x --",
        '9'.repeat(300),
      ]) {
        const { status, text } = await search(typed);
        expect([typed, status]).toEqual([typed, 200]);
        expect(text).not.toContain('<script>alert');
      }
      expect((await get('search')).status).toBe(200);
    });
  });

  it('are not found by person for whoever sees no personal data', async () => {
    for (const typed of [
      payer.document,
      '123.456.789-09',
      payer.name,
      'maria@pessoa-dois.example',
    ]) {
      const { status, text, location } = await search(typed, people.viewer);
      expect([typed, status, location]).toEqual([typed, 200, null]);
      expect(text).toContain('Nothing was found');
      expect(text).toContain('Persons are not searched for');
    }
    const { text } = await search('R$ 45,67', people.viewer);
    expect(text).toContain('Z*** Q***');
    expect(text).not.toContain(payer.name);
  });

  it('name nobody to a viewer, on any page that links lead to', async () => {
    const read = async (who: Visitor) => {
      const texts = new Map<string, string>();
      const found = await findPages(who.get, 'main');
      for (const { pattern, path } of found) texts.set(pattern, (await who.get(path)).text);
      return texts;
    };
    const names = /Zuleika|123\.?456\.?789-?09|pessoa-dois/;
    const shown = await read(people.viewer);
    expect(shown.size).toBeGreaterThan(30);
    expect([...shown].filter(([, text]) => names.test(text)).map(([page]) => page)).toEqual([]);
    const toAnalyst = [...(await read(people.analyst))].filter(([, text]) => names.test(text));
    expect(toAnalyst.length).toBeGreaterThan(3);
  });

  it('leave no trace of a searched person in an address or a log', async () => {
    log = '';
    const unread = ['Zuleika_Souza', 'zuleika@', '+55 11 98765-43', '***.456.789-**', 'Zuleika #1'];
    for (const typed of [payer.document, payer.name, 'maria@pessoa-dois.example', ...unread]) {
      const answer = await people.analyst.submit(`${pages}/search`, { q: typed });
      expect(answer.location ?? '').not.toContain('search');
      const byAddress = await get(`search?q=${encodeURIComponent(typed)}`);
      expect(byAddress.text).toContain('An address searches for no persons');
      expect(byAddress.text).not.toContain(`${pages}/charges/${chargeId}`);
    }
    expect(log).not.toMatch(/12345678909|Zuleika|pessoa-dois/);
    const audited = await run('SELECT json_agg(a)::text AS text FROM audit_entry a');
    expect((audited.rows[0] as { text: string }).text).not.toMatch(/12345678909|Zuleika|pessoa/);
  });

  describe('stand in lists', () => {
    it.each([
      ['charges', () => [`charges/${chargeId}`, 'order-77', 'R$ 1.234,56', 'Settled', 'Zuleika']],
      ['transfers', () => [`transfers/${transferId}`, 'R$ 10,50', 'Pix by key']],
      ['refunds', () => ['R$ 1,23', `statement/${unexpectedNsu}`]],
      ['operations', () => [`operations/${chargeId}`, 'Refund a Pix', 'Accepted by the bank']],
      ['statement', () => [`statement/${paidNsu}`, 'Credit', 'Debit', 'R$ 1.234,56', 'Matched']],
    ])('of %s', async (list, shown) => {
      const { status, text } = await get(list);
      expect([list, status]).toEqual([list, 200]);
      for (const part of shown()) expect(text.replaceAll('\u00a0', ' ')).toContain(part);
    });

    it('with the payer masked for a viewer', async () => {
      for (const list of ['charges', 'statement', `statement/${paidNsu}`]) {
        const { status, text } = await get(list, people.viewer);
        expect([list, status]).toEqual([list, 200]);
        expect(text).toContain('Z*** Q***');
        expect(text).not.toMatch(/Zuleika|12345678909/);
      }
    });

    it('filtered and page by page, by their address', async () => {
      const { text } = await get('operations?limit=2&kind=create_charge');
      const [, next = ''] = /href="([^"]*cursor=[^"]*)"/.exec(text) ?? [];
      expect(next).toContain('kind=create_charge');
      const second = await people.analyst.get(next.replaceAll('&amp;', '&'));
      expect(second.text).toContain(`operations/${chargeId}`);
      expect((await get('charges?correlationId=order-77')).text).toContain(chargeId);
      expect((await get('charges?correlationId=none')).text).toContain('Nothing matches');
      expect((await get('transfers?state=nonsense')).text).toContain('not valid: State');
      expect((await get('statement?isCredit=false&state=in_break')).status).toBe(200);
      expect((await get('statement?day=2026-02-30')).text).toContain('not valid: Day');
    });

    it('that say how they fill while they are empty', async () => {
      const { slug } = await service.database.prisma.bankAccount.findFirstOrThrow({
        where: { id: { not: accountId } },
      });
      for (const [list, how] of Object.entries({
        charges: '/baas/v1/charges',
        transfers: '/baas/api/v2/transfers',
        bills: '/baas/api/v1/bill-payments',
        refunds: '/refund?filterBy=NSU',
        operations: '/baas/v1/charges',
        statement: 'first sync',
        'statement/unreadable': 'No unreadable line',
      })) {
        const { text } = await people.stranger.get(`/console/accounts/${slug}/${list}`);
        expect([list, text.includes(how)]).toEqual([list, true]);
      }
    });
  });

  describe('explain each line in words', () => {
    it('by the reference that it shares with a charge', async () => {
      const { text } = await get(`statement/${paidNsu}`);
      expect(text.replaceAll('\u00a0', ' ')).toContain(
        'Settles charge order-77 (R$ 1.234,56): same correlationId.',
      );
      expect(text).toContain(`${pages}/charges/${chargeId}`);
      expect(text).toContain('As the bank sent it');
    });

    it('in Portuguese too', async () => {
      const portuguese = { 'accept-language': 'pt-BR' };
      const list = await people.analyst.get(`${pages}/statement`, portuguese);
      expect(list.text).toContain('Conciliado');
      // A row of the list has one line; the file and the record say why.
      expect(list.text).not.toContain('Liquida');
      const file = await people.analyst.get(`${pages}/statement?file=csv`, portuguese);
      expect(file.text.replaceAll('\u00a0', ' ')).toContain(
        'Liquida a cobrança order-77 (R$ 1.234,56): mesmo id da cobrança.',
      );
      expect(file.text).toContain('nada que foi pedido ou previsto explica este lançamento');
    });

    it('by the webhook that reported it', async () => {
      const { endToEndId } = await service.database.prisma.statementLine.findFirstOrThrow({
        where: { nsu: unexpectedNsu },
      });
      const body = { id: 'x', endToEndId, nsu: unexpectedNsu };
      await provider(WebhookInbox).store(
        accountId,
        'PIX_RECEIVED',
        Buffer.from(JSON.stringify(body)),
      );
      const { rows } = await run('SELECT reference_kind FROM webhook_event');
      expect(rows.length).toBeGreaterThan(0);
      expect((await get(`statement/${unexpectedNsu}`)).text).toContain('Reported by a webhook (');
    });

    it('by the person who linked it, and who undid that', async () => {
      const { rows } = await run(
        `SELECT expected_payment_id AS id FROM charge WHERE correlation_id <> 'order-77'`,
      );
      const [{ id: expectedPaymentId }] = rows as [{ id: string }];
      await provider(ReconciliationService).reconcile({ accountId });
      const link = await service.call('POST', '/v1/matches', {
        body: {
          ...{ nsu: 9_001, reason: 'seen in the contract' },
          allocations: [{ expectedPaymentId, amount: 1 }],
        },
      });
      expect(link.status).toBe(201);
      const linked = await get('statement/9001');
      expect(linked.text).toContain('linked manually. Reason: seen in the contract');
      expect(linked.text).toContain('>API key of the settings<');
      const { data } = link.body as { data: { id: string }[] };
      await service.call('DELETE', `/v1/matches/${data[0]?.id}?reason=mistaken`, {});
      const undone = await get('statement/9001');
      expect(undone.text).toContain('Unlinked manually: mistaken');
    });

    it('and shows what strangers wrote without running it', async () => {
      const long = 'x'.repeat(400);
      await addLine(9_002, {
        notes: hostile,
        proof: { description: hostile, payer: { holder: { name: long } } },
        type: { name: '<img src=x onerror=alert(1)>', isCredit: true },
      });
      for (const page of ['statement', 'statement/9002']) {
        const { status, text } = await get(page);
        expect([page, status]).toEqual([page, 200]);
        expect(text).toContain('&lt;script>alert(1)&lt;/script>');
        expect(text).toContain(long);
        expect(text).not.toMatch(/<script>alert|<img src=x/);
      }
    });

    it('of this account only', async () => {
      expect((await get('statement/123456789')).status).toBe(404);
      expect((await get('statement/nonsense')).status).toBe(404);
      expect((await get(`statement/${paidNsu}`, people.stranger)).status).toBe(404);
    });
  });

  it('are listed where they cannot be read, and are read again by whoever resolves breaks', async () => {
    await run(
      `INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content)
       VALUES ($1, 'aa', 'unreadable', 'amount must have at most two decimals', '{}')`,
      accountId,
    );
    const list = 'statement/unreadable';
    expect((await get(list)).text).toContain('amount must have at most two decimals');
    expect((await get(list, people.viewer)).text).not.toContain('Read all again');
    expect((await people.viewer.submit(`${pages}/${list}`)).status).toBe(403);
    const done = await people.analyst.submit(`${pages}/${list}`);
    expect([done.status, done.location]).toEqual([303, `${pages}/${list}?read=0&unreadable=1`]);
    expect((await people.analyst.get(done.location ?? '')).text).toContain('Still unreadable: 1');
    const { rows } = await run(`SELECT subject FROM audit_entry WHERE action = 'read lines again'`);
    expect(rows).toEqual([{ subject: 'statement main' }]);
  });
});
