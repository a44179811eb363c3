import { describe, expect, it } from '@jest/globals';
import { commitmentOf, lineHashOf, linesHashOf, type HashedFields } from './line-hash.js';

const line: HashedFields = {
  nsu: 1n,
  bankId: 'a',
  isCredit: true,
  amountCents: 100n,
  typeName: 'CREDIT_PIX',
  correlationId: null,
  endToEndId: null,
  externalId: null,
  originalEndToEndId: null,
  movementId: null,
  idempotencyKey: null,
  billCode: null,
  balancePreviousCents: 0n,
  currentBalanceCents: 100n,
  occurredAt: new Date('2026-03-02T12:00:00Z'),
};

describe('a line hash', () => {
  it('differs when a field, the account or the commitment differs', () => {
    const others: Partial<HashedFields>[] = [
      { nsu: 2n },
      { bankId: 'b' },
      { isCredit: false },
      { amountCents: 101n },
      { typeName: 'CREDIT_PIX_REFUND' },
      { correlationId: 'x' },
      { endToEndId: '' },
      { externalId: 'x' },
      { originalEndToEndId: 'x' },
      { movementId: 'x' },
      { idempotencyKey: 'x' },
      { billCode: 'x' },
      { balancePreviousCents: 1n },
      { currentBalanceCents: 101n },
      { occurredAt: new Date('2026-03-02T12:00:00.001Z') },
    ];
    const hashes = [
      lineHashOf(1, line, 'c'),
      lineHashOf(2, line, 'c'),
      lineHashOf(1, line, 'd'),
      ...others.map((other) => lineHashOf(1, { ...line, ...other }, 'c')),
    ];
    expect(new Set(hashes).size).toBe(others.length + 3);
  });

  it('differs when text moves from one field to the next', () => {
    const hash = lineHashOf(1, { ...line, bankId: 'a"', typeName: 'b' }, 'c');
    expect(lineHashOf(1, { ...line, bankId: 'a', typeName: '"b' }, 'c')).not.toBe(hash);
    expect(commitmentOf('ab', 'c')).not.toBe(commitmentOf('a', 'bc'));
  });

  it('of all lines of a day depends on their order', () => {
    expect(linesHashOf(['a', 'b'])).not.toBe(linesHashOf(['b', 'a']));
    expect(linesHashOf([])).toMatch(/^[0-9a-f]{64}$/);
  });
});
