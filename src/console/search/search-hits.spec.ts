import { describe, expect, it } from '@jest/globals';
import { hitsOf, type FoundRecords } from './search-hits.js';
import type { FoundPayment } from './search.queries.js';

const at = new Date(0);
const nothing: FoundRecords = { payments: [], lines: [], operations: [], breaks: [] };
const payment = (fields: Partial<FoundPayment>): FoundPayment => ({
  ...{ id: 'p', kind: 'create_charge', isCredit: true, amountCents: 1n, createdAt: at },
  ...{ operationId: 'o', label: null, correlationId: null, transferId: null, billId: null },
  ...{ refundId: null, settlement: null },
  ...fields,
});
const operation = (id: string) => ({
  ...{ id, kind: 'create_charge', state: 'succeeded' as const, amountCents: 1n, createdAt: at },
});
const pathsOf = (found: Partial<FoundRecords>) =>
  hitsOf({ ...nothing, ...found }).map(({ path }) => path);

describe('what a search has found', () => {
  it.each([
    [{ correlationId: 'c' }, 'charges/o'],
    [{ transferId: 't' }, 'transfers/t'],
    [{ billId: 'b' }, 'bills/b'],
    [{ refundId: 'r' }, 'refunds/r'],
    [{ operationId: null }, 'expected-payments/p'],
  ])('is the record of a payment with %j', (fields, path) => {
    expect(pathsOf({ payments: [payment(fields)] })).toEqual([path]);
  });

  it('has no operation beside the one record that it made', () => {
    const payments = [payment({ correlationId: 'c' })];
    expect(pathsOf({ payments, operations: [operation('o')] })).toEqual(['charges/o']);
  });

  it('has the operation of a batch beside its transfers', () => {
    const payments = ['t1', 't2'].map((transferId) => payment({ id: transferId, transferId }));
    expect(pathsOf({ payments, operations: [operation('o')] })).toEqual([
      ...['transfers/t1', 'transfers/t2', 'operations/o'],
    ]);
  });

  it('stands in the order of the page', () => {
    const line = { nsu: 3n, isCredit: true, amountCents: 1n, typeName: 'X', occurredAt: at };
    const found = { id: 'd', kind: 'missing', state: 'open' as const, amountCents: 1n };
    expect(
      pathsOf({
        breaks: [{ ...found, openedAt: at }],
        lines: [{ ...line, state: 'matched' }],
        payments: [payment({ operationId: null }), payment({ billId: 'b' })],
      }),
    ).toEqual(['bills/b', 'statement/3', 'breaks/d', 'expected-payments/p']);
  });
});
