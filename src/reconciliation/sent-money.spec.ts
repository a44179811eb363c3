// How the judge tells money that went out, and money that comes back.
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
const back = (nsu: bigint, change: Partial<LineFacts> = {}): LineFacts =>
  line(nsu, { isCredit: true, typeName: 'CREDIT_PIX_REVERSAL', ...change });
const candidate = (id: string, change: Partial<Candidate> = {}): Candidate => ({
  expectedPaymentId: id,
  operationId: `operation of ${id}`,
  kind: 'create_transfer',
  operationState: 'succeeded',
  isCredit: false,
  amountCents: 1_000n,
  paidCents: 0n,
  returnedCents: 0n,
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
  tie: 'counterparty',
  isKnownToBank: false,
  createdAt: at(0),
  from: at(0),
  until: at(20),
  ...change,
});

interface Could {
  named?: Record<string, Candidate[]>;
  open?: Record<string, OpenDebit[]>;
}
const byNsu = <Row>(rows: Record<string, Row[]> = {}) =>
  new Map(Object.entries(rows).map(([nsu, list]) => [BigInt(nsu), list]));
const outcomesOf = (lines: LineFacts[], could: Could): LineOutcome[] =>
  decide(lines, { named: byNsu(could.named), open: byNsu(could.open) }, goLiveAt);
const one = (decided: LineFacts, could: Could) => outcomesOf([decided], could)[0];

describe('a debit', () => {
  it('is told by the surest id that it carries, whatever the others name', () => {
    const could = [
      candidate('by bill', { referenceKind: 'bill_code' }),
      candidate('by external id', { referenceKind: 'external_id' }),
      candidate('by nsu', { referenceKind: 'nsu' }),
      candidate('by key', { referenceKind: 'idempotency_key' }),
    ];
    for (const named of [could, [...could].reverse()])
      expect(one(line(1n), { named: { 1: named } })).toMatchObject({
        outcome: 'matched',
        role: 'payment',
        rule: 'reference',
        expectedPaymentId: 'by key',
      });
  });

  it('that one id ties to several pays the one of its amount that is unpaid', () => {
    const named = ['a', 'b', 'c'].map((id) => candidate(id, { referenceKind: 'external_id' }));
    const [a, b, c] = named as [Candidate, Candidate, Candidate];
    const could = [{ ...a, amountCents: 5n }, { ...b, paidCents: 1_000n }, c];
    expect(one(line(1n), { named: { 1: could } })).toMatchObject({ expectedPaymentId: 'c' });
    expect(one(line(1n), { named: { 1: [a, c] } })).toMatchObject({ kind: 'ambiguous' });
  });

  const paidBy = (second: number, rule = 'reference') => ({
    paidCents: 1_000n,
    paidBy: { nsu: 9n, occurredAt: at(second), rule },
  });

  it('that was made twice pays once: the later is one too many, whichever is judged first', () => {
    const named = { 1: [candidate('a')], 2: [candidate('a')] };
    const lines = [line(1n, { occurredAt: at(11) }), line(2n)];
    for (const given of [lines, [...lines].reverse()])
      expect(outcomesOf(given, { named })).toMatchObject([
        { nsu: 2n, outcome: 'matched', displaces: false },
        { nsu: 1n, kind: 'duplicate_payment', expectedPaymentId: 'a', candidates: [{}] },
      ]);
  });

  it.each<[string, Partial<Candidate>]>([
    ['before', paidBy(9)],
    ['by a person', paidBy(11, 'manual')],
    ['in the same instant under a smaller nsu', { ...paidBy(10), paidCents: 1_000n }],
    ['and has come back', { ...paidBy(9), returnedCents: 1_000n }],
  ])('of what was paid %s is a duplicate', (_, change) => {
    expect(one(line(10n), { named: { 10: [candidate('a', change)] } })).toMatchObject({
      kind: 'duplicate_payment',
    });
  });

  it.each<[string, Partial<Candidate>]>([
    ['a later debit', paidBy(11)],
    ['a rule', paidBy(9, 'counterparty')],
  ])('takes the place of %s that pays the same', (_, change) => {
    const named = { 1: [candidate('a', { ...change, returnedCents: 400n })] };
    const back400 = back(2n, { amountCents: 1_000n });
    expect(outcomesOf([line(1n), back400], { named: { ...named, 2: named[1] } })).toMatchObject([
      { outcome: 'matched', displaces: true, settlement: 'settled' },
      { outcome: 'matched', role: 'reversal', settlement: 'reversed' },
    ]);
  });

  it.each([999n, 1_001n])('of another amount (%s) is no payment', (amountCents) => {
    const named = { 1: [candidate('a', { operationState: 'unknown' })] };
    expect(one(line(1n, { amountCents }), { named })).toMatchObject({
      kind: 'amount_mismatch',
      expectedPaymentId: 'a',
      candidates: [{ referenceValue: 'E of a' }],
    });
  });

  it('is told by ids before a rule takes it', () => {
    const named = { 2: [candidate('a', { operationState: 'unknown' })] };
    const lines = [line(1n), line(2n, { occurredAt: at(11) })];
    expect(outcomesOf(lines, { named, open: { 1: [open('a')] } })).toMatchObject([
      { kind: 'unexpected' },
      { rule: 'reference' },
    ]);
  });

  it('of what was said to have failed is its payment, unless it is awaited under the same id', () => {
    const failed = candidate('a', { kind: 'pay_bill', isWithdrawn: true });
    expect(one(line(1n), { named: { 1: [failed] } })).toMatchObject({
      outcome: 'matched',
      wasWithdrawn: true,
    });
    expect(one(line(1n), { named: { 1: [failed, candidate('b')] } })).toMatchObject({
      expectedPaymentId: 'b',
      wasWithdrawn: false,
    });
  });

  it('of a rejected operation is no payment of it, and of one proven not executed it is', () => {
    const rejected = candidate('a', { operationState: 'rejected', isWithdrawn: true });
    expect(one(line(1n), { named: { 1: [rejected] } })).toMatchObject({ kind: 'unexpected' });
    const late = candidate('a', { operationState: 'not_executed' });
    expect(one(line(1n), { named: { 1: [late] } })).toMatchObject({
      outcome: 'matched',
      operation: { operationState: 'not_executed' },
    });
  });
});

