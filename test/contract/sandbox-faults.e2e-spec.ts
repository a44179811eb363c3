// Faults on the bank's calls: what the caller sees, and whether the effect is there all the same.
import { jest } from '@jest/globals';
import { servedRoutes } from '../../src/platform/api-reference.js';
import { endpointsOfRoutes, isTool } from '../../src/sandbox/faults/bank-call.js';
import { callKinds } from '../../src/sandbox/faults/fault.js';
import { SandboxSettings } from '../../src/sandbox/sandbox-database.service.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKey, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());
afterEach(() => bank.call('DELETE', '/sandbox/faults'));

const ask = async (fault: Record<string, unknown>) => {
  const answer = await bank.call('POST', '/sandbox/faults', { body: fault });
  expect(answer.status).toBe(200);
  return answer.body;
};
const counts = async () =>
  (await bank.call('GET', '/sandbox/faults')).body.faults.map(
    ({ chances, fired }: { chances: number; fired: number }) => [chances, fired],
  );
const charge = (body: unknown) => bank.call('POST', '/baas/v1/charges', { body });
const find = async (correlationId: string) =>
  (await bank.call('GET', `/baas/v1/charges/${correlationId}`)).status;
const statement = () => bank.call('GET', '/baas/api/v2/transactions');
/** Fails, telling how the connection ended, when the call was answered. */
const failureOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason as { name: string; cause?: { code?: string } },
  );
  expect(error?.name).toBe('TypeError');
  return error?.cause?.code ?? '';
};

it('knows the endpoint of every call of the bank', () => {
  const unknown = servedRoutes(bank.application).filter(
    (route) => !isTool(route) && !(route.name in endpointsOfRoutes),
  );
  expect(unknown.map(({ name }) => name)).toEqual([]);
});

describe('a call', () => {
  it('fails before its effect with the error body of the contract, and does nothing', async () => {
    await ask({ endpoint: 'charges', kind: 'error-before-effect', times: 1 });
    const request = slip();
    const answer = await charge(request);
    expectError(answer, 500);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await find(request.correlationId)).toBe(404);
    expect((await charge(request)).status).toBe(200);
  });

  it('fails after its effect, which a repeat then gets the answer of', async () => {
    await ask({ endpoint: 'charges', kind: 'error-after-effect', times: 1 });
    const request = slip();
    expectError(await charge(request), 500);
    expect(await find(request.correlationId)).toBe(200);
    const repeat = await charge(request);
    expect(repeat.status).toBe(200);
    expect(repeat.body.correlationId).toBe(request.correlationId);
  });

  it('hangs after its effect and is closed without an answer; its key then gets the answer', async () => {
    await ask({ endpoint: 'qrcode', kind: 'hang-after-effect', times: 1, delayMs: 250 });
    const [request, headers] = [staticQr(), newKey()];
    const path = '/baas/api/v2/pix/qrcode/static';
    const startedAt = performance.now();
    const lost = bank.call('POST', path, { body: request, headers });
    expect(await failureOf(lost)).toBe('UND_ERR_SOCKET');
    expect(performance.now() - startedAt).toBeGreaterThan(240);
    expect(await find(request.correlationId)).toBe(200);
    const answers = [];
    for (let repeat = 0; repeat < 2; repeat += 1)
      answers.push(await bank.call('POST', path, { body: request, headers }));
    expect(answers[0]).toMatchObject({ status: 200, text: answers[1]?.text });
  });

  it('is reset after its effect', async () => {
    await ask({ endpoint: 'charges', kind: 'reset-after-effect', times: 1 });
    const request = slip();
    expect(await failureOf(charge(request))).toBe('ECONNRESET');
    expect(await find(request.correlationId)).toBe(200);
  });

  it('is answered with less than it announces', async () => {
    const payer = { name: 'João Aragão', document: '52998224725' };
    await bank.call('POST', '/sandbox/pix/received', { body: { amount: 1, payer } });
    const { text } = await statement();
    const whole = Buffer.from(text);
    await ask({ endpoint: 'transactions', kind: 'truncated', times: 1 });
    const response = await fetch(`${await bank.application.getUrl()}/baas/api/v2/transactions`, {
      headers: { 'x-service-api-key': 'sandbox-dev-key' },
    });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBe(whole.length);
    expect(response.headers.get('x-trace-id')).toMatch(/.+/);
    const received: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        received.push(chunk);
    })();
    expect(await failureOf(reading)).toBe('UND_ERR_SOCKET');
    const half = whole.subarray(0, Math.floor(whole.length / 2));
    expect(Buffer.concat(received).equals(half)).toBe(true);
    expect((await statement()).text).toBe(text);
  });

  it('is answered with HTML, or with nothing, and its effect is there', async () => {
    await ask({ endpoint: 'charges', kind: 'garbage', times: 1 });
    await ask({ endpoint: 'charges', kind: 'empty', times: 1 });
    const [first, second] = [slip(), slip()];
    const html = await charge(first);
    expect(html).toMatchObject({ status: 200, text: expect.stringMatching(/^<!DOCTYPE html>/) });
    expect(html.headers.get('content-type')).toContain('text/html');
    expect(await charge(second)).toMatchObject({ status: 200, text: '' });
    expect(await find(first.correlationId)).toBe(200);
    expect(await find(second.correlationId)).toBe(200);
  });

  it('is slow and then answered as it would have been', async () => {
    const { text } = await statement();
    await ask({ endpoint: 'transactions', kind: 'slow', times: 1, delayMs: 250 });
    const startedAt = performance.now();
    expect(await statement()).toMatchObject({ status: 200, text });
    expect(performance.now() - startedAt).toBeGreaterThan(240);
  });
});

