import { createRequire } from 'node:module';
import jsQR from 'jsqr';
import { parseBrCode } from '../../src/brazil/br-code.js';
import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, staticQr } from './samples.js';

// The package has no types.
const { PNG } = createRequire(import.meta.url)('pngjs') as {
  PNG: { sync: { read(bytes: Buffer): { data: Buffer; width: number; height: number } } };
};

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const create = (body: unknown, headers: Record<string, string> = newKeyHeader()) =>
  bank.call('POST', '/baas/api/v2/pix/qrcode/static', { body, headers });

/** Reads the QR code in the image of a data URI. */
function readQrCode(dataUri: string): string | undefined {
  const [prefix, base64 = ''] = dataUri.split(',');
  expect(prefix).toBe('data:image/png;base64');
  const { data, width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  return jsQR.default(new Uint8ClampedArray(data), width, height)?.data;
}

describe('POST /baas/api/v2/pix/qrcode/static', () => {
  it('returns a payload with the requested values, and its image', async () => {
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
    expect(readQrCode(body.base64Image)).toBe(body.payloadPix);
  });

  it('lets the payer choose the amount when the request has none', async () => {
    const { status, body } = await create(staticQr({ amount: undefined }));
    expect(status).toBe(200);
    expect(body.amount ?? null).toBeNull();
    expect(parseBrCode(body.payloadPix)).toMatchObject({ ok: true, brCode: { amountCents: null } });
  });

  it('accepts the header in any letter case, and additionalInfo for additionalInformation', async () => {
    const request = staticQr({ additionalInfo: 'Mesa 7', formatResponse: 'PAYLOAD_AND_QRCODE' });
    const headers = { idempotencyKey: newKeyHeader().IdempotencyKey };
    const { status, body } = await create(request, headers);
    expect(status).toBe(200);
    expect(body.additionalInfo).toBe('Mesa 7');
  });

  it('returns different codes for different charges', async () => {
    const [first, second] = await Promise.all([create(staticQr()), create(staticQr())]);
    expect(first.body.payloadPix).not.toBe(second.body.payloadPix);
    expect(first.body.transactionId).not.toBe(second.body.transactionId);
  });

  it('rejects a request without correlationId', async () =>
    expectError(await create(staticQr({ correlationId: undefined })), 400, '$.correlationId'));

  it.each(['0', '-1', '10.005', '"ten"'])('rejects the amount %s at $.amount', async (amount) => {
    const text = JSON.stringify(staticQr()).replace('25.5', amount);
    expectError(await create(text), 400, '$.amount');
  });

  it('returns the 64 characters of additionalInformation whole, and as many in the payload as fit', async () => {
    const additionalInformation = `Pedido n.º 42 de São João, ${'x'.repeat(37)}`;
    expect(additionalInformation).toHaveLength(64);
    const { status, body } = await create(staticQr({ additionalInformation }));
    expect(status).toBe(200);
    expect(body.additionalInfo).toBe(additionalInformation);
    const parsed = parseBrCode(body.payloadPix);
    const shown = parsed.ok ? parsed.brCode.additionalInformation : null;
    expect(shown?.length).toBeGreaterThan(0);
    expect(`Pedido n. 42 de Sao Joao, ${'x'.repeat(37)}`.startsWith(shown ?? '-')).toBe(true);
    expect(readQrCode(body.base64Image)).toBe(body.payloadPix);
  });

  it('rejects an additionalInformation of more than 64 characters', async () =>
    expectError(
      await create(staticQr({ additionalInformation: 'a'.repeat(65) })),
      400,
      '$.additionalInformation',
    ));
});

describe('reading a static QR code', () => {
  const read = (identifier: string) =>
    bank.call('GET', `/baas/api/v2/pix/qrcode/static/${encodeURIComponent(identifier)}`);

  it('returns it by its correlationId and transactionId, as it was created', async () => {
    const { body } = await create(staticQr({ amount: 4 }));
    for (const identifier of [body.correlationId, body.transactionId])
      expect((await read(identifier)).body).toMatchObject({ ...body, status: 'Created' });
    expectError(await read('unknown'), 404);
  });

  it('lists no payment of a new QR code', async () => {
    const { body } = await create(staticQr());
    const { status, body: payments } = await read(`${body.correlationId}`).then(() =>
      bank.call('GET', `/baas/api/v2/pix/qrcode/static/${body.correlationId}/payments`),
    );
    expect([status, payments]).toEqual([200, []]);
  });
});
