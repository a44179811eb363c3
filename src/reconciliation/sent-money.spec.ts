// How the matcher decides sent money and its reversals.
import { describe, expect, it } from '@jest/globals';
import type { Candidate, LineFacts, OpenDebit, LineOutcome } from './line-outcome.js';
import { decide } from './match.js';

const goLiveAt = new Date('2026-01-01T00:00:00Z');
const at = (second: number) => new Date(Date.UTC(2026, 0, 2) + second * 1_000);
const line = (nsu: bigint, change: Partial<LineFacts> = {}): LineFacts => ({
  nsu,
  isCredit: false,
  amountCents: 1_000n,
  typeName: 'DEBIT_PIX',
  endToEndId: null,
  originalEndToEndId: null,
  isFresh: false,
  occurredAt: at(10),
  ...change,
});
const reversal = (nsu: bigint, change: Partial<LineFacts> = {}): LineFacts =>
  line(nsu, { isCredit: true, typeName: 'CREDIT_PIX_REVERSAL', ...change });
const candidate = (id: string, change: Partial<Candidate> = {}): Candidate => ({
  expectedPaymentId: id,
  operationId: `operation of ${id}`,
  kind: 'create_transfer',
  operationState: 'succeeded',
  isCredit: false,
  amountCents: 1_000n,
  paidCents: 0n,
  reversedCents: 0n,
  isMultiUse: false,
  dueDate: null,
  terms: null,
  isWithdrawn: false,
  referenceKind: 'end_to_end_id',
  referenceValue: `E of ${id}`,
  isOriginal: false,
  ...change,
});
const open = (id: string, { amountCents, ...change }: Partial<OpenDebit> = {}): OpenDebit => ({
  ...candidate(id, { operationState: 'unknown', referenceKind: '', referenceValue: '' }),
  amountCents: amountCents ?? 1_000n,
  sharedReference: 'counterparty',
  isKnownToBank: false,
  createdAt: at(0),
  from: at(0),
  until: at(20),
  ...change,
});

interface CandidateRows {
  referenced?: Record<string, Candidate[]>;
  openDebits?: Record<string, OpenDebit[]>;
}
const byNsu = <Row>(rows: Record<string, Row[]> = {}) =>
  new Map(Object.entries(rows).map(([nsu, list]) => [BigInt(nsu), list]));
const outcomesOf = (lines: LineFacts[], { referenced, openDebits }: CandidateRows): LineOutcome[] =>
  decide(lines, { referenced: byNsu(referenced), openDebits: byNsu(openDebits) }, goLiveAt);
const one = (decided: LineFacts, rows: CandidateRows) => outcomesOf([decided], rows)[0];