describe('a fault', () => {
  it('is not used up by a refusal, nor by a call without a key', async () => {
    await ask({ endpoint: 'charges', kind: 'error-after-effect', times: 1 });
    await ask({ endpoint: 'charges', kind: 'garbage', times: 1 });
    expectError(await charge(slip({ Amount: -1 })), 400);
    expect((await bank.call('POST', '/baas/v1/charges', { apiKey: null })).status).toBe(401);
    expect(await counts()).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('spares reads beside an endpoint’s effects unless it names the method', async () => {
    const request = slip();
    await charge(request);
    await ask({ endpoint: 'charges', kind: 'error-before-effect' });
    expect(await find(request.correlationId)).toBe(200);
    expect((await charge(slip())).status).toBe(500);
    await bank.call('DELETE', '/sandbox/faults');
    await ask({ endpoint: 'charges', kind: 'error-before-effect', method: 'GET' });
    expect(await find(request.correlationId)).toBe(500);
    expect((await charge(slip())).status).toBe(200);
  });

  it('spares the control plane, the simulations, the health and the reference', async () => {
    const request = slip();
    await charge(request);
    await ask({ endpoint: '*', kind: 'error-before-effect' });
    const path = `/baas/v1/charges/${request.correlationId}`;
    expect((await bank.call('PUT', `${path}/expire`)).status).toBe(200);
    expect((await bank.call('POST', `${path}/pay`)).status).toBe(200);
    for (const open of ['/sandbox/ledger', '/sandbox/modes', '/health/live', '/docs'])
      expect((await bank.call('GET', open)).status).toBe(200);
    expect((await statement()).status).toBe(500);
  });

  it('is logged neither as an error nor as a warning', async () => {
    const { log } = bank.application.get(SandboxSettings);
    const logged = [jest.spyOn(log, 'error'), jest.spyOn(log, 'warn')];
    for (const kind of callKinds) {
      await ask({ endpoint: 'charges', kind, times: 1, delayMs: 0 });
      await charge(slip()).catch(() => null);
    }
    expect(await counts()).toEqual(callKinds.map(() => [expect.any(Number), 1]));
    for (const spy of logged) expect(spy).not.toHaveBeenCalled();
    jest.restoreAllMocks();
  });

  it('ends with the bank: what hangs is cut, what is slow is answered', async () => {
    const other = await sandboxUnderTest();
    for (const kind of ['hang-after-effect', 'slow'])
      await other.call('POST', '/sandbox/faults', {
        body: { endpoint: 'transactions', kind, times: 1, delayMs: 600_000 },
      });
    const isHeld = async (count: number) => {
      const { faults } = (await other.call('GET', '/sandbox/faults')).body;
      expect(faults.filter(({ fired }: { fired: number }) => fired === 1)).toHaveLength(count);
    };
    const path = '/baas/api/v2/transactions';
    const hanging = failureOf(other.call('GET', path));
    await eventually(() => isHeld(1));
    const slow = other.call('GET', path);
    await eventually(() => isHeld(2));
    await other.stop();
    expect(await hanging).toBe('UND_ERR_SOCKET');
    expect((await slow).status).toBe(200);
  });
});

it('fails alike in every run of a seed, and otherwise by another', async () => {
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
        const { status, text } = await fresh.call('GET', '/baas/api/v2/transactions');
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
