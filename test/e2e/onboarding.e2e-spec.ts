// Onboarding through the whole service: its outcome in each case, and that its secrets are stored
// nowhere.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { customer, newCpf } from '../contract/samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const partner = {
  'content-type': 'application/json-patch+json',
  'x-service-partner-key': 'concilia-dev-partner',
};
const secrets = {
  password: '604817',
  securityPassword: '5093',
  emailCode: '71904482',
  phoneCode: '83306127',
  token: 'canary-token-of-a-device',
};
const person = {
  email: 'canario@pessoa-canario.example',
  phone: '912837465',
  name: 'Canário Onomástico da Silva',
  mother: 'Maria Canária Onomástica',
};

const request = (document: string, changes: Record<string, unknown> = {}) =>
  customer({
    document,
    name: person.name,
    motherName: person.mother,
    email: { value: person.email, codeVerification: secrets.emailCode },
    phone: { ddd: '11', number: person.phone, codeVerification: secrets.phoneCode },
    password: secrets.password,
    securityPassword: secrets.securityPassword,
    tokenNotification: secrets.token,
    unknownField: secrets.token,
    ...changes,
  });

describe('onboarding', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let concilia: ConciliaProcess;
  let printed = '';
  const documents: string[] = [];

  const newDocument = () => {
    const cpf = newCpf();
    documents.push(cpf, cpf.replaceAll(/\D/g, ''));
    return cpf;
  };
  const onboard = (body: unknown, headers: Record<string, string> = {}) =>
    concilia.callService('POST', '/v1/customers', body, { ...partner, ...headers });
  const readOnboarding = async (id: unknown) =>
    (await concilia.callService('GET', `/v1/customers/${String(id)}`, undefined, partner)).body;
  const injectFault = (kind: string, delayMs = 500) =>
    concilia.callBank('POST', '/sandbox/faults', {
      endpoint: '*',
      kind,
      method: 'POST',
      times: 1,
      delayMs,
    });
  const countAtBank = async () =>
    Number((await bank.pool.query('SELECT 1 FROM customer')).rowCount);

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
    });
    await concilia.start();
  }, 60_000);
  afterAll(async () => {
    await concilia.stop();
    await service.drop();
    await bank.drop();
  });

  it('responds as the bank does, and onboards a document once when requested concurrently', async () => {
    const before = await countAtBank();
    const body = request(newDocument());
    const responses = await Promise.all(Array.from({ length: 10 }, () => onboard(body)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body: { id } }) => id)).size).toBe(1);
    expect(await countAtBank()).toBe(before + 1);
    const replayed = await onboard(body);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect((await onboard({ ...body, name: 'Outra Pessoa' })).body.code).toBe(
      'idempotency_key_reused',
    );
  });

  it('sends a corrected request after the bank rejected one', async () => {
    const cpf = newDocument();
    const wrong = { value: person.email, codeVerification: '000000' };
    const rejected = await onboard(request(cpf, { email: wrong }));
    expect([rejected.status, rejected.body.code]).toEqual([422, 'verification_code_wrong']);
    expect((await onboard(request(cpf))).status).toBe(200);
  });

  it('passes on customer_exists when no earlier request could have created the customer', async () => {
    const body = request(newDocument());
    await fetch(`${concilia.bankUrl}/v1/customers`, {
      method: 'POST',
      headers: { ...partner, 'x-service-partner-key': 'sandbox-dev-partner' },
      body: JSON.stringify(body),
    });
    const response = await onboard(body);
    expect([response.status, response.body.code]).toEqual([409, 'customer_exists']);
  });

  it.each(['hang-after-effect', 'reset-after-effect', 'error-after-effect'])(
    'is not resent after %s, and succeeds when a repeat shows that the customer exists',
    async (kind) => {
      const cpf = newDocument();
      await injectFault(kind);
      const lost = await onboard(request(cpf));
      expect(lost.status).toBe(202);
      const count = await countAtBank();
      await until('the operation needs the operator', async () => {
        const { operationState } = await readOnboarding(lost.body.id);
        return operationState === 'needs_operator';
      });
      expect(await countAtBank()).toBe(count);
      const repeat = await onboard(
        request(cpf, { phone: { ddd: '11', number: person.phone, codeVerification: '55512345' } }),
      );
      expect([repeat.status, repeat.body.code]).toEqual([409, 'customer_exists']);
      expect(await readOnboarding(lost.body.id)).toMatchObject({
        operationState: 'succeeded',
        reason: 'already_exists',
        document: `***${cpf.slice(3, 12)}**`,
      });
      expect(await countAtBank()).toBe(count);
    },
  );

  it('reaches the bank again with new codes when the first request had no effect', async () => {
    const cpf = newDocument();
    await injectFault('error-before-effect');
    const lost = await onboard(request(cpf));
    expect(lost.status).toBe(202);
    const repeat = await onboard(request(cpf));
    expect(repeat.status).toBe(200);
    expect(repeat.headers.get('idempotent-replayed')).toBeNull();
    // The bank created the customer now: the first request had no effect.
    expect(await readOnboarding(lost.body.id)).toMatchObject({
      operationState: 'not_executed',
      reason: 'taken_in_later',
    });
  });

  it('goes to the operator when the process is killed during the call to the bank', async () => {
    const cpf = newDocument();
    await injectFault('hang-after-effect', 10_000);
    const killed = onboard(request(cpf)).catch(() => null);
    const id = await until('the operation is being sent', async () => {
      const { rows } = await service.pool.query(`SELECT id FROM operation WHERE state = 'sending'`);
      return rows.length === 1 && ((rows[0] as { id: string }).id as string);
    });
    await until('the bank has created the customer', async () => {
      const { rows } = await bank.pool.query('SELECT 1 FROM customer WHERE document = $1', [
        cpf.replaceAll(/\D/g, ''),
      ]);
      return rows.length === 1;
    });
    printed += concilia.printed;
    await concilia.kill();
    await killed;
    await service.pool.query(`UPDATE operation SET next_action_at = now() WHERE id = $1`, [id]);
    await concilia.start();
    await until('the operation needs the operator', async () => {
      return (await readOnboarding(id)).operationState === 'needs_operator';
    });
    const breaks = await concilia.callService<{ data: { kind: string }[] }>('GET', '/v1/breaks');
    expect(breaks.body.data.map(({ kind }) => kind)).toContain('unknown_outcome');
  }, 30_000);

  it('is shown to the partner key only', async () => {
    const { rows } = await service.pool.query<{ id: string }>('SELECT id FROM customer LIMIT 1');
    const path = `/v1/customers/${rows[0]?.id}`;
    expect((await concilia.callService('GET', path)).status).toBe(401);
    expect(
      (await concilia.callService('GET', '/v1/customers/nobody', undefined, partner)).status,
    ).toBe(404);
  });

  it('stores no secret in any table, job or log, and no personal data in a job or log', async () => {
    printed += concilia.printed;
    const [stored, queued] = [
      await dump(service.pool, 'public'),
      await dump(service.pool, 'bullmq'),
    ];
    expect(stored).toContain('create_customer');
    expect(printed).toContain('The service is ready');
    for (const text of [stored, queued, printed])
      // Hashes and ids may contain the digits of a secret by chance, but not as a whole word.
      for (const secret of Object.values(secrets))
        expect(text).not.toMatch(new RegExp(`(?<![\\w.+/=-])${secret}(?![\\w+/=-])`));
    for (const text of [queued, printed])
      for (const datum of [...Object.values(person), ...documents])
        expect(text.includes(datum)).toBe(false);
    // The bank's response holds a name and is stored for replays; of the request no datum is
    // stored.
    for (const datum of [person.email, person.phone, person.mother, ...documents])
      expect(stored.includes(datum)).toBe(false);
  });
});

/** Every row of every table of a schema, as text; bytea columns also decoded as text. */
async function dump(pool: pg.Pool, schema: string): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema = $1 AND table_type = 'BASE TABLE'`,
    [schema],
  );
  const bytes = await pool.query<{ name: string; column: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name, quote_ident(column_name) AS "column"
     FROM information_schema.columns WHERE table_schema = $1 AND data_type = 'bytea'`,
    [schema],
  );
  const queries = [
    ...tables.rows.map(({ name }) => `SELECT t::text AS text FROM ${name} AS t`),
    ...bytes.rows.map(
      ({ name, column }) => `SELECT encode(${column}, 'escape') AS text FROM ${name}`,
    ),
  ];
  const results = await Promise.all(queries.map((query) => pool.query<{ text: string }>(query)));
  return results.flatMap(({ rows }) => rows.map(({ text }) => text)).join('\n');
}
