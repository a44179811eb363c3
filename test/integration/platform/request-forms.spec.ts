// How requests may be written: content codings, unknown names, letter case and keys, on the routes
// of the service, of the bank and of webhooks.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultMaxBodyBytes } from '../../../src/bank-contract/route.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const key = { 'x-service-api-key': 'concilia-dev-key' };

describe('a request', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());
  const { createKey } = operatorOf(() => service);

  const send = async (
    path: string,
    body: Buffer | string | undefined,
    headers: Record<string, string> = {},
    method = 'POST',
  ) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...key, 'content-type': 'application/json', ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text || '{}') };
  };
  const get = (path: string) => send(path, undefined, {}, 'GET');
  const declared = (externalId: string, more: object = {}) =>
    JSON.stringify({ externalId, direction: 'debit', amount: 1, dateFrom: '2026-06-05', ...more });

  describe('with a content coding', () => {
    it.each(Object.entries(codings))('%s is decoded', async (coding, encode) => {
      const headers = { 'content-encoding': coding };
      const stored = await send('/v1/expected-payments', encode(declared(coding)), headers);
      expect([stored.status, stored.body.externalId]).toEqual([201, coding]);
      const csv = `externalId,direction,amount,dateFrom\nfile-${coding},debit,1,2026-06-05\n`;
      const upload = await send('/v1/expected-payments/bulk', encode(csv), {
        ...headers,
        'content-type': 'text/csv',
      });
      expect([upload.status, upload.body.rows]).toEqual([202, 1]);
    });

    it.each(['zstd', 'gzip, gzip', 'compress'])(
      '%s is 415, and says what is taken',
      async (coding) => {
        const answer = await send('/v1/expected-payments', 'x', { 'content-encoding': coding });
        expect(answer.status).toBe(415);
        expect(answer.body.title).toContain(coding);
        expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br, identity');
      },
    );

    it('is read no further than the limit of its route', async () => {
      const bomb = gzipSync(Buffer.alloc(100 * defaultMaxBodyBytes, ' '));
      const answer = await send('/v1/expected-payments', bomb, { 'content-encoding': 'gzip' });
      expect(answer.status).toBe(413);
    });

    it('is 400 where the bytes are of another one, or cut off', async () => {
      const whole = gzipSync(declared('cut'));
      for (const body of [Buffer.from(declared('plain')), whole.subarray(0, whole.length - 9)]) {
        const answer = await send('/v1/expected-payments', body, { 'content-encoding': 'gzip' });
        expect(answer.status).toBe(400);
      }
    });
  });

  describe('with what the service does not know', () => {
    it.each([
      ['/v1/transfers?sate=failed', '$.sate', 'state'],
      ['/v1/transfers?state%5B%5D=failed', '$.state[]', 'state'],
      ['/v1/breaks?kind=unexpcted', '$.kind', 'unexpected'],
      ['/v1/operations?kind=transferr', '$.kind', 'transfer'],
      ['/v1/summary?day=2026-01-01', '$.day', 'Is not known.'],
    ])('is 400 at %s, with what is known', async (path, field, known) => {
      const { status, body } = await get(path);
      expect([status, body.errors[field]]).toEqual([400, [expect.stringContaining(known)]]);
    });

    it.each([
      [
        '/v1/webhook-endpoints',
        { url: 'https://example.com', events: ['x'] },
        '$.events',
        'eventTypes',
      ],
      ['/v1/expected-payments', { counterparty: { taxID: 'x' } }, '$.counterparty.taxID', 'taxId'],
      [
        '/v1/expected-payments',
        { references: [{ kind: 'nsu', valu: '1' }] },
        '$.references[0].valu',
        'value',
      ],
    ])('is 400 at %s with the body %j', async (path, more, field, known) => {
      const answer = await send(path, declared('unknown', more));
      expect(answer.status).toBe(400);
      expect(answer.body.errors[field]?.join()).toContain(known);
    });

    it('is read as meant, or left to the bank, on the routes of the bank', async () => {
      const pay = { amount: 7, account: '1000001' };
      for (let nsu = 0; nsu < 2; nsu += 1)
        await service.sandbox.call('POST', '/sandbox/pix/received', { body: pay });
      const list = async (query: string) => {
        const answer = await get(`/baas/api/v2/transactions?${query}`);
        expect(answer.status).toBe(200);
        return answer.body as unknown[];
      };
      const all = await list('isCredit=True&limit=5');
      expect(all.length).toBeGreaterThan(1);
      expect(await list('type%5B%5D=CREDIT_PIX&type%5B%5D=DEBIT_PIX&limit=5')).toEqual(all);
      expect(await list('type%5B0%5D=CREDIT_PIX&foo=bar&limit=5')).toEqual(all);
      expect(await list('type%5B%5D=DEBIT_PIX')).toEqual([]);
      const transfer = { amount: 1, beneficiaryAccount: '1000002', tags: [], saveFavorite: false };
      const headers = { idempotencykey: 'unknown-fields' };
      const sent = await send('/baas/api/v2/transfers', JSON.stringify(transfer), headers);
      expect(sent.status).toBe(200);
    });
  });

  it.each([
    ['/baas/api/v2/transfers', '{"amount":1,"Amount":2,"beneficiaryAccount":"1000002"}'],
    ['/baas/v1/transfers/batch', '[{"amount":1,"AMOUNT":2,"beneficiaryAccountNumber":"1000002"}]'],
    ['/baas/api/v1/bill-payments', '{"amount":1,"amounT":1.5,"barCode":"1"}'],
    ['/baas/v1/charges', '{"payer":{"name":"a","Name":"b"}}'],
    ['/v1/expected-payments', '{"externalId":"a","ExternalId":"b"}'],
  ])('to %s with names that differ by letter case alone is 400', async (path, body) => {
    const answer = await send(path, body, { idempotencykey: 'case-twins' });
    expect([answer.status, answer.body.errors.$]).toEqual([
      400,
      [expect.stringContaining('letter case')],
    ]);
  });

  it('has one key in either case where the key is a GUID', async () => {
    const guid = 'abcdef01-2345-6789-abcd-ef0123456789';
    const body = JSON.stringify({ amount: 3, beneficiaryAccount: '1000002', externalId: 'case' });
    const sendAs = (idempotencykey: string) =>
      send('/baas/api/v2/transfers', body, { idempotencykey });
    const [first, second] = [await sendAs(guid), await sendAs(guid.toUpperCase())];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body.id).toBe(first.body.id);
  });

  it('leaves to the bank what the contract does not bound', async () => {
    const externalId = 'i'.repeat(200);
    const transfer = { amount: 4, beneficiaryAccount: '1000002', description: 'd'.repeat(300) };
    const body = JSON.stringify({ ...transfer, externalId });
    const sent = await send('/baas/api/v2/transfers', body, { idempotencykey: 'unbounded' });
    expect([sent.status, sent.body.externalId]).toEqual([200, externalId]);
    expect((await get(`/v1/transfers/${externalId}`)).status).toBe(200);
    expect((await get(`/v1/expected-payments?reference=${externalId}`)).body.data).toHaveLength(1);
  });

  it.each(['.', '..', '...'])('with the id %s is 400', async (id) => {
    const answer = await send('/v1/expected-payments', declared(id));
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['$.externalId']]);
    const found = await send(
      `/v1/expected-payments/${'%252e'.repeat(id.length)}`,
      undefined,
      {},
      'GET',
    );
    expect(found.status).toBe(404);
  });

  it('without a valid key names the header, and without the scope names the scope', async () => {
    const nobody = await send('/v1/summary', undefined, { 'x-service-api-key': 'none' }, 'GET');
    expect([nobody.status, nobody.body.title]).toEqual([
      401,
      'A valid key is required in the header x-service-api-key.',
    ]);
    const { key: readOnly } = await createKey('main', { scopes: ['read'] });
    const headers = { 'x-service-api-key': readOnly, idempotencykey: 'no-scope' };
    const refused = await send('/baas/api/v2/transfers', '{}', headers);
    expect([refused.status, refused.body.code, refused.body.title]).toEqual([
      ...[403, 'missing_scope', 'The key lacks the scope transfer.'],
    ]);
    const operator = { 'x-service-api-key': 'concilia-dev-admin' };
    const other = await send('/v1/summary', undefined, operator, 'GET');
    expect([other.status, other.body.code]).toEqual([403, 'wrong_key']);
  });
});
