import { describe, expect, it } from '@jest/globals';
import { expectedPaymentFacts, facts, lineFacts } from '../../../test/support/facts.js';
import { DecidedSubjects, partsOf } from './batch-parts.js';

const line = (nsu: bigint) => lineFacts({ nsu });
const charge = (id: string) => expectedPaymentFacts({ id, operationId: `operation of ${id}` });
const code = { isCredit: true, isMultiUse: true };

describe('the parts of a batch', () => {
  it('have each subject once, and at most so many of a kind', () => {
    const seeds = { nsus: [1n, 2n, 3n, 2n, 1n], expectedPaymentIds: ['a'], operationIds: [] };
    expect(partsOf(seeds, 2)).toEqual([
      { nsus: [1n, 2n], expectedPaymentIds: ['a'], operationIds: [] },
      { nsus: [3n], expectedPaymentIds: [], operationIds: [] },
    ]);
  });

  it('are at least one', () => {
    const none = { nsus: [], expectedPaymentIds: [], operationIds: [] };
    expect(partsOf(none, 2)).toEqual([none]);
  });
});

describe('a part has a subject of an earlier one', () => {
  const decided = new DecidedSubjects();
  decided.add(
    facts({
      lines: [line(1n)],
      expectedPayments: [
        charge('a'),
        expectedPaymentFacts({ id: 'code', ...code }),
        expectedPaymentFacts({ id: 'b', operationId: 'failed', withdrawal: 'failed' }),
      ],
    }),
  );

  it('where it has the same line, or the same payment', () => {
    expect(decided.hasSome(facts({ lines: [line(1n)] }))).toBe(true);
    expect(decided.hasSome(facts({ expectedPayments: [charge('a')] }))).toBe(true);
    expect(decided.hasSome(facts({ lines: [line(2n)], expectedPayments: [charge('c')] }))).toBe(
      false,
    );
  });

  it('where another payment of a withdrawn operation is withdrawn', () => {
    const sibling = { id: 'd', operationId: 'failed' };
    const withdrawn = expectedPaymentFacts({ ...sibling, withdrawal: 'failed' });
    expect(decided.hasSome(facts({ expectedPayments: [withdrawn] }))).toBe(true);
    const expected = expectedPaymentFacts(sibling);
    expect(decided.hasSome(facts({ expectedPayments: [expected] }))).toBe(false);
  });

  it('not where it has the same QR code, whose payments are decided apart', () => {
    const paid = expectedPaymentFacts({ id: 'code', ...code });
    expect(decided.hasSome(facts({ expectedPayments: [paid] }))).toBe(false);
  });
});
