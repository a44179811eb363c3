import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readWebhookBody, registeredEventTypes } from './webhook-body.js';

const payment = 'E00000000202605151236abcdefghijk';
const refund = 'D00000000202605151236abcdefghijk';
const read = (body: unknown, urlEventType: string | null = null) =>
  readWebhookBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), urlEventType);
const amountAndTime = { amount: 10.5, createdAt: '2025-05-15T12:36:48' };

// The shapes that are publicly known of the bank, each with what it must be found by.
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
    'CHARGE_PAID of the first version, which does not name itself',
    'CHARGE_PAID',
    { nsu: 77, correlationId: 'order-1', referenceId: payment, source: 'SPI', ...amountAndTime },
    'CHARGE_PAID',
    { kind: 'nsu', value: '77' },
  ],
  [
    'CHARGE_PAID of a slip, whose reference is no Pix',
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
    'CHARGE_VOIDED, a dump of the bank',
    'CHARGE_VOIDED',
    { id: 12, correlationId: 'order-1', status: 'Voided', payers: [], pix: { chargeId: 1 } },
    'CHARGE_VOIDED',
    { kind: 'correlation_id', value: 'order-1' },
  ],
  [
    'PIX_PAYMENT_UPDATED, whose body bears another name',
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
    'PIX_REFUND_PAYMENT_UPDATED, whose ids are nobody’s',
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
    'TRANSFER_INTERNAL_CREDITED, which names no id of the statement',
    null,
    { id: 'C-1', externalId: 'x', eventType: 'TRANSFER_INTERNAL_CREDITED', status: 'EFFECTIVE' },
    'TRANSFER_INTERNAL_CREDITED',
    null,
  ],
];

describe('a webhook of the bank', () => {
  it.each(published)('is read: %s', (_, urlEventType, body, eventType, reference) => {
    expect(read(body, urlEventType)).toEqual({ eventType, isQuarantined: false, reference });
  });

  it.each([...registeredEventTypes])('of the kind %s is never quarantined', (eventType) => {
    expect(read({}, eventType)).toEqual({ eventType, isQuarantined: false, reference: null });
    expect(read({ eventType })).toMatchObject({ eventType, isQuarantined: false });
    expect(read({}, eventType.toLowerCase())).toMatchObject({ eventType, isQuarantined: false });
  });

  it.each([
    ['INFRACTION_NOTIFICATION_CREATED', 'INFRACTION_NOTIFICATION_CREATED'],
    ['MED_REQUESTED', 'MED_REQUESTED'],
    ['../../etc/passwd', 'UNNAMED'],
    ['a b', 'UNNAMED'],
    ['X'.repeat(81), 'UNNAMED'],
    ['x\nforged log line', 'UNNAMED'],
    ['', 'UNNAMED'],
  ])('of a kind that nobody knows (%j) is kept, quarantined', (kind, eventType) => {
    const body = { correlationId: 'order-1' };
    const kept = { eventType, isQuarantined: true };
    expect(read(body, kind)).toMatchObject(kept);
    expect(read({ ...body, eventType: kind })).toMatchObject(kept);
  });

  it.each(['', '{', 'not json', '[]', '"CHARGE_PAID"', 'null', '5', '{"nsu":1,"nsu":2}', '\u0000'])(
    'that is no JSON object (%j) is kept, quarantined, by the name of its address',
    (body) => {
      const kept = { isQuarantined: true, reference: null };
      expect(read(body, 'CHARGE_PAID')).toEqual({ eventType: 'CHARGE_PAID', ...kept });
      expect(read(body)).toEqual({ eventType: 'UNNAMED', ...kept });
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
  ])('is found by the nsu %j only when a column can hold it', (nsu, value) => {
    const reference = value === null ? null : { kind: 'nsu', value };
    expect(read({ nsu }, 'CHARGE_PAID').reference).toEqual(reference);
  });

  it('keeps an nsu above 2^53 to the last digit', () => {
    expect(read('{"nsu":9007199254740993}').reference).toEqual({
      kind: 'nsu',
      value: '9007199254740993',
    });
  });

  it.each([5, null, {}, [], true, '', 'x'.repeat(101)])('has no correlationId in %j', (id) => {
    expect(read({ correlationId: id }, 'CHARGE_PAID').reference).toBeNull();
  });

  it('refers to nothing that PostgreSQL cannot hold, or that is empty', () => {
    expect(read({ correlationId: 'a\0b' }).reference).toEqual({
      kind: 'correlation_id',
      value: 'ab',
    });
    expect(read({ correlationId: '\0' }).reference).toBeNull();
  });

  it('is read or quarantined, never thrown at, whatever its bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.constant(Buffer.from('['.repeat(100_000))),
    );
    fc.assert(
      fc.property(bytes, fc.option(fc.string()), (body, urlEventType) => {
        const notice = readWebhookBody(body, urlEventType);
        expect(notice.eventType).toMatch(/^[A-Z0-9_]{1,80}$/);
        if (notice.reference) expect(notice.reference.value).not.toContain('\0');
      }),
      { numRuns: 500 },
    );
  });
});
