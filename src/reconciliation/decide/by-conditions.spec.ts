import { describe, expect, it } from '@jest/globals';
import { expectedPaymentFacts, facts, lineFacts } from '../../../test/support/facts.js';
import { maxConditional } from './by-conditions.js';
import { decide } from './decide.js';
import type { DeclaredFacts } from './declared-conditions.js';
import type { ExpectedPaymentFacts, Facts } from './model.js';
import { totalOfPayment } from './totals.js';
import type { AppliedRule, MatchAction, NetSettlement } from './rule.js';

const day = '2026-03-02';
const exact = { fromCents: 1_000n, toCents: 1_000n };

/** A debit of R$ 10.00 on the day of the lines. */
const declared = (
  id: string,
  change: Partial<ExpectedPaymentFacts> = {},
  terms: Partial<DeclaredFacts> = {},
) =>
  expectedPaymentFacts({
    ...{ id, operationId: null, kind: 'declared', isCredit: false, operationState: null },
    ...{ dueDate: day, accepted: exact },
    declared: {
      ...{ externalId: id, matching: exact, dateFrom: day, dateTo: day, text: null },
      ...{
        category: null,
        costCentre: null,
        project: null,
        parts: [],
        cancelledAt: null,
        ...terms,
      },
    },
    ...change,
  });
const debit = (nsu: bigint, change: Parameters<typeof lineFacts>[0] = {}) =>
  lineFacts({ nsu, isCredit: false, typeName: 'DEBIT_TED', ...change });

/** Of each line the payment that it pays, or the kind of its break, or what else it is. */
function outcomesOf(change: Partial<Facts>): Record<string, string> {
  const { component } = decide(facts(change));
  return Object.fromEntries(
    component.lines.map(({ nsu }) => {
      const [paid] = component.allocationsOfLine(nsu);
      const other = component.unmatched.get(nsu);
      const kind = other?.outcome === 'break' ? other.kind : other?.outcome;
      return [nsu.toString(), paid?.expectedPaymentId ?? kind ?? ''];
    }),
  );
}

describe('the conditions of declared payments', () => {
  it('match one line to one payment', () => {
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments: [declared('a')] })).toEqual({
      1: 'a',
    });
  });

  it('match nothing where only references may', () => {
    const only = declared('a', {}, { matching: null });
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments: [only] })).toEqual({
      1: 'unrequested_debit',
    });
  });

  it('match nothing that a person separated, and no line that was refunded before', () => {
    const payment = declared('a');
    const separated = [{ nsu: 1n, expectedPaymentId: 'a' }];
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments: [payment], separated })).toEqual({
      1: 'unrequested_debit',
    });
    const credit = lineFacts({ nsu: 1n, endToEndId: 'E1' });
    const refund = debit(2n, { originalEndToEndId: 'E1' });
    const later = declared('a', {
      isCredit: true,
      createdAtBankTime: new Date('2026-03-02T13:00:00Z'),
    });
    const outcomes = outcomesOf({ lines: [credit, refund], expectedPayments: [later] });
    expect(outcomes['1']).toBe('unexpected');
  });

  it('leave a line ambiguous above the number of payments that are compared', () => {
    const payments = (count: number) =>
      Array.from({ length: count }, (_, at) => {
        const text = at === 0 ? 'ted' : 'nothing like it';
        return declared(`p${String(at).padStart(4, '0')}`, {}, { text });
      });
    const decided = (count: number) =>
      outcomesOf({ lines: [debit(1n)], expectedPayments: payments(count) });
    expect(decided(maxConditional)).toEqual({ 1: 'p0000' });
    expect(decided(maxConditional + 1)).toEqual({ 1: 'ambiguous' });
    // What none of the compared payments agrees with is not ambiguous.
    const others = payments(maxConditional + 2).slice(1);
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments: others })).toEqual({
      1: 'unrequested_debit',
    });
  });

  it('take no line that an unfinished operation could explain', () => {
    const span = {
      from: new Date('2026-03-02T09:00:00Z'),
      until: new Date('2026-03-02T18:00:00Z'),
    };
    const sending = expectedPaymentFacts({
      ...{ id: 'transfer', isCredit: false, kind: 'create_transfer', operationState: 'unknown' },
      ...{ isWithoutResponse: true, effect: span },
    });
    const expectedPayments = [declared('a'), sending];
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments })).toEqual({ 1: 'pending' });
  });
});

