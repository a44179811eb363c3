import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideByRules, type RuleDecision } from './by-rule.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';
import {
  covers,
  findPaymentOptions,
  findPossibleIds,
  type AppliedRule,
  type MatchAction,
  type RuleExpectedPayment,
  type RuleLine,
} from './rule.js';

const line = (nsu: number, changes: Partial<RuleLine> = {}): RuleLine => ({
  nsu: BigInt(nsu),
  isCredit: true,
  amountCents: 1_000n,
  typeName: 'CREDIT_PIX',
  counterparty: null,
  counterpartyDocument: 'anna',
  notes: null,
  originalEndToEndId: null,
  firstRefundedAt: null,
  ...{ endToEndId: null, paidOn: null, creditDays: { slip: 1, pix: 0, other: 1 } },
  unlinkedFrom: [],
  occurredAt: new Date(`2026-06-10T15:00:${String(nsu % 60).padStart(2, '0')}Z`),
  ...changes,
});

const expectedPayment = (
  id: string,
  changes: Partial<RuleExpectedPayment> = {},
): RuleExpectedPayment => ({
  expectedPaymentId: id,
  isCredit: true,
  amountCents: 1_000n,
  dueDate: '2026-06-10',
  dueDates: [],
  terms: null,
  isMultiUse: false,
  counterpartyDocument: 'anna',
  createdAt: new Date('2026-06-01T12:00:00Z'),
  cancelledAt: null,
  paidCents: 0n,
  payments: [],
  owedCents: null,
  referenceValues: [],
  accepted: null,
  declared: null,
  ...changes,
});

const action = (changes: Partial<MatchAction> = {}): MatchAction => ({
  by: ['document', 'amount'],
  toleranceCents: 0n,
  toleranceBasisPoints: 0n,
  window: null,
  combines: false,
  instalments: false,
  ...changes,
});

const matching = (ruleId: string, changes: Partial<MatchAction> = {}, priority = 10) =>
  ({
    ruleId,
    version: 1,
    priority,
    when: {},
    then: { do: 'match', ...action(changes) },
  }) satisfies AppliedRule;

const summaryOf = (decision: RuleDecision | undefined) => {
  if (decision?.outcome === 'matched')
    return decision.payments.map(({ expected, amountCents }) => [
      expected.expectedPaymentId,
      amountCents,
    ]);
  return decision?.outcome === 'ambiguous'
    ? ['ambiguous', ...decision.candidateIds]
    : decision?.outcome;
};
const reportedOf = (decisions: Map<bigint, RuleDecision>) =>
  Object.fromEntries(
    [...decisions].map(([nsu, decision]) => [nsu.toString(), summaryOf(decision)]),
  );

describe('covers', () => {
  it.each([
    [{ types: ['CREDIT_*'] }, true],
    [{ types: ['CREDIT'] }, false],
    [{ minCents: 1_000n, maxCents: 1_000n }, true],
    [{ minCents: 1_001n }, false],
    [{ isCredit: false }, false],
    [{ document: 'bruno' }, false],
    [{ notes: 'DOAÇÃO  mensal' }, true],
    [{ notesPattern: '^DOAÇÃO .* (maio|junho)$' }, true],
    [{ notesPattern: 'mensal$' }, false],
    [{ notes: 'mensal', notesPattern: 'julho' }, false],
    [{ counterparty: { ispb: '00000001', branch: '0001', number: '12-3' } }, true],
  ])('checks the condition %j', (when, isCovered) => {
    const one = line(1, { notes: 'doacao Mensal de junho', counterparty: '1/1/123' });
    expect(covers(when, one)).toBe(isCovered);
  });

  it('compares notes without regard to accents, case and spaces', () =>
    expect(normalizeText('  Tarífa\n DE  Pix ')).toBe('tarifa de pix'));

  it('finds ids as whole words of the notes, except short ones', () =>
    expect(findPossibleIds('ref: PED-1234, (abc) x PED-1234.')).toEqual(['PED-1234']));
});

describe('findPaymentOptions', () => {
  it('finds none for a refund, a reversal or a line of the other direction', () => {
    expect(
      findPaymentOptions(action(), line(1, { originalEndToEndId: 'E0' }), [expectedPayment('a')]),
    ).toEqual([]);
    expect(
      findPaymentOptions(action(), line(1, { isCredit: false }), [expectedPayment('a')]),
    ).toEqual([]);
  });

  it('compares with the amount still owed', () => {
    const part = expectedPayment('a', { amountCents: 1_500n, paidCents: 500n });
    expect(findPaymentOptions(action(), line(1), [part])).toEqual([[part]]);
  });

  it('tolerates the larger of an amount and a percentage, and never more than the cap', () => {
    const differences = { toleranceCents: 50n, toleranceBasisPoints: 1_000n };
    const payment = expectedPayment('a', { amountCents: 5_000_000n });
    const optionsAt = (amountCents: bigint, changes: Partial<MatchAction>) =>
      findPaymentOptions(action({ ...differences, ...changes }), line(1, { amountCents }), [
        payment,
      ]).length;
    expect(optionsAt(4_500_000n, {})).toBe(1);
    expect(optionsAt(4_500_000n, { toleranceMaxCents: 100_000n })).toBe(0);
    expect(optionsAt(4_899_999n, { toleranceMaxCents: 100_000n })).toBe(0);
    expect(optionsAt(4_900_000n, { toleranceMaxCents: 100_000n })).toBe(1);
  });

  it('finds none by amount where the payer chooses the amount', () =>
    expect(
      findPaymentOptions(action(), line(1), [expectedPayment('a', { amountCents: null })]),
    ).toEqual([]));

  it('finds more than one option when two sets fit', () => {
    const cents = [400n, 600n, 300n, 700n];
    const expected = cents.map((amountCents, at) => expectedPayment(String(at), { amountCents }));
    expect(findPaymentOptions(action({ combines: true }), line(1), expected)).toHaveLength(2);
  });

  it('combines more than twelve payments only as the whole set', () => {
    const many = Array.from({ length: 20 }, (_, at) =>
      expectedPayment(String(at), { amountCents: 50n }),
    );
    expect(findPaymentOptions(action({ combines: true }), line(1), many)).toEqual([many]);
    expect(findPaymentOptions(action({ combines: true }), line(1), many.slice(1))).toEqual([]);
  });
});

