import { describe, expect, it } from '@jest/globals';
import { chooseOriginal, isWithinRefundWindow, type ReferencedLine } from './original-pix.js';

const received: ReferencedLine = {
  nsu: 7n,
  isCredit: true,
  amountCents: 1_000n,
  typeName: 'CREDIT_PIX',
  endToEndId: 'E88888888202611211200AAAAAAAAAAA',
  originalEndToEndId: null,
  counterparty: '88888888/1/2',
  occurredAt: new Date('2026-11-21T12:00:00Z'),
};

describe('the Pix that a reference names', () => {
  it('is the one received Pix among its lines', () => {
    const debit = { ...received, nsu: 6n, isCredit: false, typeName: 'DEBIT_PIX' };
    expect(chooseOriginal([debit, received])).toEqual({ outcome: 'chosen', original: received });
  });

  it('is none where there is no line', () =>
    expect(chooseOriginal([])).toEqual({ outcome: 'absent' }));

  it('is not chosen among several', () =>
    expect(chooseOriginal([received, { ...received, nsu: 8n }])).toEqual({ outcome: 'ambiguous' }));

  it.each([
    ['a debit', { isCredit: false, typeName: 'DEBIT_PIX' }],
    ['a slip through the clearing', { endToEndId: null, typeName: 'CREDIT_BANKSLIP' }],
    ['a Pix of ours that came back', { typeName: 'CREDIT_PIX_REVERSAL' }],
    ['a refund that we were given', { endToEndId: 'D8888', typeName: 'CREDIT_PIX_REFUND' }],
    ['a return that names what it returns', { originalEndToEndId: 'E1' }],
    ['a return by another name', { typeName: 'DEVOLUCAO_PIX' }],
  ])('is not %s', (_, changes) =>
    expect(chooseOriginal([{ ...received, ...changes }])).toEqual({ outcome: 'not_refundable' }),
  );
});

describe('the window of a refund', () => {
  const receivedAt = new Date('2026-11-21T02:59:59Z'); // 20 November in São Paulo

  it.each([
    ['2026-11-21T03:00:00Z', true],
    ['2027-02-19T02:59:59Z', true],
    ['2027-02-19T03:00:00Z', false],
  ])('at %s is open: %s', (now, isOpen) =>
    expect(isWithinRefundWindow(receivedAt, new Date(now))).toBe(isOpen),
  );
});
