import { describe, expect, it } from '@jest/globals';
import {
  chooseRefundOriginal,
  isRefundWindowOpen,
  type ReferencedStatementLine,
} from './received-pix.js';

const received: ReferencedStatementLine = {
  nsu: 7n,
  isCredit: true,
  amountCents: 1_000n,
  typeName: 'CREDIT_PIX',
  endToEndId: 'E88888888202611211200AAAAAAAAAAA',
  originalEndToEndId: null,
  idempotencyKey: null,
  movementId: null,
  isReceivedPix: true,
  counterparty: '88888888/1/2',
  occurredAt: new Date('2026-11-21T12:00:00Z'),
};

describe('the received Pix of a reference', () => {
  it('is the only received Pix among its lines', () => {
    const debit = { ...received, nsu: 6n, isCredit: false, isReceivedPix: false };
    expect(chooseRefundOriginal([debit, received])).toEqual({
      outcome: 'chosen',
      original: received,
    });
  });

  it('is absent when no line matches', () =>
    expect(chooseRefundOriginal([])).toEqual({ outcome: 'absent' }));

  it('is ambiguous when several lines are received Pix', () =>
    expect(chooseRefundOriginal([received, { ...received, nsu: 8n }])).toEqual({
      outcome: 'ambiguous',
    }));

  it('is never another line', () =>
    expect(chooseRefundOriginal([{ ...received, isReceivedPix: false }])).toEqual({
      outcome: 'not_refundable',
    }));
});

describe('the refund window of a Pix', () => {
  const receivedAt = new Date('2026-11-21T02:59:59Z'); // 20 November in São Paulo

  it.each([
    ['2026-11-21T03:00:00Z', true],
    ['2027-02-19T02:59:59Z', true],
    ['2027-02-19T03:00:00Z', false],
  ])('at %s is open: %s', (now, isOpen) =>
    expect(isRefundWindowOpen(receivedAt, new Date(now))).toBe(isOpen),
  );
});