describe('decideByRules', () => {
  it('matches a line and a payment that fit only each other', () =>
    expect(reportedOf(decideByRules([matching('r')], [line(1)], [expectedPayment('a')]))).toEqual({
      1: [['a', 1_000n]],
    }));

  it('chooses neither between two lines nor between two payments', () => {
    expect(
      reportedOf(decideByRules([matching('r')], [line(1), line(2)], [expectedPayment('a')])),
    ).toEqual({
      1: ['ambiguous', 'a'],
      2: ['ambiguous', 'a'],
    });
    expect(
      reportedOf(
        decideByRules([matching('r')], [line(1)], [expectedPayment('a'), expectedPayment('b')]),
      ),
    ).toEqual({
      1: ['ambiguous', 'a', 'b'],
    });
  });

  it('lets many lines pay a multi-use expected payment', () =>
    expect(
      reportedOf(
        decideByRules(
          [matching('r')],
          [line(1), line(2)],
          [expectedPayment('a', { isMultiUse: true })],
        ),
      ),
    ).toEqual({ 1: [['a', 1_000n]], 2: [['a', 1_000n]] }));

  it('applies rules by priority, and by id among equals', () => {
    const ignoring = (ruleId: string, priority: number): AppliedRule => ({
      ruleId,
      version: 1,
      priority,
      when: { isCredit: true },
      then: { do: 'classify', classify: 'ignored', reason: ruleId },
    });
    const reasonOf = (rules: AppliedRule[]) => {
      const decision = decideByRules(rules, [line(1)], [expectedPayment('a')]).get(1n);
      return decision?.outcome === 'classified' ? decision.reason : decision?.outcome;
    };
    expect(reasonOf([ignoring('b', 10), ignoring('a', 10)])).toBe('a');
    expect(reasonOf([ignoring('a', 11), matching('m', {}, 10)])).toBe('matched');
    expect(reasonOf([ignoring('a', 9), matching('m', {}, 10)])).toBe('a');
  });

  it('does not pass a line that a rule finds ambiguous to later rules', () => {
    const narrow = matching('later', { by: ['notes', 'amount'] }, 20);
    const expected = [expectedPayment('a', { referenceValues: ['PED-1'] }), expectedPayment('b')];
    const decisions = decideByRules(
      [matching('r'), narrow],
      [line(1, { notes: 'PED-1' })],
      expected,
    );
    expect(reportedOf(decisions)).toEqual({ 1: ['ambiguous', 'a', 'b'] });
  });

  const lines = fc.array(
    fc.record({
      cents: fc.constantFrom(100n, 200n, 300n),
      document: fc.constantFrom('anna', 'bruno'),
      notes: fc.constantFrom(null, 'PED-1', 'PED-2'),
    }),
    { maxLength: 8 },
  );
  const rules = [
    matching('one', { by: ['notes', 'amount'] }, 1),
    matching('two', { combines: true, toleranceCents: 1n }, 2),
    matching('three', { instalments: true }, 3),
  ];

  it('decides the same in any order, pays no cent twice and allocates each line in full', () => {
    fc.assert(
      fc.property(lines, lines, fc.infiniteStream(fc.nat()), (paying, owing, seeds) => {
        const all = paying.map(({ cents, document, notes }, at) =>
          line(at + 1, { amountCents: cents, counterpartyDocument: document, notes }),
        );
        const expected = owing.map(({ cents, document, notes }, at) =>
          expectedPayment(`e${at}`, {
            amountCents: cents,
            counterpartyDocument: document,
            referenceValues: notes === null ? [] : [notes],
          }),
        );
        const shuffled = <Value>(values: Value[]): Value[] =>
          values
            .map((value) => ({ value, place: seeds.next().value as number }))
            .sort((a, b) => a.place - b.place)
            .map(({ value }) => value);
        const decisions = decideByRules(rules, all, expected);
        const other = decideByRules(shuffled(rules), shuffled(all), shuffled(expected));
        for (const { nsu } of all)
          expect(summaryOf(other.get(nsu))).toEqual(summaryOf(decisions.get(nsu)));
        const paid = new Map<string, bigint>();
        for (const { nsu, amountCents } of all) {
          const decision = decisions.get(nsu);
          if (decision?.outcome !== 'matched') continue;
          const sum = decision.payments.reduce((cents, one) => cents + one.amountCents, 0n);
          expect(sum).toBe(amountCents);
          for (const { expected: to, amountCents: cents } of decision.payments)
            paid.set(to.expectedPaymentId, (paid.get(to.expectedPaymentId) ?? 0n) + cents);
        }
        for (const { expectedPaymentId: id, amountCents } of expected)
          expect((paid.get(id) ?? 0n) <= (amountCents ?? 0n) + 1n).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