describe('a debit that carries no id of ours', () => {
  const could = (...debits: OpenDebit[]) => one(line(1n), { open: { 1: debits } });

  it.each(['unknown', 'needs_operator', 'not_executed', 'succeeded'])(
    'pays the one unanswered payment to its side, where that is %s',
    (operationState) => {
      expect(could(open('a', { operationState }))).toMatchObject({
        outcome: 'matched',
        rule: 'counterparty',
        expectedPaymentId: 'a',
      });
    },
  );

  it('is never given to the first of several payments to one side', () => {
    const ended = (id: string) => open(id, { operationState: 'needs_operator' });
    expect(could(ended('a'), ended('b'))).toMatchObject({ outcome: 'break', kind: 'ambiguous' });
    expect(could(open('a'), ended('b'))).toMatchObject({ outcome: 'deferred' });
  });

  it('is the oldest of several refunds of one Pix, which are the same to everyone', () => {
    const refund = (id: string, second: number) =>
      open(id, { tie: 'original', createdAt: at(second), referenceKind: 'original_end_to_end_id' });
    const debits = [refund('younger', 2), refund('older', 1), open('other side')];
    expect(could(...debits)).toMatchObject({ rule: 'original', expectedPaymentId: 'older' });
    const both = outcomesOf([line(2n, { occurredAt: at(11) }), line(1n)], {
      open: { 1: debits, 2: debits },
    });
    expect(both).toMatchObject([{ expectedPaymentId: 'older' }, { expectedPaymentId: 'younger' }]);
  });

  it.each<[string, Partial<OpenDebit>]>([
    ['is being sent, and may be answered with ids', { operationState: 'sending' }],
    ['was not sent yet', { operationState: 'received' }],
    ['does not say who gets it', { tie: null }],
    ['is known to the bank by an id', { isKnownToBank: true }],
  ])('waits for a payment that %s', (_, change) => {
    expect(could(open('a', change))).toEqual({ outcome: 'deferred', nsu: 1n, amountCents: 1_000n });
  });

  it.each<[string, Partial<OpenDebit>]>([
    ['began after it', { from: at(11) }],
    ['is of another amount', { amountCents: 999n }],
    ['was paid', { paidCents: 1_000n }],
    [
      'nobody waits for, and does not say who gets it',
      { operationState: 'needs_operator', tie: null },
    ],
    ['ended long before', { operationState: 'not_executed', until: at(9) }],
    ['would have had its effect before', { until: at(9) }],
  ])('is unexpected beside a payment that %s', (_, change) => {
    expect(could(open('a', change))).toMatchObject({ outcome: 'break', kind: 'unexpected' });
  });

  it('from before the account went live is an opening line, whatever is under way', () => {
    const before = line(1n, { occurredAt: new Date(goLiveAt.getTime() - 1) });
    const debit = open('a', { from: new Date(0), tie: null });
    expect(one(before, { open: { 1: [debit] } })).toMatchObject({ outcome: 'classified' });
  });
});