describe('the conditions of declared payments beside other explanations', () => {
  const document = '11144477735';
  const rule = (then: Partial<MatchAction>): AppliedRule => ({
    ...{ ruleId: 'rule', version: 1, priority: 1, when: {} },
    then: {
      ...{ do: 'match', by: ['document', 'amount'], window: null, combines: false },
      ...{ toleranceCents: 0n, toleranceBasisPoints: 0n, instalments: false },
      ...then,
    },
  });
  const credit = (nsu: bigint, cents: bigint) =>
    lineFacts({ nsu, amountCents: cents, counterpartyDocument: document });
  const sale = (id: string, cents: bigint, change: Partial<ExpectedPaymentFacts> = {}) =>
    expectedPaymentFacts({
      ...{ id, amountCents: cents, counterpartyDocument: document, dueDate: day },
      ...change,
    });
  const received = declared('a', { isCredit: true, counterpartyDocument: document });

  it('leave a line ambiguous that is a net settlement or an instalment by a rule', () => {
    const netSettlement: NetSettlement = {
      ...{ groupBy: 'day', minFeeBasisPoints: 0n, maxFeeBasisPoints: 1_000n },
      ...{ minFeeCentsPerSale: 0n, maxFeeCentsPerSale: 0n },
    };
    const window = { daysBefore: 1, daysAfter: 1 };
    const by = ['document' as const, 'amount' as const, 'window' as const];
    const settling = rule({ by, window, netSettlement });
    const sales = ['s1', 's2'].map((id) => sale(id, 520n, { dueDate: '2026-03-01' }));
    expect(
      outcomesOf({
        ...{ lines: [credit(1n, 1_000n)], expectedPayments: [received, ...sales] },
        rules: [settling],
      }),
    ).toEqual({ 1: 'ambiguous' });
    const plan = { count: 2, intervalDays: 30, toleranceDays: 2 };
    const planned = sale('s3', 2_000n);
    expect(
      outcomesOf({
        ...{ lines: [credit(1n, 1_000n)], expectedPayments: [received, planned] },
        rules: [rule({ plan })],
      }),
    ).toEqual({ 1: 'ambiguous' });
  });

  it('leave a line ambiguous whose payment another line could pay by a rule', () => {
    const expectedPayments = [received, sale('s1', 500n)];
    const lines = [credit(1n, 1_000n), credit(2n, 1_500n)];
    expect(outcomesOf({ lines, expectedPayments, rules: [rule({ combines: true })] })).toEqual({
      ...{ 1: 'ambiguous', 2: 'unexpected' },
    });
    expect(outcomesOf({ lines, expectedPayments, rules: [rule({})] })).toEqual({
      ...{ 1: 'a', 2: 'unexpected' },
    });
  });

  it('take no debit that may be that of an accepted operation, unless an id says otherwise', () => {
    const references = [{ kind: 'end_to_end_id' as const, value: 'E1' }];
    const sent = expectedPaymentFacts({
      ...{ id: 'transfer', isCredit: false, kind: 'create_transfer', references },
    });
    const expectedPayments = [declared('a'), sent];
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments })).toEqual({ 1: 'ambiguous' });
    // The line is another Pix, or happened before the operation; or the operation has its line.
    const other = debit(1n, { endToEndId: 'E2' });
    expect(outcomesOf({ lines: [other], expectedPayments })).toEqual({ 1: 'a' });
    const earlier = debit(1n, { occurredAt: new Date('2026-03-02T08:00:00Z') });
    expect(outcomesOf({ lines: [earlier], expectedPayments })).toEqual({ 1: 'a' });
    const bill = {
      ...{ state: 'scheduled', bankId: null, bankStatus: null, mayGoUntil: null },
      ...{ scheduledFor: new Date('2026-03-20T12:00:00Z'), isFreed: false, hasOtherLive: false },
      ...{ minimumCents: null, maximumCents: null },
    };
    const scheduled = [declared('a'), { ...sent, bill }];
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments: scheduled })).toEqual({ 1: 'a' });
    const own = debit(2n, { endToEndId: 'E1' });
    expect(outcomesOf({ lines: [debit(1n), own], expectedPayments })).toEqual({
      ...{ 1: 'a', 2: 'transfer' },
    });
    const separated = [{ nsu: 1n, expectedPaymentId: 'transfer' }];
    expect(outcomesOf({ lines: [debit(1n)], expectedPayments, separated })).toEqual({ 1: 'a' });
  });
});

describe('a declared payment that a rule paid finally', () => {
  const final = (isTolerated: boolean) => ({
    ...{ nsu: 1n, expectedPaymentId: 'a', amountCents: 1_000n, rule: 'declared' as const },
    ...{ owedCents: 1_000n, isTolerated, declared: { ruleId: 'rule', version: 1 }, evidence: {} },
  });
  const owed = { fromCents: 1_200n, toCents: 1_200n };
  const amended = declared('a', { amountCents: 1_200n, accepted: owed }, { matching: owed });
  const decided = (isTolerated: boolean) => {
    const decision = decide(
      facts({
        ...{ lines: [debit(1n)], expectedPayments: [amended] },
        finalMatches: [final(isTolerated)],
      }),
    );
    const kinds = decision.findings.map(({ kind }) => kind);
    return [totalOfPayment(decision, amended).settlement, ...kinds];
  };

  it('is owed what it was amended to, as its break says, unless the rule tolerated less', () => {
    expect(decided(false)).toEqual(['partially_settled', 'underpaid']);
    expect(decided(true)).toEqual(['settled']);
  });
});

describe('an id that an operation and a declared payment share', () => {
  const references = [{ kind: 'external_id' as const, value: 'x1' }];
  const line = debit(1n, { externalId: 'x1' });
  const transfer = (withdrawal: 'failed' | null) =>
    expectedPaymentFacts({
      ...{ id: 'transfer', isCredit: false, kind: 'create_transfer', references, withdrawal },
    });

  it('is that of the operation, unless it failed and was paid elsewhere', () => {
    const elsewhere = declared('a', { references });
    const decided = (withdrawal: 'failed' | null) =>
      outcomesOf({ lines: [line], expectedPayments: [elsewhere, transfer(withdrawal)] });
    expect(decided(null)).toEqual({ 1: 'transfer' });
    expect(decided('failed')).toEqual({ 1: 'a' });
  });

  it('is that of the declared payment where the operation began after the line', () => {
    const later = { ...transfer(null), createdAtBankTime: new Date('2026-03-02T15:00:00Z') };
    const elsewhere = declared('a', { references });
    expect(outcomesOf({ lines: [line], expectedPayments: [elsewhere, later] })).toEqual({
      1: 'a',
    });
  });
});
