import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { formatReais } from '../brazil/cents.js';
import { chargeRequest, chargeResponse } from './charges.js';

const request: Record<string, unknown> = {
  type: 'BANKSLIP_PIX',
  correlationId: 'order-1',
  yourNumber: '1',
  dueDate: '2030-12-31',
  Amount: new LosslessNumber('10.50'),
  payer: { name: 'Maria da Silva', document: '12345678909' },
};
const decode = (change: object = {}) =>
  z.safeDecode(chargeRequest, parse(stringify({ ...request, ...change }) ?? '') as never);
/** The paths of the request's errors. */
const errorPaths = (change: object) =>
  decode(change).error?.issues.map(({ path }) => path.map(String).join('.'));
const number = (value: string) => new LosslessNumber(value);

describe('a charge request', () => {
  it('is decoded with its amount in cents', () => {
    expect(decode().data).toMatchObject({ ...request, Amount: 1_050n });
  });

  it.each(['2026-02-30', 'tomorrow', '31/12/2026', '', '2026-12-31T00:00:00Z', 20261231, null])(
    'with the due date %j is rejected at dueDate',
    (dueDate) => expect(errorPaths({ dueDate })).toEqual(['dueDate']),
  );

  it.each(['0', '-1', '10.005', '1e12', '0.001'].map(number).concat('ten' as never))(
    'with the amount %s is rejected at Amount',
    (Amount) => expect(errorPaths({ Amount })).toEqual(['Amount']),
  );

  it.each([
    ['no amount', { Amount: undefined }, ['Amount']],
    ['an unknown type', { type: 'PIX' }, ['type']],
    ['no correlationId', { correlationId: undefined }, ['correlationId']],
    ['an empty correlationId', { correlationId: '' }, ['correlationId']],
    ['no payer', { payer: undefined }, ['payer']],
    ['a payer without a name', { payer: { document: '1' } }, ['payer.name']],
    ['a blank payer name', { payer: { name: ' ', document: '1' } }, ['payer.name']],
    ['a payer name with NUL', { payer: { name: 'a\0', document: '1' } }, ['payer.name']],
    ['an ourNumber and a QR code', { ourNumber: '1' }, ['ourNumber']],
    [
      'a discount whose date does not exist',
      { discount: { type: 'Fixed', items: [{ date: '2026-02-30', amount: number('1') }] } },
      ['discount.items.0.date'],
    ],
    [
      'a negative fine',
      { lateFine: { type: 'Fixed', date: '2030-12-31', amount: number('-1') } },
      ['lateFine.amount'],
    ],
  ])('with %s is rejected', (_, change, paths) => expect(errorPaths(change)).toEqual(paths));

  it.each([
    ['a fine of a type that the contract does not show', { lateFine: { type: 'Daily' } }],
    ['interest of zero', { latePayment: { type: 'Fixed', amount: number('0') } }],
    ['interest on a slip without a QR code', { type: 'BANKSLIP', latePayment: { type: 'Fixed' } }],
  ])('with %s is left to the bank', (_, change) => {
    const complete = Object.fromEntries(
      Object.entries(change as object).map(([field, value]) => [
        field,
        typeof value === 'string' ? value : { date: '2030-12-31', amount: number('1'), ...value },
      ]),
    );
    expect(errorPaths(complete)).toBeUndefined();
  });

  it('has an error for each invalid field', () => {
    const paths = errorPaths({ dueDate: 'tomorrow', Amount: number('0'), payer: {} });
    expect(paths?.sort()).toEqual(['Amount', 'dueDate', 'payer.document', 'payer.name']);
  });

  it('reads no field from __proto__', () => {
    const body = '{"__proto__":{"Amount":1,"dueDate":"2030-12-31"},"type":"BANKSLIP"}';
    const paths = z
      .safeDecode(chargeRequest, parse(body) as never)
      .error?.issues.map((i) => i.path[0]);
    expect(paths).toEqual(expect.arrayContaining(['Amount', 'dueDate', 'payer', 'correlationId']));
  });

  it('is encoded exactly as it was decoded, with its unknown fields', () => {
    const anyRequest = fc.record({
      Amount: fc
        .bigInt({ min: 1n, max: 99_999_999_999_999n })
        .map((cents) => number(formatReais(cents))),
      correlationId: fc.stringMatching(/^[\x21-\x2d\x2f-\x7e]{1,100}$/),
      yourNumber: fc.option(fc.stringMatching(/^[a-z0-9]{0,30}$/)),
      unknownField: fc.bigInt().map((value) => number(String(value))),
      payer: fc.record({
        name: fc.stringMatching(/^[A-Za-z][A-Za-z ]{0,50}$/),
        document: fc.constant('12345678909'),
        ratio: fc.constantFrom(number('0.10'), number('1e-30')),
      }),
    });
    fc.assert(
      fc.property(anyRequest, (change) => {
        const sent = { ...request, ...change };
        const decoded = z.decode(chargeRequest, parse(stringify(sent) ?? '') as never);
        const encoded = parse(stringify(z.encode(chargeRequest, decoded)) ?? '');
        expect(encoded).toEqual(parse(stringify(sent) ?? ''));
      }),
    );
  });
});

describe('a charge response', () => {
  it('has any type and preserves unknown fields and exact amounts', () => {
    const pix = {
      type: 'PIX_STATIC',
      correlationId: 'order-1',
      amount: number('10.5'),
      additionalInfo: [{ key: 'OurNumber', value: '1' }],
      status: 'Pending',
      qrCode: '000201',
      payments: [],
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-01-01T00:00:00Z',
      unknownField: { amount: number('1.10') },
    };
    const decoded = z.decode(chargeResponse, pix as never);
    expect(decoded).toMatchObject({ amount: 1_050n });
    const encoded = parse(stringify(z.encode(chargeResponse, decoded)) ?? '');
    expect(encoded).toEqual(parse(stringify(pix) ?? ''));
    const other = { ...pix, type: 'PIX_DYNAMIC' };
    expect(z.decode(chargeResponse, other as never)).toMatchObject({ type: 'PIX_DYNAMIC' });
  });
});
