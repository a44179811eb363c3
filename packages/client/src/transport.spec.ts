// The calls of a client whose `fetch` is a script: what is sent, how often, and what a caller gets.
import { describe, expect, it, jest } from '@jest/globals';
import { ApiError, Concilia, ConnectionError, OutcomeUnknownError, isPending } from './index.js';

type Answer = Response | Error | ((signal: AbortSignal) => Promise<Response>);

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  return new Response(text, { status, headers: { 'content-type': type, ...headers } });
}

const problem = (status: number, code?: string, headers = {}) =>
  json(
    status,
    { title: 'Refused', status, traceId: 'trace-1', ...(code ? { code } : {}) },
    headers,
  );

const proxyError = (status: number) => new Response('<html>', { status });
const lost = () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
const unsent = () => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });

/** The client, and each request that it sent. */
function scripted(...answers: Answer[]) {
  const sent: { method: string; url: string; headers: Headers; body: unknown }[] = [];
  const answering = jest.fn(async (input: URL, init: RequestInit) => {
    const { method = '', body, signal } = init;
    sent.push({ method, url: input.href, headers: new Headers(init.headers), body });
    const answer = answers.shift();
    if (!answer) throw new Error('no answer is left');
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(signal as AbortSignal) : answer;
  });
  const client = new Concilia({
    ...{ baseUrl: 'http://127.0.0.1:3000/', apiKey: 'ck_1', adminKey: 'ca_1' },
    fetch: answering as unknown as typeof fetch,
  });
  const keys = () => sent.map(({ headers }) => headers.get('IdempotencyKey'));
  return { client, sent, keys };
}

const transfer = { amount: '150.00', beneficiaryAccount: '1000002' };
const pending = {
  ...{ id: '1', kind: 'create_transfer', state: 'unknown', idempotencyKey: 'k', status: 'x' },
};
const hang = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );

describe('a request', () => {
  it('has the key of its caller, a body with exact amounts, and a key of its own', async () => {
    const { client, sent, keys } = scripted(json(200, '{"id": 7, "amount": 150}'));
    const options = { respondAsync: true, allowDuplicate: true };
    const result = await client.transfers.create({ amount: '9007199254740993.01' }, options);
    expect(result).toEqual({ id: '7', amount: '150.00' });
    expect(sent).toMatchObject([
      { method: 'POST', url: 'http://127.0.0.1:3000/baas/api/v2/transfers' },
    ]);
    expect(sent[0]?.body).toBe('{"amount":9007199254740993.01}');
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toMatchObject({
      ...{ 'x-service-api-key': 'ck_1', 'content-type': 'application/json' },
      ...{ prefer: 'respond-async', 'concilia-allow-duplicate': 'true' },
    });
    expect(keys()).toEqual([expect.stringMatching(/^[0-9a-f]{8}-/)]);
  });

  it('takes the key of the operation, and refuses to be sent without', async () => {
    const { client, sent } = scripted(json(200, { data: [], next: null }));
    await client.bankAccounts.list().page();
    expect(sent[0]?.headers.get('x-service-admin-key')).toBe('ca_1');
    await expect(client.customerCreation.getCustomer('1')).rejects.toThrow(/partnerKey/);
  });

  it('stays in its path', async () => {
    const { client, sent } = scripted(json(200, {}));
    await client.charges.get('a/../b?c');
    expect(sent[0]?.url).toBe('http://127.0.0.1:3000/v1/charges/a%2F..%2Fb%3Fc');
    for (const id of ['..', '.', '']) expect(() => client.charges.get(id)).toThrow(TypeError);
  });

  it('is not sent with an amount that is a float', async () => {
    const { client, sent } = scripted();
    const refund = { amount: 0.1 + 0.2 } as unknown as { amount: string };
    await expect(client.refunds.refundTransaction(1, refund, { filterBy: 'NSU' })).rejects.toThrow(
      '$.amount must be a decimal text',
    );
    expect(sent).toEqual([]);
  });

  it('sends a file as it is, and returns a file as bytes', async () => {
    const bytes = new Uint8Array([0, 255, 7]);
    const { client, sent } = scripted(json(202, { id: 'u' }), new Response(bytes));
    await client.bulkUploads.uploadCharges({ content: bytes, type: 'text/csv' }, { hash: 'h' });
    expect(sent[0]).toMatchObject({ body: bytes, url: expect.stringMatching(/bulk\?hash=h$/) });
    expect(sent[0]?.headers.get('content-type')).toBe('text/csv');
    const day = { from: '2026-11-01', to: '2026-11-30' };
    await expect(client.exports.exportTransactions({ format: 'csv', ...day })).resolves.toEqual(
      bytes,
    );
  });
});

