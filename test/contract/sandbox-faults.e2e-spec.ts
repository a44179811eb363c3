// Faults on requests to the bank: what the caller sees, and whether the effect happened.
import { jest } from '@jest/globals';
import { servedRoutes } from '../../src/platform/http/api-reference.js';
import { endpointsOfRoutes, isTestTool } from '../../src/sandbox/faults/bank-call.js';
import { callKinds } from '../../src/sandbox/faults/fault.js';
import { SandboxSettings } from '../../src/sandbox/sandbox-database.service.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());
afterEach(() => bank.call('DELETE', '/sandbox/faults'));

const addFault = async (fault: Record<string, unknown>) => {
  const response = await bank.call('POST', '/sandbox/faults', { body: fault });
  expect(response.status).toBe(200);
  return response.body;
};
const counts = async () =>
  (await bank.call('GET', '/sandbox/faults')).body.faults.map(
    ({ chances, fired }: { chances: number; fired: number }) => [chances, fired],
  );
const charge = (body: unknown) =>
  bank.call('POST', '/baas/v1/charges', { body, mayBeSpoiled: true });
const statusOfCharge = async (correlationId: string) =>
  (await bank.call('GET', `/baas/v1/charges/${correlationId}`)).status;
const statement = () => bank.call('GET', '/baas/api/v2/transactions');
/** The error code with which the connection ended. Fails when the request got a response. */
const failureOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason as { name: string; cause?: { code?: string } },
  );
  expect(error?.name).toBe('TypeError');
  return error?.cause?.code ?? '';
};

it('maps every route of the bank to a fault endpoint', () => {
  const unknown = servedRoutes(bank.application).filter(
    (route) => !isTestTool(route) && !(route.name in endpointsOfRoutes),
  );
  expect(unknown.map(({ name }) => name)).toEqual([]);
});

describe('a request', () => {
  it('fails before its effect with the error body of the contract, and has no effect', async () => {
    await addFault({ endpoint: 'charges', kind: 'error-before-effect', times: 1 });
    const request = slip();
    const response = await charge(request);
    expectError(response, 500);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await statusOfCharge(request.correlationId)).toBe(404);
    expect((await charge(request)).status).toBe(200);
  });

  it('fails after its effect, and a repeat gets the response', async () => {
    await addFault({ endpoint: 'charges', kind: 'error-after-effect', times: 1 });
    const request = slip();
    expectError(await charge(request), 500);
    expect(await statusOfCharge(request.correlationId)).toBe(200);
    const repeat = await charge(request);
    expect(repeat.status).toBe(200);
    expect(repeat.body.correlationId).toBe(request.correlationId);
  });

  it('hangs after its effect and is closed without a response; a repeat gets the response', async () => {
    await addFault({ endpoint: 'qrcode', kind: 'hang-after-effect', times: 1, delayMs: 250 });
    const [request, headers] = [staticQr(), newKeyHeader()];
    const path = '/baas/api/v2/pix/qrcode/static';
    const startedAt = performance.now();
    const lost = bank.call('POST', path, { body: request, headers });
    expect(await failureOf(lost)).toBe('UND_ERR_SOCKET');
    expect(performance.now() - startedAt).toBeGreaterThan(240);
    expect(await statusOfCharge(request.correlationId)).toBe(200);
    const responses = [];
    for (let repeat = 0; repeat < 2; repeat += 1)
      responses.push(await bank.call('POST', path, { body: request, headers }));
    expect(responses[0]).toMatchObject({ status: 200, text: responses[1]?.text });
  });

  it('is reset after its effect', async () => {
    await addFault({ endpoint: 'charges', kind: 'reset-after-effect', times: 1 });
    const request = slip();
    expect(await failureOf(charge(request))).toBe('ECONNRESET');
    expect(await statusOfCharge(request.correlationId)).toBe(200);
  });

  it('gets a response shorter than its content-length', async () => {
    const payer = { name: 'João Aragão', document: '52998224725' };
    await bank.call('POST', '/sandbox/pix/received', { body: { amount: 1, payer } });
    const { text } = await statement();
    const fullBody = Buffer.from(text);
    await addFault({ endpoint: 'transactions', kind: 'truncated', times: 1 });
    const response = await fetch(`${await bank.application.getUrl()}/baas/api/v2/transactions`, {
      headers: { 'x-service-api-key': 'sandbox-dev-key' },
    });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBe(fullBody.length);
    expect(response.headers.get('x-trace-id')).toMatch(/.+/);
    const received: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        received.push(chunk);
    })();
    expect(await failureOf(reading)).toBe('UND_ERR_SOCKET');
    const half = fullBody.subarray(0, Math.floor(fullBody.length / 2));
    expect(Buffer.concat(received).equals(half)).toBe(true);
    expect((await statement()).text).toBe(text);
  });

  it('gets an HTML or an empty response after its effect', async () => {
    await addFault({ endpoint: 'charges', kind: 'garbage', times: 1 });
    await addFault({ endpoint: 'charges', kind: 'empty', times: 1 });
    const [first, second] = [slip(), slip()];
    const html = await charge(first);
    expect(html).toMatchObject({ status: 200, text: expect.stringMatching(/^<!DOCTYPE html>/) });
    expect(html.headers.get('content-type')).toContain('text/html');
    expect(await charge(second)).toMatchObject({ status: 200, text: '' });
    expect(await statusOfCharge(first.correlationId)).toBe(200);
    expect(await statusOfCharge(second.correlationId)).toBe(200);
  });

  it('is slow and then gets the normal response', async () => {
    const { text } = await statement();
    await addFault({ endpoint: 'transactions', kind: 'slow', times: 1, delayMs: 250 });
    const startedAt = performance.now();
    expect(await statement()).toMatchObject({ status: 200, text });
    expect(performance.now() - startedAt).toBeGreaterThan(240);
  });
});

