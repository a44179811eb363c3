import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rule, type Ruling } from './rule-decision.js';
import {
  folded,
  isAbout,
  waysToPay,
  wordsOf,
  type AppliedRule,
  type MatchAction,
  type RuledExpected,
  type RuledLine,
} from './rule.js';

const line = (nsu: number, changes: Partial<RuledLine> = {}): RuledLine => ({
  nsu: BigInt(nsu),
  isCredit: true,
  amountCents: 1_000n,
  typeName: 'CREDIT_PIX',
  counterparty: null,
  counterpartyDocument: 'anna',
  notes: null,
  givesBack: false,
  wentBackAt: null,
  unlinkedFrom: [],
  occurredAt: new Date(`2026-06-10T15:00:${String(nsu % 60).padStart(2, '0')}Z`),
  ...changes,
});

const awaited = (id: string, changes: Partial<RuledExpected> = {}): RuledExpected => ({
  expectedPaymentId: id,
  operationId: `of-${id}`,
  kind: 'create_charge',
  operationState: 'succeeded',
  isCredit: true,
  amountCents: 1_000n,
  dueDate: '2026-06-10',
  terms: null,
  isMultiUse: false,
  counterpartyDocument: 'anna',
  createdAt: new Date('2026-06-01T12:00:00Z'),
  paidCents: 0n,
  owedCents: null,
  names: [],
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

const told = (ruling: Ruling | undefined) => {
  if (ruling?.of === 'matched')
    return ruling.payments.map(({ expected, amountCents }) => [
      expected.expectedPaymentId,
      amountCents,
    ]);
  return ruling?.of === 'ambiguous' ? ['ambiguous', ...ruling.could] : ruling?.of;
};
const reportedOf = (rulings: Map<bigint, Ruling>) =>
  Object.fromEntries([...rulings].map(([nsu, ruling]) => [nsu.toString(), told(ruling)]));

describe('what a rule is about', () => {
  it.each([
    [{ types: ['CREDIT_*'] }, true],
    [{ types: ['CREDIT'] }, false],
    [{ minCents: 1_000n, maxCents: 1_000n }, true],
    [{ minCents: 1_001n }, false],
    [{ isCredit: false }, false],
    [{ document: 'bruno' }, false],
    [{ notes: 'DOAÇÃO  mensal' }, true],
    [{ counterparty: { ispb: '00000001', branch: '0001', number: '12-3' } }, true],
  ])('is told by %j', (when, is) => {
    const one = line(1, { notes: 'doacao Mensal de junho', counterparty: '1/1/123' });
    expect(isAbout(when, one)).toBe(is);
  });

  it('reads notes without accents, capitals and spaces', () =>
    expect(folded('  Tarífa\n DE  Pix ')).toBe('tarifa de pix'));

  it('takes whole words of the notes for ids, and none that is short', () =>
    expect(wordsOf('ref: PED-1234, (abc) x PED-1234.')).toEqual(['PED-1234']));
});

describe('ways to pay', () => {
  it('are none for what gives a Pix back, or goes the other way', () => {
    expect(waysToPay(action(), line(1, { givesBack: true }), [awaited('a')])).toEqual([]);
    expect(waysToPay(action(), line(1, { isCredit: false }), [awaited('a')])).toEqual([]);
  });

  it('are of what is still owed', () => {
    const part = awaited('a', { amountCents: 1_500n, paidCents: 500n });
    expect(waysToPay(action(), line(1), [part])).toEqual([[part]]);
  });

  it('are none by amount where the payer chooses it', () =>
    expect(waysToPay(action(), line(1), [awaited('a', { amountCents: null })])).toEqual([]));

  it('tell that two sets of several would do', () => {
    const cents = [400n, 600n, 300n, 700n];
    const expected = cents.map((amountCents, at) => awaited(String(at), { amountCents }));
    expect(waysToPay(action({ combines: true }), line(1), expected)).toHaveLength(2);
  });

  it('are all of many together, or none', () => {
    const many = Array.from({ length: 20 }, (_, at) => awaited(String(at), { amountCents: 50n }));
    expect(waysToPay(action({ combines: true }), line(1), many)).toEqual([many]);
    expect(waysToPay(action({ combines: true }), line(1), many.slice(1))).toEqual([]);
  });
});

describe('rules', () => {
  it('pair what has only each other', () =>
    expect(reportedOf(rule([matching('r')], [line(1)], [awaited('a')]))).toEqual({
      1: [['a', 1_000n]],
    }));

  it('choose neither among two lines, nor among two payments', () => {
    expect(reportedOf(rule([matching('r')], [line(1), line(2)], [awaited('a')]))).toEqual({
      1: ['ambiguous', 'a'],
      2: ['ambiguous', 'a'],
    });
    expect(reportedOf(rule([matching('r')], [line(1)], [awaited('a'), awaited('b')]))).toEqual({
      1: ['ambiguous', 'a', 'b'],
    });
  });

  it('let many lines pay what may be paid many times', () =>
    expect(
      reportedOf(rule([matching('r')], [line(1), line(2)], [awaited('a', { isMultiUse: true })])),
    ).toEqual({ 1: [['a', 1_000n]], 2: [['a', 1_000n]] }));

  it('go by priority, and by their ids where that is the same', () => {
    const ignoring = (ruleId: string, priority: number): AppliedRule => ({
      ruleId,
      version: 1,
      priority,
      when: { isCredit: true },
      then: { do: 'classify', classify: 'ignored', reason: ruleId },
    });
    const reasonOf = (rules: AppliedRule[]) => {
      const ruling = rule(rules, [line(1)], [awaited('a')]).get(1n);
      return ruling?.of === 'classified' ? ruling.reason : ruling?.of;
    };
    expect(reasonOf([ignoring('b', 10), ignoring('a', 10)])).toBe('a');
    expect(reasonOf([ignoring('a', 11), matching('m', {}, 10)])).toBe('matched');
    expect(reasonOf([ignoring('a', 9), matching('m', {}, 10)])).toBe('a');
  });

  it('leave to a later rule nothing that an earlier one could not decide', () => {
    const narrow = matching('later', { by: ['notes', 'amount'] }, 20);
    const expected = [awaited('a', { names: ['PED-1'] }), awaited('b')];
    const rulings = rule([matching('r'), narrow], [line(1, { notes: 'PED-1' })], expected);
    expect(reportedOf(rulings)).toEqual({ 1: ['ambiguous', 'a', 'b'] });
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

  it('say the same in any order, never pay a cent twice, and spend each line whole', () => {
    fc.assert(
      fc.property(lines, lines, fc.infiniteStream(fc.nat()), (paying, owing, seeds) => {
        const all = paying.map(({ cents, document, notes }, at) =>
          line(at + 1, { amountCents: cents, counterpartyDocument: document, notes }),
        );
        const expected = owing.map(({ cents, document, notes }, at) =>
          awaited(`e${at}`, {
            amountCents: cents,
            counterpartyDocument: document,
            names: notes === null ? [] : [notes],
          }),
        );
        const shuffled = <Value>(values: Value[]): Value[] =>
          values
            .map((value) => ({ value, place: seeds.next().value as number }))
            .sort((a, b) => a.place - b.place)
            .map(({ value }) => value);
        const rulings = rule(rules, all, expected);
        const other = rule(shuffled(rules), shuffled(all), shuffled(expected));
        for (const { nsu } of all) expect(told(other.get(nsu))).toEqual(told(rulings.get(nsu)));
        const paid = new Map<string, bigint>();
        for (const { nsu, amountCents } of all) {
          const ruling = rulings.get(nsu);
          if (ruling?.of !== 'matched') continue;
          const sum = ruling.payments.reduce((cents, one) => cents + one.amountCents, 0n);
          expect(sum).toBe(amountCents);
          for (const { expected: to, amountCents: cents } of ruling.payments)
            paid.set(to.expectedPaymentId, (paid.get(to.expectedPaymentId) ?? 0n) + cents);
        }
        for (const { expectedPaymentId: id, amountCents } of expected)
          expect((paid.get(id) ?? 0n) <= (amountCents ?? 0n) + 1n).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