describe('a list', () => {
  it('is read page by page, while it is iterated', async () => {
    const page = (id: string, next: string | null) => json(200, { data: [{ id }], next });
    const { client, sent } = scripted(
      page('a', 'c1'),
      json(200, { data: [], next: 'c2' }),
      page('b', null),
    );
    const ids: string[] = [];
    for await (const { id } of client.operations.list({ state: 'unknown' })) ids.push(id);
    expect(ids).toEqual(['a', 'b']);
    const searches = sent.map(({ url }) => new URL(url).search);
    expect(searches).toEqual(['', '&cursor=c1', '&cursor=c2'].map((one) => `?state=unknown${one}`));
  });
});

describe('a repeat', () => {
  it.each<[string, () => Answer]>([
    ['a connection that broke', lost],
    ['a connection that was never made', unsent],
    ['429', () => problem(429, 'rate_limited')],
    ['503', () => problem(503)],
    ['504', () => problem(504)],
    ['502 of a proxy', () => proxyError(502)],
    ['a response that is no JSON', () => json(200, '<html>')],
    ['an identical request in progress', () => problem(409, 'request_in_progress')],
  ])('has the same key after %s', async (_, answer) => {
    const { client, keys } = scripted(answer(), answer(), json(202, pending));
    const result = await client.transfers.create(transfer);
    expect(isPending(result)).toBe(true);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toHaveLength(3);
  });

  it('waits as long as Retry-After says', async () => {
    const { client } = scripted(
      problem(429, 'rate_limited', { 'retry-after': '1' }),
      json(200, {}),
    );
    const startedAt = performance.now();
    await client.charges.get('a');
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  it('is left to the caller where Retry-After is long', async () => {
    const { client, sent } = scripted(problem(503, 'account_stopped', { 'retry-after': '3600' }));
    const error: unknown = await client.transfers.create(transfer).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'account_stopped', retryAfterSeconds: 3600 });
    expect(sent).toHaveLength(1);
  });

  it('is not made without a key, unless nothing was done', async () => {
    const { client, sent } = scripted(problem(429), unsent(), lost());
    await expect(client.charges.pay('a')).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(sent).toHaveLength(3);
  });
});

describe('a change without a conclusive response', () => {
  it.each<[string, Answer[]]>([
    ['the last attempt broke', [lost(), lost()]],
    ['an earlier attempt broke, and the last did nothing', [lost(), problem(429)]],
    ['an earlier attempt broke, and the key is now revoked', [lost(), problem(401)]],
    ['the service failed', [problem(500)]],
    ['the response is that of a proxy', [proxyError(502), proxyError(502)]],
    ['an attempt took too long', [hang, hang]],
  ])('has an unknown outcome: %s', async (_, answers) => {
    const { client, keys } = scripted(...answers);
    const options = { idempotencyKey: 'invoice-9', maxAttempts: 2, timeoutMs: 50 };
    const error: unknown = await client.transfers
      .create(transfer, options)
      .catch((one: unknown) => one);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ idempotencyKey: 'invoice-9', operation: 'createTransfer' });
    expect(String(error)).not.toContain('ck_1');
    expect(new Set(keys())).toEqual(new Set(['invoice-9']));
  });

  it('has an unknown outcome when its caller ends it', async () => {
    const { client } = scripted(hang);
    const call = client.transfers.create(transfer, { signal: AbortSignal.timeout(20) });
    await expect(call).rejects.toMatchObject({
      ...{ name: 'OutcomeUnknownError', cause: { name: 'TimeoutError' } },
    });
  });
});

describe('a request that certainly did nothing', () => {
  it('is refused with the code, the trace and the wrong fields', async () => {
    const errors = { '$.amount': ['Must be positive.'] };
    const body = { title: 'Wrong', status: 400, traceId: 'trace-9', errors };
    const location = '/v1/operations/1';
    const { client, sent } = scripted(
      json(400, body),
      lost(),
      problem(409, 'possible_duplicate', { location }),
    );
    await expect(client.transfers.create(transfer)).rejects.toMatchObject({
      ...{ status: 400, code: undefined, traceId: 'trace-9', errors },
    });
    await expect(client.transfers.create(transfer)).rejects.toMatchObject({
      ...{ status: 409, code: 'possible_duplicate', location, name: 'ApiError' },
    });
    expect(sent).toHaveLength(3);
  });

  it('says so where the bank could not be reached', async () => {
    const { client } = scripted(problem(502), problem(502));
    const call = client.transfers.create(transfer, { maxAttempts: 2 });
    await expect(call).rejects.toMatchObject({ name: 'ApiError', status: 502 });
  });

  it('says so where it was never sent, or read only', async () => {
    const { client } = scripted(unsent(), lost());
    const once = { maxAttempts: 1 };
    await expect(client.transfers.create(transfer, once)).rejects.toBeInstanceOf(ConnectionError);
    await expect(client.charges.get('a', once)).rejects.toBeInstanceOf(ConnectionError);
  });

  it('ends with the reason of its caller', async () => {
    const { client, sent } = scripted(problem(429, 'rate_limited', { 'retry-after': '30' }));
    const signal = AbortSignal.timeout(20);
    for (const _ of ['while it waits', 'before it is sent']) {
      const call = client.transfers.create(transfer, { signal });
      await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    }
    expect(sent).toHaveLength(1);
  });
});
