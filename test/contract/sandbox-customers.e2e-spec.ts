// The sandbox's rules for customers, and that their secrets are stored and logged nowhere.
import { inspect } from 'node:util';
import type pg from 'pg';
import type { Log } from '../../src/platform/log.js';
import { createSandbox } from '../../src/sandbox/sandbox.module.js';
import { testDatabase } from '../support/postgres.js';
import { createCaller, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { customer, expectError, newCpf } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());

const partner = {
  'content-type': 'application/json-patch+json',
  'x-service-partner-key': 'sandbox-dev-partner',
};
const create = (body: unknown, headers: Record<string, string> = partner, call = bank.call) =>
  call('POST', '/v1/customers', { body, headers, apiKey: null });

describe('a customer', () => {
  it('gets an account with balance zero in the ledger', async () => {
    const request = customer({ document: newCpf() });
    const { status, body } = await create(request);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      document: `***${request.document.slice(3, 12)}**`,
      name: 'Joana da Silva',
      status: 'PROCESSING',
      account: { branch: '0001', number: expect.stringMatching(/^20000\d\d$/) },
      createdAt: expect.stringMatching(/Z$/),
    });
    const { number } = body.account;
    const ledger = (await bank.call('GET', `/sandbox/ledger?account=${number}`)).body;
    expect(ledger.accounts).toEqual([{ branch: '0001', number, balance: 0 }]);
    const credit = { account: number, amount: 12.34, isCredit: true, typeName: 'ANY_LINE' };
    const credited = await bank.call('POST', '/sandbox/transactions', { body: credit });
    expect(credited.body.nsu).toBe(1);
    const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
    expect(audit).toEqual({ clean: true, problems: [] });
  });

  it('is created from the required fields alone', async () => {
    const { document, name, email, phone, birthDate, password, securityPassword } = customer();
    const address = { publicPlace: 'Rua XV de Novembro', zipCode: '80020310' };
    const least = { document, name, email, phone, birthDate, password, securityPassword, address };
    expect((await create(least)).status).toBe(200);
    for (const field of Object.keys(least))
      expectError(await create({ ...least, [field]: undefined }), 400, `$.${field}`);
  });

  it('is created once for ten concurrent requests with one document; account numbers are unique', async () => {
    const document = newCpf();
    const unformatted = document.replaceAll(/\D/g, '');
    await bank.warmUp();
    const same = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        create(customer({ document: at % 2 ? document : unformatted })),
      ),
    );
    expect(same.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = same.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.code)).toEqual(Array(9).fill('customer_exists'));
    const others = await Promise.all(Array.from({ length: 10 }, () => create(customer())));
    const numbers = others.map(({ body }) => body.account.number);
    expect(new Set(numbers).size).toBe(10);
  });

  it('is approved two seconds later, with a webhook to the first account', async () => {
    await bank.call('POST', '/baas/api/v1/webhooks', {
      body: {
        eventType: 'WHITELABEL_CUSTOMER_APPROVED',
        url: 'http://127.0.0.1:9/never',
        authorizationScheme: 'NONE',
      },
    });
    const request = customer();
    const { body } = await create(request);
    await bank.call('POST', '/sandbox/clock', { body: { advance: 'PT2S' } });
    const { rows } = await bank.pool.query('SELECT body FROM webhook_delivery');
    const bodies = rows.map((row: { body: string }) => JSON.parse(row.body));
    const approval = bodies.find(({ customerId }) => customerId === body.id);
    expect(approval).toEqual({
      eventType: 'WHITELABEL_CUSTOMER_APPROVED',
      customerId: body.id,
      document: body.document,
      name: 'Joana da Silva',
      status: 'APPROVED',
      account: body.account,
      approvedAt: expect.stringMatching(/Z$/),
    });
    const states = await bank.pool.query('SELECT DISTINCT status FROM customer');
    expect(states.rows).toEqual([{ status: 'APPROVED' }]);
  });
});

describe('a customer that the control plane decides', () => {
  const decide = (id: string, body: object) =>
    bank.call('POST', `/sandbox/customers/${id}/decision`, { body });
  const webhooksOf = async (id: string) => {
    const { rows } = await bank.pool.query('SELECT body FROM webhook_delivery');
    return rows
      .map((row: { body: string }) => JSON.parse(row.body))
      .filter(({ customerId }) => customerId === id);
  };
  const register = (eventType: string) =>
    bank.call('POST', '/baas/api/v1/webhooks', {
      body: { eventType, url: 'http://127.0.0.1:9/never', authorizationScheme: 'NONE' },
    });

  it('waits for its decision, and is approved or refused once, with a webhook', async () => {
    await register('WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED');
    await register('WHITELABEL_CUSTOMER_APPROVED');
    await bank.call('PATCH', '/sandbox/modes', { body: { customerApproval: 'control' } });
    const [refused, approved] = [await create(customer()), await create(customer())];
    await bank.call('POST', '/sandbox/clock', { body: { advance: 'P1D' } });
    for (const { body } of [refused, approved]) expect(await webhooksOf(body.id)).toEqual([]);

    const reason = 'The photo is not readable.';
    expect((await decide(refused.body.id, { decision: 'refuse', reason })).body).toEqual({
      id: refused.body.id,
      status: 'REJECTED',
    });
    expect((await decide(approved.body.id, { decision: 'approve' })).body.status).toBe('APPROVED');
    expect(await webhooksOf(refused.body.id)).toEqual([
      expect.objectContaining({
        eventType: 'WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED',
        ...{ status: 'REJECTED', reason, account: refused.body.account },
      }),
    ]);
    expect(await webhooksOf(approved.body.id)).toHaveLength(1);

    const again = await decide(refused.body.id, { decision: 'approve' });
    expectError(again, 409);
    expect(again.body.code).toBe('customer_decided');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expectError(await decide(unknown, { decision: 'approve' }), 404);
    expectError(await decide(refused.body.id, { decision: 'maybe' }), 400, '$.decision');
  });
});

