import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { formatReais } from '../money/cents.js';
import { chargeRequest, chargeResponse } from './charges.js';

const request: Record<string, unknown> = {
  type: 'BANKSLIP_PIX',
  correlationId: 'order-1',
  yourNumber: '1',
  dueDate: '2030-12-31',
  Amount: new LosslessNumber('10.50'),
  payer: { name: 'Maria da Silva', document: '12345678909' },
};
const read = (change: object = {}) =>
  z.safeDecode(chargeRequest, parse(stringify({ ...request, ...change }) ?? '') as never);
/** The paths that a request is refused at. */
const refusedAt = (change: object) =>
  read(change).error?.issues.map(({ path }) => path.map(String).join('.'));
const number = (value: string) => new LosslessNumber(value);

describe('the charge request', () => {
  it('is read, its amount in centavos', () => {
    expect(read().data).toMatchObject({ ...request, Amount: 1_050n });
  });

  it.each(['2026-02-30', 'tomorrow', '31/12/2026', '', '2026-12-31T00:00:00Z', 20261231, null])(
    'with the due date %j is refused at dueDate',
    (dueDate) => expect(refusedAt({ dueDate })).toEqual(['dueDate']),
  );

  it.each(['0', '-1', '10.005', '1e12', '0.001'].map(number).concat('ten' as never))(
    'with the amount %s is refused at Amount',
    (Amount) => expect(refusedAt({ Amount })).toEqual(['Amount']),
  );

  it.each([
    ['no amount', { Amount: undefined }, ['Amount']],
    ['a type of another kind', { type: 'PIX' }, ['type']],
    ['no correlationId', { correlationId: undefined }, ['correlationId']],
    ['an empty correlationId', { correlationId: '' }, ['correlationId']],
    ['no payer', { payer: undefined }, ['payer']],
    ['a payer without a name', { payer: { document: '1' } }, ['payer.name']],
    ['a payer of white space', { payer: { name: ' ', document: '1' } }, ['payer.name']],
    ['a name with NUL', { payer: { name: 'a\0', document: '1' } }, ['payer.name']],
    ['two amounts', { amount: number('10') }, ['amount']],
    ['an ourNumber beside a Pix', { ourNumber: '1' }, ['ourNumber']],
    [
      'a discount whose date does not exist',
      { discount: { type: 'Fixed', items: [{ date: '2026-02-30', amount: number('1') }] } },
      ['discount.items.0.date'],
    ],
    [
      'a fine of another type',
      { lateFine: { type: 'Daily', date: '2030-12-31', amount: number('1') } },
      ['lateFine.type'],
    ],
    [
      'a discount on a slip without a Pix',
      { type: 'BANKSLIP', discount: { type: 'Fixed', items: [] } },
      ['discount'],
    ],
  ])('with %s is refused there', (_, change, paths) => expect(refusedAt(change)).toEqual(paths));

  it('tells every field that is wrong, not only the first', () => {
    const paths = refusedAt({ dueDate: 'tomorrow', Amount: number('0'), payer: {} });
    expect(paths?.sort()).toEqual(['Amount', 'dueDate', 'payer.document', 'payer.name']);
  });

  it('takes no field from a prototype', () => {
    const body = '{"__proto__":{"Amount":1,"dueDate":"2030-12-31"},"type":"BANKSLIP"}';
    const paths = z
      .safeDecode(chargeRequest, parse(body) as never)
      .error?.issues.map((i) => i.path[0]);
    expect(paths).toEqual(expect.arrayContaining(['Amount', 'dueDate', 'payer', 'correlationId']));
  });

  it('is sent on as it came, to the centavo and with what nobody knows', () => {
    const anyRequest = fc.record({
      Amount: fc
        .bigInt({ min: 1n, max: 99_999_999_999_999n })
        .map((one) => number(formatReais(one))),
      correlationId: fc.stringMatching(/^[\x21-\x7e]{1,100}$/),
      yourNumber: fc.option(fc.stringMatching(/^[a-z0-9]{0,30}$/)),
      more: fc.bigInt().map((one) => number(String(one))),
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
        const again = parse(stringify(z.encode(chargeRequest, decoded)) ?? '');
        expect(again).toEqual(parse(stringify(sent) ?? ''));
      }),
    );
  });
});

describe('the charge response', () => {
  it('is of a kind that its type names, with an exact amount', () => {
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
      more: { kept: number('1.10') },
    };
    const decoded = z.decode(chargeResponse, pix as never);
    expect(decoded).toMatchObject({ amount: 1_050n });
    expect(stringify(z.encode(chargeResponse, decoded))).toBe(stringify(pix));
    expect(z.safeDecode(chargeResponse, { ...pix, type: 'OTHER' } as never).success).toBe(false);
  });
});
