import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseReais } from '../money/cents.js';
import { parseJson, stringifyJson } from '../platform/exact-json.js';
import { chargeEvent, unexpectedEvent, type EventLine } from './line-events.js';

const line: EventLine = {
  nsu: 9_007_199_254_740_993n,
  isCredit: true,
  amountCents: 1_050n,
  typeName: 'CREDIT_PIX',
  correlationId: 'order-1',
  endToEndId: 'E00000000202601011200abcdefghijk',
  occurredAt: new Date('2026-01-01T12:00:00.123Z'),
};
const charge = { correlationId: 'order-1', type: 'BANKSLIP_PIX', amountCents: 1_050n };

it.each([
  ['settled', 'charge.paid'],
  ['partially_settled', 'charge.partially_paid'],
  ['overpaid', 'charge.overpaid'],
] as const)('reports a %s charge as %s', (settlement, type) => {
  expect(chargeEvent(line, charge, settlement)).toMatchObject({ type, data: { settlement } });
});

it('writes the nsu and the amounts of a payment exactly', () => {
  const { data } = chargeEvent(line, charge, 'settled');
  expect(stringifyJson(data)).toBe(
    '{"correlationId":"order-1","chargeType":"BANKSLIP_PIX","chargeAmount":10.5,"settlement":"settled",' +
      '"nsu":9007199254740993,"amount":10.5,"endToEndId":"E00000000202601011200abcdefghijk",' +
      '"occurredAt":"2026-01-01T12:00:00.123Z"}',
  );
});

it('reports a null charge amount when the payer chose it', () => {
  const { data } = chargeEvent(line, { ...charge, amountCents: null }, 'settled');
  expect(stringifyJson(data)).toContain('"chargeAmount":null');
});

it('reports an unexpected line with its direction and kind of break', () => {
  const debit = { ...line, isCredit: false, correlationId: null, endToEndId: null };
  expect(JSON.parse(stringifyJson(unexpectedEvent(debit, 'ambiguous')))).toEqual({
    type: 'transaction.unexpected',
    data: expect.objectContaining({
      breakKind: 'ambiguous',
      isCredit: false,
      transactionType: 'CREDIT_PIX',
      correlationId: null,
      endToEndId: null,
      amount: 10.5,
    }) as unknown,
  });
});

describe('an amount', () => {
  it('is read back from an event to the cent', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), (amountCents) => {
        const { data } = unexpectedEvent({ ...line, amountCents }, 'unexpected');
        const { amount } = parseJson(stringifyJson(data)) as { amount: { value: string } };
        expect(parseReais(amount.value)).toEqual({ ok: true, cents: amountCents });
      }),
    );
  });
});

it('reports only ids, amounts and times of a line', () => {
  const withMore = { ...line, notes: 'canary', content: 'canary', payer: { name: 'canary' } };
  expect(stringifyJson(unexpectedEvent(withMore, 'unexpected'))).not.toContain('canary');
  expect(stringifyJson(chargeEvent(withMore, charge, 'settled'))).not.toContain('canary');
});