describe('a debit', () => {
  it('is matched by its strongest reference, even if others identify other payments', () => {
    const could = [
      candidate('by bill', { referenceKind: 'bill_code' }),
      candidate('by external id', { referenceKind: 'external_id' }),
      candidate('by nsu', { referenceKind: 'nsu' }),
      candidate('by key', { referenceKind: 'idempotency_key' }),
    ];
    for (const referenced of [could, [...could].reverse()])
      expect(one(line(1n), { referenced: { 1: referenced } })).toMatchObject({
        outcome: 'matched',
        role: 'payment',
        rule: 'reference',
        expectedPaymentId: 'by key',
      });
  });

  it('with one id of several payments pays the unpaid one of its amount', () => {
    const referenced = ['a', 'b', 'c'].map((id) => candidate(id, { referenceKind: 'external_id' }));
    const [a, b, c] = referenced as [Candidate, Candidate, Candidate];
    const could = [{ ...a, amountCents: 5n }, { ...b, paidCents: 1_000n }, c];
    expect(one(line(1n), { referenced: { 1: could } })).toMatchObject({ expectedPaymentId: 'c' });
    expect(one(line(1n), { referenced: { 1: [a, c] } })).toMatchObject({ kind: 'ambiguous' });
  });

  const payingLine = (second: number, rule = 'reference') => ({
    paidCents: 1_000n,
    payingLine: { nsu: 9n, occurredAt: at(second), rule },
  });

  it('that happens twice pays once: the later is the duplicate, in any order of input', () => {
    const referenced = { 1: [candidate('a')], 2: [candidate('a')] };
    const lines = [line(1n, { occurredAt: at(11) }), line(2n)];
    for (const given of [lines, [...lines].reverse()])
      expect(outcomesOf(given, { referenced })).toMatchObject([
        { nsu: 2n, outcome: 'matched', displaces: false },
        { nsu: 1n, kind: 'duplicate_payment', expectedPaymentId: 'a', candidates: [{}] },
      ]);
  });

  it.each<[string, Partial<Candidate>]>([
    ['before', payingLine(9)],
    ['by a person', payingLine(11, 'manual')],
    ['in the same instant under a smaller nsu', { ...payingLine(10), paidCents: 1_000n }],
    ['and reversed', { ...payingLine(9), reversedCents: 1_000n }],
  ])('of a payment paid %s is a duplicate', (_, change) => {
    expect(one(line(10n), { referenced: { 10: [candidate('a', change)] } })).toMatchObject({
      kind: 'duplicate_payment',
    });
  });

  it.each<[string, Partial<Candidate>]>([
    ['a later debit', payingLine(11)],
    ['a rule', payingLine(9, 'counterparty')],
  ])('displaces %s that pays the same', (_, change) => {
    const referenced = { 1: [candidate('a', { ...change, reversedCents: 400n })] };
    const fullReversal = reversal(2n, { amountCents: 1_000n });
    expect(
      outcomesOf([line(1n), fullReversal], { referenced: { ...referenced, 2: referenced[1] } }),
    ).toMatchObject([
      { outcome: 'matched', displaces: true, settlement: 'settled' },
      { outcome: 'matched', role: 'reversal', settlement: 'reversed' },
    ]);
  });

  it.each([999n, 1_001n])('of another amount (%s) is an amount_mismatch break', (amountCents) => {
    const referenced = { 1: [candidate('a', { operationState: 'unknown' })] };
    expect(one(line(1n, { amountCents }), { referenced })).toMatchObject({
      kind: 'amount_mismatch',
      expectedPaymentId: 'a',
      candidates: [{ referenceValue: 'E of a' }],
    });
  });

  it('is matched by reference before a rule', () => {
    const referenced = { 2: [candidate('a', { operationState: 'unknown' })] };
    const lines = [line(1n), line(2n, { occurredAt: at(11) })];
    expect(outcomesOf(lines, { referenced, openDebits: { 1: [open('a')] } })).toMatchObject([
      { kind: 'unexpected' },
      { rule: 'reference' },
    ]);
  });

  it('pays a failed payment, unless another is expected under the same id', () => {
    const failed = candidate('a', { kind: 'pay_bill', isWithdrawn: true });
    expect(one(line(1n), { referenced: { 1: [failed] } })).toMatchObject({
      outcome: 'matched',
      wasWithdrawn: true,
    });
    expect(one(line(1n), { referenced: { 1: [failed, candidate('b')] } })).toMatchObject({
      expectedPaymentId: 'b',
      wasWithdrawn: false,
    });
  });

  it('does not pay a rejected operation, and pays one that was proven not executed', () => {
    const rejected = candidate('a', { operationState: 'rejected', isWithdrawn: true });
    expect(one(line(1n), { referenced: { 1: [rejected] } })).toMatchObject({ kind: 'unexpected' });
    const late = candidate('a', { operationState: 'not_executed' });
    expect(one(line(1n), { referenced: { 1: [late] } })).toMatchObject({
      outcome: 'matched',
      operation: { operationState: 'not_executed' },
    });
  });
});

describe('a debit without a reference', () => {
  const outcomeWith = (...debits: OpenDebit[]) => one(line(1n), { openDebits: { 1: debits } });

  it.each(['unknown', 'needs_operator', 'not_executed', 'succeeded'])(
    'pays the one open payment to its counterparty in state %s',
    (operationState) => {
      expect(outcomeWith(open('a', { operationState }))).toMatchObject({
        outcome: 'matched',
        rule: 'counterparty',
        expectedPaymentId: 'a',
      });
    },
  );

  it('is ambiguous or pending beside several payments to one counterparty', () => {
    const ended = (id: string) => open(id, { operationState: 'needs_operator' });
    expect(outcomeWith(ended('a'), ended('b'))).toMatchObject({
      outcome: 'break',
      kind: 'ambiguous',
    });
    expect(outcomeWith(open('a'), ended('b'))).toMatchObject({ outcome: 'pending' });
  });

  it('pays the oldest of several refunds of one Pix, which are interchangeable', () => {
    const refund = (id: string, second: number) =>
      open(id, {
        sharedReference: 'original',
        createdAt: at(second),
        referenceKind: 'original_end_to_end_id',
      });
    const debits = [refund('younger', 2), refund('older', 1), open('other counterparty')];
    expect(outcomeWith(...debits)).toMatchObject({ rule: 'original', expectedPaymentId: 'older' });
    const both = outcomesOf([line(2n, { occurredAt: at(11) }), line(1n)], {
      openDebits: { 1: debits, 2: debits },
    });
    expect(both).toMatchObject([{ expectedPaymentId: 'older' }, { expectedPaymentId: 'younger' }]);
  });

  it.each<[string, Partial<OpenDebit>]>([
    ['is being sent, and may get ids in the response', { operationState: 'sending' }],
    ['was not sent yet', { operationState: 'received' }],
    ['has no counterparty', { sharedReference: null }],
    ['is known to the bank by an id', { isKnownToBank: true }],
  ])('is pending beside a payment that %s', (_, change) => {
    expect(outcomeWith(open('a', change))).toEqual({
      outcome: 'pending',
      nsu: 1n,
      amountCents: 1_000n,
    });
  });

  it.each<[string, Partial<OpenDebit>]>([
    ['began after the debit', { from: at(11) }],
    ['is of another amount', { amountCents: 999n }],
    ['was paid', { paidCents: 1_000n }],
    [
      'is no longer recovered, and has no counterparty',
      { operationState: 'needs_operator', sharedReference: null },
    ],
    ['ended long before the debit', { operationState: 'not_executed', until: at(9) }],
    ['must have taken effect before the debit', { until: at(9) }],
  ])('is unexpected beside a payment that %s', (_, change) => {
    expect(outcomeWith(open('a', change))).toMatchObject({ outcome: 'break', kind: 'unexpected' });
  });

  it('from before go-live is classified, whatever operation is in progress', () => {
    const before = line(1n, { occurredAt: new Date(goLiveAt.getTime() - 1) });
    const debit = open('a', { from: new Date(0), sharedReference: null });
    expect(one(before, { openDebits: { 1: [debit] } })).toMatchObject({ outcome: 'classified' });
  });
});