describe('a fault', () => {
  it('counts no chance for a refused request or a request without a key', async () => {
    await addFault({ endpoint: 'charges', kind: 'error-after-effect', times: 1 });
    await addFault({ endpoint: 'charges', kind: 'garbage', times: 1 });
    expectError(await charge(slip({ Amount: -1 })), 400);
    expect((await bank.call('POST', '/baas/v1/charges', { apiKey: null })).status).toBe(401);
    expect(await counts()).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('applies only to writes of an endpoint unless it names the method', async () => {
    const request = slip();
    await charge(request);
    await addFault({ endpoint: 'charges', kind: 'error-before-effect' });
    expect(await statusOfCharge(request.correlationId)).toBe(200);
    expect((await charge(slip())).status).toBe(500);
    await bank.call('DELETE', '/sandbox/faults');
    await addFault({ endpoint: 'charges', kind: 'error-before-effect', method: 'GET' });
    expect(await statusOfCharge(request.correlationId)).toBe(500);
    expect((await charge(slip())).status).toBe(200);
  });

  it('does not apply to the control plane, simulations, health checks and API reference', async () => {
    const request = slip();
    await charge(request);
    await addFault({ endpoint: '*', kind: 'error-before-effect' });
    const path = `/baas/v1/charges/${request.correlationId}`;
    expect((await bank.call('PUT', `${path}/expire`)).status).toBe(200);
    expect((await bank.call('POST', `${path}/pay`)).status).toBe(200);
    for (const exempt of ['/sandbox/ledger', '/sandbox/modes', '/health/live', '/docs'])
      expect((await bank.call('GET', exempt)).status).toBe(200);
    expect((await statement()).status).toBe(500);
  });

  it('is logged neither as an error nor as a warning', async () => {
    const { log } = bank.application.get(SandboxSettings);
    const logged = [jest.spyOn(log, 'error'), jest.spyOn(log, 'warn')];
    for (const kind of callKinds) {
      await addFault({ endpoint: 'charges', kind, times: 1, delayMs: 0 });
      await charge(slip()).catch(() => null);
    }
    expect(await counts()).toEqual(callKinds.map(() => [expect.any(Number), 1]));
    for (const spy of logged) expect(spy).not.toHaveBeenCalled();
    jest.restoreAllMocks();
  });

  it('ends when the bank stops: hanging requests are closed, slow requests get their response', async () => {
    const other = await sandboxUnderTest();
    for (const kind of ['hang-after-effect', 'slow'])
      await other.call('POST', '/sandbox/faults', {
        body: { endpoint: 'transactions', kind, times: 1, delayMs: 600_000 },
      });
    const haveFired = async (count: number) => {
      const { faults } = (await other.call('GET', '/sandbox/faults')).body;
      expect(faults.filter(({ fired }: { fired: number }) => fired === 1)).toHaveLength(count);
    };
    const path = '/baas/api/v2/transactions';
    const hanging = failureOf(other.call('GET', path));
    await eventually(() => haveFired(1));
    const slow = other.call('GET', path);
    await eventually(() => haveFired(2));
    await other.stop();
    expect(await hanging).toBe('UND_ERR_SOCKET');
    expect((await slow).status).toBe(200);
  });
});

it('fails identically in every run with the same seed, and differently with another seed', async () => {
  const run = async (seed: number) => {
    const fresh = await sandboxUnderTest();
    try {
      for (const [kind, probability] of [
        ['error-before-effect', 0.3],
        ['garbage', 0.4],
      ])
        await fresh.call('POST', '/sandbox/faults', {
          body: { endpoint: '*', kind, probability, seed },
        });
      const outcomes = [];
      for (let call = 0; call < 50; call += 1) {
        const { status, text } = await fresh.call('GET', '/baas/api/v2/transactions', {
          mayBeSpoiled: true,
        });
        outcomes.push(status === 500 ? 'failed' : text);
      }
      return outcomes;
    } finally {
      await fresh.stop();
    }
  };
  const [first, same, other] = [await run(7), await run(7), await run(8)];
  expect(new Set(first).size).toBe(3);
  expect(same).toEqual(first);
  expect(other).not.toEqual(first);
});
