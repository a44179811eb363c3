// The mode `idempotentRepeat` decides what a repeat gets: the first response, a conflict or a
// second effect. Tested for every call with an IdempotencyKey.
import { randomUUID } from 'node:crypto';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip, staticQr } from './samples.js';
import { batchItem, internalTransfer, manualTransfer, transferCalls } from './transfer-samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  // A Thursday, 10:00 in São Paulo, when bills are paid at once.
  await post('/sandbox/clock', { now: '2027-11-18T13:00:00Z' });
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  bank.call('POST', path, { body, headers });
const setMode = (idempotentRepeat: string) =>
  bank.call('PATCH', '/sandbox/modes', { body: { idempotentRepeat } });
const { send, sendBatch, newEndToEndId } = transferCalls(() => bank);
const movements = async () =>
  (await bank.call('GET', '/sandbox/ledger?account=1000001')).body.movements.length;

type Call = (headers: Record<string, string>) => ReturnType<typeof send>;

/** Each creates a request that can be repeated with the same or another key. */
const requests: Record<string, () => Promise<Call> | Call> = {
  'transfer between accounts': () => {
    const body = internalTransfer();
    return (headers) => send(body, headers);
  },
  'manual Pix': () => {
    const body = manualTransfer({ description: randomUUID() });
    return (headers) => send(body, headers);
  },
  'Pix by key': async () => {
    const body = { amount: 1, initiationType: 'KEY', endToEndId: await newEndToEndId() };
    return (headers) => send(body, headers);
  },
  batch: () => {
    const body = [batchItem()];
    return (headers) => sendBatch(body, headers);
  },
  'bill payment': async () => {
    const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 5 };
    const { barCode } = (await post('/sandbox/bills', bill)).body;
    return (headers) => post('/baas/api/v1/bill-payments', { amount: 5, barCode }, headers);
  },
  'static QR code': () => {
    const body = staticQr();
    return (headers) => post('/baas/api/v2/pix/qrcode/static', body, headers);
  },
};

/**
 * The status of a repeat when keys are ignored: 200 unless another rule forbids a second effect.
 */
const whenIgnored: Record<string, number> = {
  'transfer between accounts': 200,
  'manual Pix': 200,
  // A look-up can begin one transfer, a bill is paid once, and a correlationId is unique.
  'Pix by key': 422,
  batch: 200,
  'bill payment': 422,
  'static QR code': 409,
};

describe.each(Object.keys(requests))('a repeat of the key of a %s', (name) => {
  it('is replayed, refused or executed, depending on the mode idempotentRepeat', async () => {
    const call = await requests[name]!();
    const headers = newKeyHeader();
    const first = await call(headers);
    expect(first.status).toBe(200);
    const moved = await movements();

    const replayed = await call(headers);
    expect([replayed.status, replayed.text]).toEqual([200, first.text]);
    await setMode('conflict');
    expectError(await call(headers), 409);
    expect(await movements()).toBe(moved);

    await setMode('ignore');
    const again = await call(headers);
    expect(again.status).toBe(whenIgnored[name]);
    const isSecond = again.status === 200;
    expect(await movements()).toBe(moved + (isSecond ? 1 : 0));
    if (isSecond) expect(again.text).not.toBe(first.text);
  });

  it('is refused with another body', async () => {
    const [first, other] = [await requests[name]!(), await requests[name]!()];
    const key = newKeyHeader();
    expect((await first(key)).status).toBe(200);
    expectError(await other(key), 422);
  });
});

it('leaves a key free after a refusal', async () => {
  const [headers, poor] = [newKeyHeader(), 'sandbox-dev-key-2'];
  const refused = await send(manualTransfer({ amount: 6_000 }), headers, poor);
  expect(refused.body.code).toBe('insufficient_funds');
  expect((await send(manualTransfer({ amount: 6 }), headers, poor)).status).toBe(200);
});

it('identifies a repeated charge by its correlationId, which is unique in every mode', async () => {
  const request = slip();
  const first = await post('/baas/v1/charges', request);
  expect((await post('/baas/v1/charges', request)).text).toBe(first.text);
  for (const mode of ['conflict', 'ignore']) {
    await setMode(mode);
    expectError(await post('/baas/v1/charges', request), 409);
  }
});

it('pays the amount of the mode freeAmountPayment on a QR code without an amount', async () => {
  const request = staticQr({ amount: undefined });
  await post('/baas/api/v2/pix/qrcode/static', request, newKeyHeader());
  const pay = () => post(`/baas/v1/charges/${request.correlationId}/pay`, {});
  expect((await pay()).body.amount).toBe(1);
  await bank.call('PATCH', '/sandbox/modes', { body: { freeAmountPayment: 7.25 } });
  expect((await pay()).body.amount).toBe(7.25);
});