describe('a reversal of sent money', () => {
  const paid = (id: string, change: Partial<Candidate> = {}) =>
    candidate(id, { paidCents: 1_000n, ...change });
  const original = (id: string, change: Partial<Candidate> = {}) =>
    paid(id, { isOriginal: true, referenceKind: 'original_end_to_end_id', ...change });

  it.each<[string, Candidate]>([
    ['the id of the payment', paid('a')],
    ['the bank’s id of the movement', paid('a', { referenceKind: 'movement_id' })],
    ['its bill', paid('a', { referenceKind: 'bill_code' })],
    ['the payment as its original', original('a')],
  ])('is matched when it carries %s', (_, paidCandidate) => {
    expect(one(reversal(1n), { referenced: { 1: [paidCandidate] } })).toMatchObject({
      outcome: 'matched',
      role: 'reversal',
      rule: 'reversal',
      expectedPaymentId: 'a',
      settlement: 'reversed',
    });
  });

  it('in parts never exceeds what was paid', () => {
    const parts = [400n, 500n, 200n, 100n].map((amountCents, index) =>
      reversal(BigInt(index + 1), { amountCents, occurredAt: at(index) }),
    );
    const referenced = Object.fromEntries(
      parts.map(({ nsu }) => [nsu.toString(), [original('a')]]),
    );
    expect(outcomesOf(parts, { referenced })).toMatchObject([
      { settlement: 'partially_reversed' },
      { settlement: 'partially_reversed' },
      { outcome: 'break', kind: 'unexpected', candidates: [{ referenceValue: 'E of a' }] },
      { settlement: 'reversed' },
    ]);
  });

  it.each(['CREDIT_PIX', 'CREDIT_TRANSFER_INTERNAL'])(
    'is not the incoming leg of an own-account transfer (%s)',
    (typeName) => {
      expect(one(reversal(1n, { typeName }), { referenced: { 1: [paid('a')] } })).toMatchObject({
        outcome: 'break',
        kind: 'unexpected',
      });
    },
  );

  it('of an own-account Pix or of its refund is matched by its type', () => {
    const referenced = { 1: [paid('refund'), original('pix')] };
    const decided = (typeName: string) => one(reversal(1n, { typeName }), { referenced });
    expect(decided('CREDIT_PIX_REFUND')).toMatchObject({ expectedPaymentId: 'pix' });
    expect(decided('CREDIT_PIX_REFUND_REVERSAL')).toMatchObject({ expectedPaymentId: 'refund' });
  });

  it('is matched through the line of its payment when the id is not a stored reference', () => {
    const debit = line(9n, { endToEndId: 'E1' });
    for (const ids of [{ endToEndId: 'E1' }, { originalEndToEndId: 'E1', endToEndId: 'D1' }]) {
      const lines = [reversal(1n, { ...ids, occurredAt: at(10) }), debit];
      expect(outcomesOf(lines, { openDebits: { 9: [open('a')] } })).toMatchObject([
        { nsu: 1n, role: 'reversal', expectedPaymentId: 'a' },
        { nsu: 9n, role: 'payment', rule: 'counterparty' },
      ]);
    }
  });

  it('is pending for a while without the line of its payment, then unexpected', () => {
    const referenced = { 1: [candidate('a')] };
    expect(one(reversal(1n, { isFresh: true }), { referenced })).toMatchObject({
      outcome: 'pending',
    });
    expect(one(reversal(1n), { referenced })).toMatchObject({
      outcome: 'break',
      kind: 'unexpected',
    });
  });

  it('that may be of several payments is ambiguous', () => {
    const referenced = { 1: [paid('a'), paid('b')] };
    expect(one(reversal(1n), { referenced })).toMatchObject({
      outcome: 'break',
      kind: 'ambiguous',
    });
  });
});
