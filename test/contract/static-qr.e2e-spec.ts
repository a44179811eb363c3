import { createRequire } from 'node:module';
import jsQR from 'jsqr';
import { parseBrCode } from '../../src/brazil/br-code.js';
import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey, staticQr } from './samples.js';

// The package has no types.
const { PNG } = createRequire(import.meta.url)('pngjs') as {
  PNG: { sync: { read(bytes: Buffer): { data: Buffer; width: number; height: number } } };
};

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const create = (body: unknown, headers: Record<string, string> = newKey()) =>
  bank.call('POST', '/baas/api/v2/pix/qrcode/static', { body, headers });

/** What a QR reader sees in a data URI. */
function decode(dataUri: string): string | undefined {
  const [head, base64 = ''] = dataUri.split(',');
  expect(head).toBe('data:image/png;base64');
  const { data, width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  return jsQR.default(new Uint8ClampedArray(data), width, height)?.data;
}

describe('POST /baas/api/v2/pix/qrcode/static', () => {
  it('answers a payload that carries what was asked, and its picture', async () => {
    const request = staticQr({ amount: 25.5, additionalInformation: 'Pedido 42' });
    const { status, body } = await create(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      transactionId: expect.stringMatching(/.+/),
      correlationId: request.correlationId,
      amount: 25.5,
      pixKey: expect.stringMatching(/.+/),
      beneficiaryName: expect.stringMatching(/.+/),
      address: {
        cityName: expect.any(String),
        zipCode: expect.any(String),
        uf: expect.any(String),
        state: expect.any(String),
        street: expect.any(String),
      },
      additionalInfo: 'Pedido 42',
      createdAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(parseBrCode(body.payloadPix)).toMatchObject({
      ok: true,
      brCode: {
        kind: 'STATIC',
        pixKey: body.pixKey,
        amountCents: 2_550n,
        additionalInformation: 'Pedido 42',
        txid: expect.stringMatching(/^[A-Za-z0-9]{1,25}$/),
      },
    });
    expect(decode(body.base64Image)).toBe(body.payloadPix);
  });

  it('lets the payer choose when no amount is given', async () => {
    const { status, body } = await create(staticQr({ amount: undefined }));
    expect(status).toBe(200);
    expect(body.amount ?? null).toBeNull();
    expect(parseBrCode(body.payloadPix)).toMatchObject({ ok: true, brCode: { amountCents: null } });
  });

  it('takes the header in any letter case and the other spelling of the text', async () => {
    const request = staticQr({ additionalInfo: 'Mesa 7', formatResponse: 'PAYLOAD_AND_QRCODE' });
    const headers = { idempotencyKey: newKey().IdempotencyKey };
    const { status, body } = await create(request, headers);
    expect(status).toBe(200);
    expect(body.additionalInfo).toBe('Mesa 7');
  });

  it('gives different codes to different charges', async () => {
    const [one, other] = await Promise.all([create(staticQr()), create(staticQr())]);
    expect(one.body.payloadPix).not.toBe(other.body.payloadPix);
    expect(one.body.transactionId).not.toBe(other.body.transactionId);
  });

  it('refuses a request without IdempotencyKey', async () =>
    expectError(await create(staticQr(), {}), 400));

  it('refuses a request without correlationId', async () =>
    expectError(await create(staticQr({ correlationId: undefined })), 400, '$.correlationId'));

  it.each(['0', '-1', '10.005', '"ten"'])('refuses the amount %s on $.amount', async (amount) => {
    const text = JSON.stringify(staticQr()).replace('25.5', amount);
    expectError(await create(text), 400, '$.amount');
  });

  it('refuses an additional information of more than 64 characters', async () =>
    expectError(
      await create(staticQr({ additionalInformation: 'a'.repeat(65) })),
      400,
      '$.additionalInformation',
    ));
});
