import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readWebhookBody, registeredEventTypes } from './webhook-body.js';

const payment = 'E00000000202605151236abcdefghijk';
const refund = 'D00000000202605151236abcdefghijk';
const read = (body: unknown, urlEventType: string | null = null) =>
  readWebhookBody(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    urlEventType,
  );
const amountAndTime = { amount: 10.5, createdAt: '2025-05-15T12:36:48' };

// The publicly known shapes of the bank's webhooks, each with its event type and reference.
const published: [string, string | null, object, string, object | null][] = [
  [
    'PIX_RECEIVED',
    null,
    {
      eventType: 'PIX_RECEIVED',
      correlationId: 'order-1',
      referenceId: payment,
      endToEndId: payment,
      ...amountAndTime,
      proof: { eventType: 'PIX_PAYMENT_EFFECTIVE', endToEndId: 'other', nsu: 9 },
    },
    'PIX_RECEIVED',
    { kind: 'end_to_end_id', value: payment },
  ],
  [
    'CHARGE_PAID of the first version, without an eventType',
    'CHARGE_PAID',
    { nsu: 77, correlationId: 'order-1', referenceId: payment, source: 'SPI', ...amountAndTime },
    'CHARGE_PAID',
    { kind: 'nsu', value: '77' },
  ],
  [
    'CHARGE_PAID of a bank slip, whose referenceId is not an endToEndId',
    'CHARGE_PAID',
    { correlationId: 'order-1', referenceId: '20250515123648', source: 'PCR', ...amountAndTime },
    'CHARGE_PAID',
    { kind: 'correlation_id', value: 'order-1' },
  ],
  [
    'CHARGE_PAID_V2, sent to the address of CHARGE_PAID',
    'CHARGE_PAID',
    { eventType: 'CHARGE_PAID_V2', correlationId: 'order-1', ourNumber: '1', ...amountAndTime },
    'CHARGE_PAID',
    { kind: 'correlation_id', value: 'order-1' },
  ],
  [
    'CHARGE_VOIDED, with the fields of the charge',
    'CHARGE_VOIDED',
    { id: 12, correlationId: 'order-1', status: 'Voided', payers: [], pix: { chargeId: 1 } },
    'CHARGE_VOIDED',
    { kind: 'correlation_id', value: 'order-1' },
  ],
  [
    'PIX_PAYMENT_UPDATED, whose body has another eventType',
    null,
    {
      eventType: 'PIX_PAYMENT_ERROR',
      endToEndId: payment,
      idempotencyKey: 'k',
      status: 'PIX_ERROR',
    },
    'PIX_PAYMENT_ERROR',
    { kind: 'end_to_end_id', value: payment },
  ],
  [
    'PIX_REFUND_PAYMENT_UPDATED, whose idempotencyKey is another Pix',
    null,
    {
      eventType: 'PIX_REFUND_PAYMENT_ERROR',
      endToEndId: refund,
      idempotencyKey: payment,
      correlationId: null,
      error: { code: 'DEL20' },
    },
    'PIX_REFUND_PAYMENT_ERROR',
    { kind: 'end_to_end_id', value: refund },
  ],
  [
    'PIX_REFUNDED',
    null,
    { eventType: 'PIX_REFUNDED', endToEndId: refund, originalEndToEndId: payment, externalId: 'x' },
    'PIX_REFUNDED',
    { kind: 'end_to_end_id', value: refund },
  ],
  [
    'TRANSFER_INTERNAL_CREDITED, without an id that the statement shows',
    null,
    { id: 'C-1', externalId: 'x', eventType: 'TRANSFER_INTERNAL_CREDITED', status: 'EFFECTIVE' },
    'TRANSFER_INTERNAL_CREDITED',
    null,
  ],
];

describe('readWebhookBody', () => {
  it.each(published)('reads %s', (_, urlEventType, body, eventType, reference) => {
    expect(read(body, urlEventType)).toEqual({ eventType, isQuarantined: false, reference });
  });

  it.each([...registeredEventTypes])('never quarantines %s', (eventType) => {
    expect(read({}, eventType)).toEqual({ eventType, isQuarantined: false, reference: null });
    expect(read({ eventType })).toMatchObject({ eventType, isQuarantined: false });
    expect(read({}, eventType.toLowerCase())).toMatchObject({ eventType, isQuarantined: false });
  });

  it.each([
    ['PIX_AUTOMATIC_CANCELLED', 'PIX_AUTOMATIC_CANCELLED'],
    ['SOMETHING_NEW', 'SOMETHING_NEW'],
    ['../../etc/passwd', 'UNNAMED'],
    ['a b', 'UNNAMED'],
    ['X'.repeat(81), 'UNNAMED'],
    ['x\nforged log line', 'UNNAMED'],
    ['', 'UNNAMED'],
  ])('quarantines an unknown event type (%j)', (unknown, eventType) => {
    const body = { correlationId: 'order-1' };
    const quarantined = { eventType, isQuarantined: true };
    expect(read(body, unknown)).toMatchObject(quarantined);
    expect(read({ ...body, eventType: unknown })).toMatchObject(quarantined);
  });

  it.each(['', '{', 'not json', '[]', '"CHARGE_PAID"', 'null', '5', '{"nsu":1,"nsu":2}', '\u0000'])(
    'quarantines a body that is not a JSON object (%j) under the event type of the URL',
    (body) => {
      const quarantined = { isQuarantined: true, reference: null };
      expect(read(body, 'CHARGE_PAID')).toEqual({ eventType: 'CHARGE_PAID', ...quarantined });
      expect(read(body)).toEqual({ eventType: 'UNNAMED', ...quarantined });
    },
  );

  it.each<[unknown, string | null]>([
    ['9007199254740993', '9007199254740993'],
    ['0077', '0077'],
    ['9'.repeat(18), '9'.repeat(18)],
    ['9'.repeat(19), null],
    ['-1', null],
    ['1.0', null],
    ['1 OR 1=1', null],
    ['٧٧', null],
    [{}, null],
  ])('reads the nsu %j only where a bigint column can store it', (nsu, value) => {
    const reference = value === null ? null : { kind: 'nsu', value };
    expect(read({ nsu }, 'CHARGE_PAID').reference).toEqual(reference);
  });

  it('reads an nsu above 2^53 exactly', () => {
    expect(read('{"nsu":9007199254740993}').reference).toEqual({
      kind: 'nsu',
      value: '9007199254740993',
    });
  });

  it.each([5, null, {}, [], true, '', 'x'.repeat(201)])(
    'reads no reference from the correlationId %j',
    (id) => {
      expect(read({ correlationId: id }, 'CHARGE_PAID').reference).toBeNull();
    },
  );

  it('removes NUL characters from a correlationId, and ignores an empty one', () => {
    expect(read({ correlationId: 'a\0b' }).reference).toEqual({
      kind: 'correlation_id',
      value: 'ab',
    });
    expect(read({ correlationId: '\0' }).reference).toBeNull();
  });

  it('does not throw, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.constant(Buffer.from('['.repeat(100_000))),
    );
    fc.assert(
      fc.property(bytes, fc.option(fc.string()), (body, urlEventType) => {
        const { eventType, reference } = readWebhookBody(body, urlEventType);
        expect(eventType).toMatch(/^[A-Z0-9_]{1,80}$/);
        if (reference) expect(reference.value).not.toContain('\0');
      }),
      { numRuns: 500 },
    );
  });
});
