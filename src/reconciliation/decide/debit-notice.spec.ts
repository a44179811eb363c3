import { describe, expect, it } from '@jest/globals';
import { expectedPaymentFacts, facts, lineFacts } from '../../../test/support/facts.js';
import { notedDebits } from './debit-evidence.js';
import { debitRows, noticeOf, type DebitEvidence, type DebitSurroundings } from './debit-notice.js';
import { decide } from './decide.js';
import type { ExpectedPaymentFacts, Facts, StatementLineFacts } from './model.js';

const none: DebitEvidence = {
  ...{ isEarlier: false, own: null, operation: null, refundOfNsu: null, reversesCredit: false },
  ...{ declared: null, hasOtherAmount: false },
};
const alone: DebitSurroundings = {
  ...{ isLate: false, hasWaited: false, isDisputed: false, isPricedFee: false, ownAccount: null },
  ...{ isWithinDeclaredType: false, isAboveThreshold: false },
};
type Known = Partial<DebitEvidence & DebitSurroundings>;

describe('who is notified of a debit', () => {
  const table: [row: string, known: Known, notice: string][] = [
    ['earlier', { isEarlier: true }, 'recorded'],
    ['earlier', { isLate: true, own: 'differs', isAboveThreshold: true }, 'recorded'],
    ['own_id', { own: 'agrees', operation: 'explains' }, 'nothing'],
    ['own_id', { own: 'differs', declared: 'in_full', isWithinDeclaredType: true }, 'alarm'],
    ['own_id', { own: 'agrees', operation: 'explains', hasOtherAmount: true }, 'alert'],
    ['second_debit', { own: 'second', operation: 'may_explain' }, 'alarm'],
    ['operation', { operation: 'explains' }, 'nothing'],
    ['operation', { operation: 'may_explain' }, 'wait'],
    ['operation', { operation: 'may_explain', hasWaited: true, isAboveThreshold: true }, 'alert'],
    ['refund', { refundOfNsu: '1', isDisputed: true }, 'nothing'],
    ['refund', { refundOfNsu: '1', isAboveThreshold: true }, 'alert'],
    ['reversal', { reversesCredit: true, isPricedFee: true }, 'alert'],
    ['fee', { isPricedFee: true, isAboveThreshold: true }, 'nothing'],
    ['own_account', { ownAccount: 'credited' }, 'nothing'],
    ['own_account', { ownAccount: 'expected' }, 'wait'],
    ['own_account', { ownAccount: 'expected', hasWaited: true }, 'alert'],
    ['own_account', { ownAccount: 'same_tax_id', declared: 'in_full' }, 'alert'],
    ['declared', { declared: 'in_full' }, 'nothing'],
    ['declared', { declared: 'in_part', isWithinDeclaredType: true }, 'alert'],
    ['declared_type', { isWithinDeclaredType: true, isAboveThreshold: true }, 'nothing'],
    ['unexplained', { isDisputed: true, hasWaited: true }, 'critical_alert'],
    ['unexplained', { isAboveThreshold: true }, 'alarm'],
  ];

  it.each(table)('is decided by the row %s for %j: %s', (row, known, notice) => {
    expect(noticeOf({ ...none, ...alone, ...known })).toEqual({ row, notice });
  });

  it('has a case for each row', () => {
    expect([...new Set(table.map(([row]) => row))]).toEqual(debitRows);
  });
});

const at = new Date('2026-03-02T12:00:00Z');
const debit = (change: Partial<StatementLineFacts> = {}) =>
  lineFacts({ nsu: 7n, isCredit: false, typeName: 'DEBIT_PIX', ...change });
const payee = '12345678/0001/1000';
const sent = (change: Partial<ExpectedPaymentFacts> = {}) =>
  expectedPaymentFacts({
    ...{ kind: 'pay_pix', isCredit: false },
    references: [
      { kind: 'end_to_end_id', value: 'E1' },
      { kind: 'counterparty', value: payee },
    ],
    ...change,
  });
