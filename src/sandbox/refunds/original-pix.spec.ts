import { chooseReceivedPix, isWithinRefundWindow } from './original-pix.js';
import type { ReferencedLine } from './refunds.queries.js';

const credit: ReferencedLine = {
  nsu: 1n,
  changeCents: 100n,
  typeName: 'CREDIT_PIX',
  endToEndId: 'E1',
  proof: null,
  createdAt: new Date(0),
};

it.each<[string, Partial<ReferencedLine>[], string]>([
  ['no line', [], 'absent'],
  ['a received Pix', [{}], 'chosen'],
  ['a received Pix beside a paid slip', [{ typeName: 'CREDIT_BANKSLIP' }, {}], 'chosen'],
  ['two received Pix', [{}, { nsu: 2n }], 'ambiguous'],
  ['a paid slip', [{ typeName: 'CREDIT_BANKSLIP', endToEndId: null }], 'not_refundable'],
  ['a sent Pix', [{ typeName: 'DEBIT_PIX', changeCents: -100n }], 'not_refundable'],
  ['a refund', [{ typeName: 'DEBIT_PIX_REFUND', changeCents: -1n }], 'not_refundable'],
  ['the return of a sent Pix', [{ typeName: 'CREDIT_PIX_REFUND' }], 'not_refundable'],
  ['a Pix without an id', [{ endToEndId: null }], 'not_refundable'],
])('classifies %s', (_, lines, outcome) => {
  expect(chooseReceivedPix(lines.map((line) => ({ ...credit, ...line })))).toMatchObject({
    outcome,
  });
});

it.each([
  // 22:00 of 21 November in São Paulo; the ninetieth day is 19 February.
  ['2026-11-22T01:00:00Z', '2027-02-20T02:59:59.999Z', true],
  ['2026-11-22T01:00:00Z', '2027-02-20T03:00:00.000Z', false],
  ['2026-11-21T03:00:00Z', '2027-02-20T02:59:59.999Z', true],
  ['2026-11-21T02:59:59Z', '2027-02-19T03:00:00.000Z', false],
  ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00Z', true],
])('allows a refund of a Pix received at %s at the time %s: %p', (receivedAt, now, expected) => {
  expect(isWithinRefundWindow(new Date(receivedAt), new Date(now))).toBe(expected);
});