describe('POST /v1/customers refuses', () => {
  it('a CNPJ, and digits of another script', async () => {
    expectError(await create(customer({ document: '11.222.333/0001-81' })), 400, '$.document');
    expectError(await create(customer({ password: '٩١٨٢٧٣' })), 400, '$.password');
    expectError(await create(customer({ securityPassword: 7391 })), 400, '$.securityPassword');
  });

  it('a birth date in the future, and an invalid date', async () => {
    for (const birthDate of ['2048-01-01T00:00:00Z', '1899-12-31', '1990-01-01T25:00:00Z', 'old'])
      expectError(await create(customer({ birthDate })), 400, '$.birthDate');
  });

  it('invalid values, each with its path', async () => {
    const { address } = customer();
    const cases: [changes: Record<string, unknown>, path: string][] = [
      [{ monthlyInvoicing: -0.01 }, '$.monthlyInvoicing'],
      [{ address: 'Rua A, 1' }, '$.address'],
      [{ address: { ...address, cityId: 1.5 } }, '$.address.cityId'],
      [{ address: { ...address, isConfirmed: 'yes' } }, '$.address.isConfirmed'],
      [{ address: { ...address, zipCode: '123' } }, '$.address.zipCode'],
      [{ name: 'a\u0000b' }, '$.name'],
    ];
    for (const [changes, path] of cases) expectError(await create(customer(changes)), 400, path);
  });

  it('the wrong verification code 000000, of the e-mail and of the phone', async () => {
    const { email, phone } = customer();
    for (const changes of [
      { email: { ...email, codeVerification: '000000' } },
      { phone: { ...phone, codeVerification: '000000' } },
    ]) {
      const response = await create(customer(changes));
      expectError(response, 422);
      expect(response.body.code).toBe('verification_code_wrong');
    }
  });

  it('an API key in place of the partner key, and the reverse', async () => {
    const apiKey = 'sandbox-dev-key';
    expectError(await create(customer(), { ...partner, 'x-service-partner-key': apiKey }), 401);
    expectError(await create(customer(), { 'x-service-api-key': apiKey }), 401);
    const swapped = await bank.call('GET', '/sandbox/ledger', {
      apiKey: null,
      headers: { 'x-service-partner-key': 'sandbox-dev-partner' },
    });
    expectError(swapped, 401);
  });

  it('a body of another content type', async () => {
    const headers = { ...partner, 'content-type': 'text/plain' };
    expectError(await create(customer(), headers), 415);
    expect(
      (await create(customer(), { ...partner, 'content-type': 'application/json' })).status,
    ).toBe(200);
  });
});

describe('secrets', () => {
  const secrets = {
    password: '604817',
    securityPassword: '5093',
    emailCode: '71904482',
    phoneCode: '83306127',
    token: 'canary-token-of-a-device',
  };

  /** Every row of every table, as text. */
  async function dump(pool: pg.Pool): Promise<string> {
    const { rows } = await pool.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables
       WHERE table_schema = 'public'`,
    );
    const texts = await Promise.all(
      rows.map(({ name }) => pool.query(`SELECT t::text AS text FROM ${name} AS t`)),
    );
    return texts.flatMap((result) => result.rows.map(({ text }) => text as string)).join('\n');
  }

  it('are in no table and no log, whether a request is accepted or refused', async () => {
    const database = await testDatabase('sandbox');
    const logged: unknown[] = [];
    const record = (...values: unknown[]) => void logged.push(values);
    const log = {
      ...{ trace: record, debug: record, info: record },
      ...{ warn: record, error: record, fatal: record },
    };
    const application = await createSandbox({
      databaseUrl: database.url,
      log: log as unknown as Log,
      settings: { apiKey: 'sandbox-dev-key', partnerKey: 'sandbox-dev-partner' },
    });
    try {
      await application.listen(0, '127.0.0.1');
      const call = createCaller(await application.getUrl(), 'sandbox-dev-key', 'sandbox');
      const { email, phone } = customer();
      const request = (changes: object = {}) =>
        customer({
          email: { ...email, codeVerification: secrets.emailCode },
          phone: { ...phone, codeVerification: secrets.phoneCode },
          password: secrets.password,
          securityPassword: secrets.securityPassword,
          tokenNotification: secrets.token,
          unknownField: secrets.token,
          ...changes,
        });
      const first = request();
      const statuses = [];
      const responses = [];
      for (const body of [
        first,
        first,
        request(),
        request({ name: '' }),
        request({ document: 1 }),
      ]) {
        const response = await create(body, partner, call);
        statuses.push(response.status);
        responses.push(response.text);
      }
      expect(statuses).toEqual([200, 409, 200, 400, 400]);
      const stored = await dump(database.pool);
      expect(stored).toContain('Joana da Silva');
      for (const text of [stored, inspect(logged, { depth: 20 }), responses.join('\n')])
        for (const secret of Object.values(secrets))
          // Hashes, ids and codes may contain the four digits by chance, but never as a whole word.
          expect(text).not.toMatch(new RegExp(`(?<![\\w.+/=-])${secret}(?![\\w+/=-])`));
      const { rows } = await database.pool.query('SELECT * FROM customer');
      const hashes = rows.flatMap((row) => [row.password_hash, row.security_password_hash]);
      expect(new Set(hashes).size).toBe(4);
      for (const hash of hashes) expect(hash).toMatch(/^scrypt:16384:8:1:.{24}:.{44}$/);
    } finally {
      await application.close();
      await database.drop();
    }
  });
});
