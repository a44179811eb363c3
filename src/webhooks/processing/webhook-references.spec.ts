import { expect, it } from '@jest/globals';
import { readReportedReferences } from './webhook-references.js';

const read = (eventType: string, fields: object) =>
  readReportedReferences(eventType, Buffer.from(JSON.stringify(fields)));
const refund = { amount: 12.34, idempotencyKey: 'k', originalEndToEndId: 'E1', status: 'DONE' };

it.each<[string, object, object]>([
  [
    'CHARGE_PAID',
    { amount: 10, correlationId: 'c', idempotencyKey: 'of the payer' },
    { isCredit: true, amountCents: 1_000n, references: [{ kind: 'correlation_id', value: 'c' }] },
  ],
  [
    'PIX_REFUND_PAYMENT_UPDATED',
    refund,
    {
      ...{ isCredit: false, amountCents: 1_234n },
      references: [
        { kind: 'idempotency_key', value: 'k' },
        { kind: 'original_end_to_end_id', value: 'E1' },
      ],
    },
  ],
])('reads the ids of %s', (eventType, fields, result) =>
  expect(read(eventType, fields)).toEqual(result),
);

it.each<[string, string, object]>([
  ['an error', 'PIX_REFUND_PAYMENT_UPDATED', { ...refund, error: { code: 'DEL20' } }],
  ['a failure', 'PIX_REFUND_PAYMENT_UPDATED', { ...refund, status: 'PIX_ERROR' }],
  ['no amount', 'PIX_REFUND_PAYMENT_UPDATED', { ...refund, amount: undefined }],
  ['no amount of cents', 'PIX_REFUND_PAYMENT_UPDATED', { ...refund, amount: 0.001 }],
  ['no id', 'CHARGE_PAID', { amount: 10, correlationId: '' }],
  ['no known direction', 'PIX_PAYMENT_ERROR', refund],
])('reads nothing of a webhook with %s', (_, eventType, fields) =>
  expect(read(eventType, fields)).toBeNull(),
);