const bill = (change: Partial<ExpectedPaymentFacts> = {}) =>
  sent({
    kind: 'pay_bill',
    references: [
      { kind: 'end_to_end_id', value: 'E1' },
      { kind: 'bill_code', value: '1' },
    ],
    bill: {
      ...{ state: 'requested', bankId: null, bankStatus: null, scheduledFor: null },
      ...{ mayGoUntil: null, isFreed: false, hasOtherLive: false },
      ...{ minimumCents: 900n, maximumCents: 1_100n },
    },
    ...change,
  });
const declaredPayment = (change: Partial<ExpectedPaymentFacts> = {}) =>
  sent({ operationId: null, kind: 'declared', operationState: null, ...change });

const matchByAmount: Facts['rules'][number]['then'] = {
  ...{ do: 'match', by: ['amount'], toleranceCents: 0n, toleranceBasisPoints: 0n, window: null },
  ...{ combines: false, instalments: false },
};

const evidenceOf = (change: Partial<Facts>) =>
  new Map(notedDebits(decide(facts(change)).component).map(({ nsu, evidence }) => [nsu, evidence]));

describe('the evidence of a debit', () => {
  const found: [string, Partial<Facts>, Partial<DebitEvidence> | undefined][] = [
    ['nothing fits', { lines: [debit()] }, {}],
    [
      'our operation agrees',
      { lines: [debit({ endToEndId: 'E1', counterparty: payee })], expectedPayments: [sent()] },
      undefined,
    ],
    [
      'another payee than that of our operation',
      {
        lines: [debit({ endToEndId: 'E1', counterparty: '12345678/0001/9999' })],
        expectedPayments: [sent()],
      },
      { own: 'differs' },
    ],
    [
      'another amount than that of our operation',
      {
        lines: [debit({ endToEndId: 'E1', amountCents: 2_000n })],
        expectedPayments: [sent()],
      },
      { own: 'differs' },
    ],
    [
      'another amount that our bill allows',
      { lines: [debit({ endToEndId: 'E1', amountCents: 900n })], expectedPayments: [bill()] },
      { hasOtherAmount: true },
    ],
    [
      'another amount that our bill allows, by the code of the bill alone',
      { lines: [debit({ billCode: '1', amountCents: 1_100n })], expectedPayments: [bill()] },
      { hasOtherAmount: true },
    ],
    [
      'more than our bill allows',
      { lines: [debit({ endToEndId: 'E1', amountCents: 1_101n })], expectedPayments: [bill()] },
      { own: 'differs' },
    ],
    [
      'less than our bill allows',
      { lines: [debit({ endToEndId: 'E1', amountCents: 899n })], expectedPayments: [bill()] },
      { own: 'differs' },
    ],
    [
      'an amount of our bill, whose payment awaits approval',
      {
        lines: [debit({ endToEndId: 'E1', amountCents: 900n })],
        expectedPayments: [bill({ operationState: 'awaiting_approval' })],
      },
      { own: 'differs' },
    ],
    [
      'a second debit of our bill, within its range',
      {
        lines: [
          debit({ nsu: 6n, endToEndId: 'E1' }),
          debit({ endToEndId: 'E1', amountCents: 900n }),
        ],
        expectedPayments: [bill()],
      },
      { own: 'differs' },
    ],
    [
      'a second debit of our bill, of which none has its amount',
      {
        lines: [
          debit({ nsu: 6n, endToEndId: 'E1', amountCents: 950n }),
          debit({ endToEndId: 'E1', amountCents: 900n }),
        ],
        expectedPayments: [bill()],
      },
      { own: 'differs' },
    ],
    [
      'the oldest debit of our bill, of which none has its amount',
      {
        lines: [
          debit({ nsu: 8n, endToEndId: 'E1', amountCents: 950n }),
          debit({ endToEndId: 'E1', amountCents: 900n }),
        ],
        expectedPayments: [bill()],
      },
      { hasOtherAmount: true },
    ],
    [
      'a second debit by the code of our bill alone',
      {
        lines: [
          debit({ nsu: 6n, billCode: '1', amountCents: 950n }),
          debit({ billCode: '1', amountCents: 900n }),
        ],
        expectedPayments: [bill()],
      },
      { own: 'second' },
    ],
    [
      'our operation awaits approval',
      {
        lines: [debit({ endToEndId: 'E1', counterparty: payee })],
        expectedPayments: [sent({ operationState: 'awaiting_approval' })],
      },
      { own: 'differs' },
    ],
    [
      'a second debit of our operation',
      {
        lines: [debit({ nsu: 6n, endToEndId: 'E1' }), debit({ endToEndId: 'E1' })],
        expectedPayments: [sent()],
      },
      { own: 'second' },
    ],
    [
      'an open operation of the same amount fits',
      {
        lines: [debit({ counterparty: payee })],
        expectedPayments: [sent({ operationState: 'sending' })],
      },
      { operation: 'may_explain' },
    ],
    [
      'imported, before go-live',
      {
        lines: [debit()],
        goLiveAt: new Date('2027-01-01T00:00:00Z'),
        imported: { recordedUntil: null, occurredUntil: null },
      },
      undefined,
    ],
    [
      'before go-live, and stored after the import',
      {
        lines: [debit()],
        goLiveAt: new Date('2027-01-01T00:00:00Z'),
        imported: { recordedUntil: at, occurredUntil: new Date(0) },
      },
      { isEarlier: true },
    ],
    [
      'while the account was reconcile-only',
      {
        lines: [debit()],
        othersSent: [{ recordedFrom: null, recordedUntil: null, occurredUntil: null }],
      },
      { isEarlier: true },
    ],
    [
      'the bank returns a Pix of which so much is left',
      {
        lines: [
          lineFacts({ nsu: 1n, endToEndId: 'E9' }),
          debit({ typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E9' }),
        ],
      },
      { refundOfNsu: '1' },
    ],
    [
      'the bank returns more of a Pix than was received',
      {
        lines: [
          lineFacts({ nsu: 1n, endToEndId: 'E9', amountCents: 999n }),
          debit({ typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E9' }),
        ],
      },
      {},
    ],
    [
      'the bank undoes a credit of at least that',
      {
        lines: [
          lineFacts({ nsu: 1n, typeName: 'CREDIT_BANKSLIP', movementId: 'M' }),
          debit({ typeName: 'DEBIT_BANKSLIP_REVERSAL', movementId: 'M' }),
        ],
      },
      { reversesCredit: true },
    ],
    [
      'the bank undoes more than a credit',
      {
        lines: [
          lineFacts({ nsu: 1n, typeName: 'CREDIT_BANKSLIP', movementId: 'M', amountCents: 999n }),
          debit({ typeName: 'DEBIT_BANKSLIP_REVERSAL', movementId: 'M' }),
        ],
      },
      {},
    ],
    [
      'declared by payee and amount',
      {
        lines: [debit({ endToEndId: 'E1', counterparty: payee })],
        expectedPayments: [declaredPayment()],
      },
      undefined,
    ],
    [
      'declared by amount alone',
      {
        lines: [debit({ endToEndId: 'E1', counterparty: payee })],
        expectedPayments: [
          declaredPayment({ references: [{ kind: 'end_to_end_id', value: 'E1' }] }),
        ],
      },
      { declared: 'in_part' },
    ],
    [
      'declared after the line',
      {
        lines: [debit({ endToEndId: 'E1', counterparty: payee })],
        expectedPayments: [declaredPayment({ createdAt: new Date(at.getTime() + 1) })],
      },
      {},
    ],
    [
      'declared between the debit and its sync',
      {
        lines: [
          debit({ endToEndId: 'E1', counterparty: payee, recordedAt: new Date(at.getTime() + 9) }),
        ],
        expectedPayments: [declaredPayment({ createdAt: new Date(at.getTime() + 1) })],
      },
      {},
    ],
    [
      'declared by payee and amount, and the line shows no payee',
      { lines: [debit({ endToEndId: 'E1' })], expectedPayments: [declaredPayment()] },
      { declared: 'in_part' },
    ],
    [
      'an open operation has another payee by its tax id',
      {
        lines: [debit({ counterpartyDocument: '11222333000181' })],
        expectedPayments: [
          sent({ operationState: 'sending', counterpartyDocument: '11444777000161' }),
        ],
      },
      {},
    ],
    [
      'a rule finds two declared payments',
      {
        lines: [debit()],
        expectedPayments: ['one', 'two'].map((id) =>
          declaredPayment({ id, references: [{ kind: 'external_id', value: id }] }),
        ),
        rules: [{ ...ruleOf({ types: ['DEBIT_PIX'] }), then: matchByAmount }],
      },
      {},
    ],
    [
      'a rule allows another amount than that of our operation',
      {
        lines: [debit({ amountCents: 1_005n })],
        expectedPayments: [sent()],
        finalMatches: [
          {
            ...{ nsu: 7n, expectedPaymentId: 'payment', amountCents: 1_005n, rule: 'declared' },
            ...{ owedCents: 1_000n, isTolerated: true, declared: null, evidence: {} },
          },
        ],
      },
      { operation: 'explains', hasOtherAmount: true },
    ],
    ['a rule by type alone', { lines: [debit()], rules: [ruleOf({ types: ['DEBIT_PIX'] })] }, {}],
    [
      'a rule by type and amount',
      { lines: [debit()], rules: [ruleOf({ types: ['DEBIT_PIX'], maxCents: 1_000n })] },
      { declared: 'in_part' },
    ],
    [
      'a rule by payee and amount',
      {
        lines: [debit({ counterpartyDocument: '11222333000181' })],
        rules: [ruleOf({ document: '11222333000181', maxCents: 1_000n })],
      },
      undefined,
    ],
    [
      'a rule that is newer than the line',
      {
        lines: [debit({ counterpartyDocument: '11222333000181' })],
        rules: [
          {
            ...ruleOf({ document: '11222333000181', maxCents: 1_000n }),
            activatedAt: new Date(at.getTime() + 1),
          },
        ],
      },
      {},
    ],
  ];

  it.each(found)('is found where %s', (_, change, evidence) => {
    expect(evidenceOf(change).get(7n)).toEqual(evidence && { ...none, ...evidence });
  });

  it('is that of an open operation for one debit, the oldest, and of no other', () => {
    const lines = [9n, 8n, 7n].map((nsu) =>
      debit({ nsu, endToEndId: `X${nsu}`, occurredAt: new Date(at.getTime() + Number(nsu)) }),
    );
    const open = { operationState: 'sending', references: [] };
    const operations = (...ids: string[]) => ids.map((id) => sent({ ...open, id }));
    const found = (expectedPayments: ExpectedPaymentFacts[]) =>
      [...evidenceOf({ lines, expectedPayments })].map(([nsu, one]) => [nsu, one?.operation]);
    const waits = 'may_explain';
    expect(found(operations('one'))).toEqual([
      [7n, waits],
      [8n, null],
      [9n, null],
    ]);
    expect(found(operations('one', 'two'))).toEqual([
      [7n, waits],
      [8n, waits],
      [9n, null],
    ]);
  });

  it('stays as it was where a rule decided that is retired', () => {
    const rule = { ruleId: 'old', version: 1, category: 'ignored', reason: null } as const;
    const finalClassifications = [{ ...rule, nsu: 7n, evidence: {} }];
    expect([...evidenceOf({ lines: [debit()], finalClassifications })]).toEqual([[7n, null]]);
  });

  it('ends when a person links the line', () => {
    const lines = [debit()];
    const decidedBy = { actor: 'person', reason: 'imposto' };
    const links = [
      {
        ...{ nsu: 7n, refundOf: [], decidedBy },
        allocations: [{ expectedPaymentId: 'payment', amountCents: 1_000n }],
      },
    ];
    expect(evidenceOf({ lines, links, expectedPayments: [sent()] }).size).toBe(0);
  });
});

function ruleOf(when: Facts['rules'][number]['when']): Facts['rules'][number] {
  return {
    ...{ ruleId: 'rule', version: 1, priority: 1, when, activatedAt: new Date(0) },
    then: { do: 'classify', classify: 'ignored', reason: 'contrato' },
  };
}
