import { describe, expect, it } from '@jest/globals';
import { shopPayments, type ShopLine } from './demo-month.js';

const today = '2026-11-28';
const line = (nsu: number, fields: Partial<ShopLine> = {}): ShopLine => ({
  ...{ nsu: BigInt(nsu), amountCents: 10_000n, isCredit: true, type: 'CREDIT_PIX' },
  ...{ endToEndId: `E${nsu}`, correlationId: null, createdAt: new Date('2026-11-10T15:00:00Z') },
  ...fields,
});
const declaredOf = (lines: ShopLine[]) =>
  shopPayments(lines, today).filter(({ externalId }) => !externalId.includes('aberto'));

describe('the books of the shop', () => {
  it('expect nearly every credit, by what identifies it', () => {
    const lines = Array.from({ length: 330 }, (_, index) => line(index + 1));
    const declared = declaredOf(lines);
    expect(declared).toHaveLength(327);
    expect(declared[0]).toMatchObject({
      externalId: 'pedido-1',
      terms: {
        amountCents: 10_000n,
        dateFrom: '2026-11-10',
        references: [{ kind: 'end_to_end_id', value: 'E1' }],
      },
    });
    const amounts = declared.map(({ terms }) => terms.amountCents);
    expect(new Set(amounts)).toEqual(new Set([10_000n, 11_000n, 9_000n]));
  });

  it('expect one sale of some codes that were paid twice', () => {
    const lines = Array.from({ length: 16 }, (_, index) => [
      line(2 * index + 1, { correlationId: `qr-${index}` }),
      line(2 * index + 2, { correlationId: `qr-${index}` }),
    ]);
    expect(declaredOf(lines.flat())).toHaveLength(30);
  });

  it('know no fees', () => {
    const fee = { isCredit: false, type: 'DEBIT_OTHER', endToEndId: null, amountCents: 350n };
    expect(declaredOf([line(1, fee)])).toEqual([]);
  });

  it('expect payments before and after today that are not there', () => {
    const open = shopPayments([], today);
    const days = open.map(({ terms }) => terms.dateTo);
    expect(days.filter((day) => day < today).length).toBeGreaterThan(5);
    expect(days.filter((day) => day > today).length).toBeGreaterThan(15);
  });
});