describe('money that comes back', () => {
  const paid = (id: string, change: Partial<Candidate> = {}) =>
    candidate(id, { paidCents: 1_000n, ...change });
  const original = (id: string, change: Partial<Candidate> = {}) =>
    paid(id, { isOriginal: true, referenceKind: 'original_end_to_end_id', ...change });

  it.each<[string, Candidate]>([
    ['the id of the payment', paid('a')],
    ['the bank’s id of the movement', paid('a', { referenceKind: 'movement_id' })],
    ['its bill', paid('a', { referenceKind: 'bill_code' })],
    ['the payment as what it gives back', original('a')],
  ])('is a return where it carries %s', (_, named) => {
    expect(one(back(1n), { named: { 1: [named] } })).toMatchObject({
      outcome: 'matched',
      role: 'reversal',
      rule: 'reversal',
      expectedPaymentId: 'a',
      settlement: 'reversed',
    });
  });

  it('in parts is never more than was paid', () => {
    const parts = [400n, 500n, 200n, 100n].map((amountCents, index) =>
      back(BigInt(index + 1), { amountCents, occurredAt: at(index) }),
    );
    const named = Object.fromEntries(parts.map(({ nsu }) => [nsu.toString(), [original('a')]]));
    expect(outcomesOf(parts, { named })).toMatchObject([
      { settlement: 'partially_reversed' },
      { settlement: 'partially_reversed' },
      { outcome: 'break', kind: 'unexpected', candidates: [{ referenceValue: 'E of a' }] },
      { settlement: 'reversed' },
    ]);
  });

  it.each(['CREDIT_PIX', 'CREDIT_TRANSFER_INTERNAL'])(
    'is not the incoming leg of what we sent to ourselves (%s)',
    (typeName) => {
      expect(one(back(1n, { typeName }), { named: { 1: [paid('a')] } })).toMatchObject({
        outcome: 'break',
        kind: 'unexpected',
      });
    },
  );

  it('of a Pix to ourselves that we refunded is the Pix, and the refund’s own return is the refund', () => {
    const named = { 1: [paid('refund'), original('pix')] };
    const decided = (typeName: string) => one(back(1n, { typeName }), { named });
    expect(decided('CREDIT_PIX_REFUND')).toMatchObject({ expectedPaymentId: 'pix' });
    expect(decided('CREDIT_PIX_REFUND_REVERSAL')).toMatchObject({ expectedPaymentId: 'refund' });
  });

  it('is told by the line that it gives back where no record of ours knows that id', () => {
    const debit = line(9n, { endToEndId: 'E1' });
    for (const ids of [{ endToEndId: 'E1' }, { originalEndToEndId: 'E1', endToEndId: 'D1' }]) {
      const lines = [back(1n, { ...ids, occurredAt: at(10) }), debit];
      expect(outcomesOf(lines, { open: { 9: [open('a')] } })).toMatchObject([
        { nsu: 1n, role: 'reversal', expectedPaymentId: 'a' },
        { nsu: 9n, role: 'payment', rule: 'counterparty' },
      ]);
    }
  });

  it('waits a while for the line of what it gives back, and is unexpected without it', () => {
    const named = { 1: [candidate('a')] };
    expect(one(back(1n, { isFresh: true }), { named })).toMatchObject({ outcome: 'deferred' });
    expect(one(back(1n), { named })).toMatchObject({ outcome: 'break', kind: 'unexpected' });
  });

  it('that several payments could be is ambiguous', () => {
    const named = { 1: [paid('a'), paid('b')] };
    expect(one(back(1n), { named })).toMatchObject({ outcome: 'break', kind: 'ambiguous' });
  });
});
