// Random worlds of facts: few ids, so that lines and payments share them by right and by accident.
import fc from 'fast-check';
import type { Reference } from '../../src/statement/expected-payments/references.js';
import type { ExpectedPaymentFacts, Facts } from '../../src/reconciliation/decide/model.js';
import { expectedPaymentFacts, facts, lineFacts, possibleOriginalsOf } from './facts.js';

const day = Date.UTC(2026, 2, 2);
const at = (minute: number) => new Date(day + minute * 60_000);
const cents = fc.constantFrom(500n, 1_000n, 1_500n);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 2 });
const idOf = (name: string) => fc.constantFrom(`${name}1`, `${name}2`, `${name}3`);

const debitTypes = {
  CREDIT_PIX: 'DEBIT_PIX',
  CREDIT_PIX_REVERSAL: 'DEBIT_PIX',
  CREDIT_PIX_REFUND: 'DEBIT_PIX_REFUND',
} as const;

const reported = idOf('c').map((value): Reference => ({ kind: 'correlation_id', value }));

const line = fc
  .record({
    isCredit: fc.boolean(),
    amountCents: cents,
    minute: fc.integer({ min: 0, max: 20 }),
    typeName: fc.constantFrom(...(Object.keys(debitTypes) as (keyof typeof debitTypes)[])),
    correlationId: maybe(idOf('c')),
    externalId: maybe(idOf('x')),
    endToEndId: maybe(idOf('e')),
    originalEndToEndId: maybe(idOf('e')),
    counterparty: maybe(fc.constantFrom('1/1/77', '1/1/78')),
    counterpartyDocument: maybe(idOf('d')),
    reported: fc.array(reported, { maxLength: 1 }),
    isFresh: fc.boolean(),
    isFromOwnAccount: fc.boolean(),
    undoesDebit: fc.boolean(),
  })
  .map(({ minute, typeName, ...one }) => ({
    ...one,
    occurredAt: at(60 + minute),
    typeName: one.isCredit ? typeName : debitTypes[typeName],
  }));

const payment = fc
  .record({
    isCredit: fc.boolean(),
    amountCents: maybe(cents),
    isMultiUse: fc.boolean(),
    minute: fc.integer({ min: 0, max: 90 }),
    correlationId: maybe(idOf('c')),
    externalId: maybe(idOf('x')),
    endToEndId: maybe(idOf('e')),
    counterparty: maybe(fc.constantFrom('1/1/77', '77')),
    counterpartyDocument: maybe(idOf('d')),
    isTransfer: fc.boolean(),
    operationState: fc.constantFrom(
      ...['succeeded', 'unknown', 'sending', 'needs_operator', 'awaiting_approval'],
    ),
    withdrawal: maybe(
      fc.constantFrom('rejected', 'failed', 'absence_proven') as fc.Arbitrary<
        NonNullable<ExpectedPaymentFacts['withdrawal']>
      >,
    ),
  })
  .map(({ minute, correlationId, externalId, endToEndId, counterparty, isTransfer, ...one }) => ({
    ...one,
    transfer:
      isTransfer && !one.isCredit
        ? { id: 't', externalId: null, endToEndId: null, errorCode: null, failure: null }
        : null,
    isMultiUse: one.isMultiUse && one.isCredit,
    createdAt: at(minute),
    isWithoutResponse: !['succeeded', 'awaiting_approval'].includes(one.operationState),
    effect: { from: at(0), until: at(75) },
    references: [
      ...(correlationId === null
        ? []
        : [{ kind: 'correlation_id' as const, value: correlationId }]),
      ...(externalId === null ? [] : [{ kind: 'external_id' as const, value: externalId }]),
      ...(endToEndId === null ? [] : [{ kind: 'end_to_end_id' as const, value: endToEndId }]),
      ...(counterparty === null ? [] : [{ kind: 'counterparty' as const, value: counterparty }]),
    ],
  }));

/** Another system declared the payment: no operation expects it. */
const declaration = maybe(
  fc.record({
    amountCents: cents,
    isRange: fc.boolean(),
    hasConditions: fc.boolean(),
    toleranceCents: fc.constantFrom(0n, 5n),
    dateTo: fc.constantFrom('2026-03-01', '2026-03-02'),
    text: maybe(fc.constantFrom('pix$', 'reversal')),
    cancelledAt: maybe(fc.constant(at(70))),
  }),
).map((made): Partial<ExpectedPaymentFacts> => {
  if (made === null) return {};
  const { amountCents, isRange, hasConditions, toleranceCents, dateTo, text, cancelledAt } = made;
  const accepted = {
    fromCents: amountCents - toleranceCents,
    toCents: amountCents + toleranceCents,
  };
  return {
    ...{ operationId: null, kind: 'declared', operationState: null, isWithoutResponse: false },
    ...{ effect: null, isMultiUse: false, amountCents: isRange ? null : amountCents, accepted },
    ...{ withdrawal: cancelledAt && 'cancelled', isWithdrawn: cancelledAt !== null },
    dueDate: dateTo,
    declared: {
      ...{ externalId: 'x', matching: hasConditions ? accepted : null, dateFrom: '2026-03-01' },
      ...{ dateTo, text, category: null, costCentre: null },
      ...{ project: null, parts: [], cancelledAt },
    },
  };
});

/** One rule: by document and amount, also several payments at once. */
export const rules = [
  {
    ...{ ruleId: 'rule', version: 1, priority: 1, activatedAt: at(0), when: {} },
    then: {
      ...{ do: 'match' as const, by: ['document' as const, 'amount' as const], window: null },
      ...{ toleranceCents: 0n, toleranceBasisPoints: 0n, combines: true, instalments: false },
    },
  },
];

const nsuAt = (index: number) => BigInt(index + 1);

export const world = fc
  .record({
    lines: fc.array(line, { maxLength: 8 }),
    payments: fc.array(
      fc.tuple(payment, declaration).map(([one, declared]) => ({ ...one, ...declared })),
      { maxLength: 6 },
    ),
    hasRules: fc.boolean(),
    linked: fc.array(fc.tuple(fc.nat(7), fc.nat(5)), { maxLength: 2 }),
    refunded: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 2 }),
    separated: fc.array(fc.tuple(fc.nat(7), fc.nat(5)), { maxLength: 2 }),
    accepted: fc.array(fc.nat(7), { maxLength: 2 }),
  })
  .map((made): Facts => {
    const lines = made.lines.map((one, index) => lineFacts({ ...one, nsu: nsuAt(index) }));
    const expectedPayments = made.payments.map((one, index) =>
      expectedPaymentFacts({ operationId: `o${index}`, ...one, id: `p${index}` }),
    );
    const pairs = (found: [number, number][]) =>
      found.flatMap(([lineIndex, paymentIndex]) => {
        const [of, paid] = [lines[lineIndex], expectedPayments[paymentIndex]];
        return of && paid ? [{ line: of, payment: paid }] : [];
      });
    const links = new Map(pairs(made.linked).map((pair) => [pair.line.nsu, pair]));
    const refunds = made.refunded.flatMap(([debitIndex, creditIndex]) => {
      const [debit, credit] = [lines[debitIndex], lines[creditIndex]];
      if (!debit || debit.isCredit || !credit?.isCredit) return [];
      return links.has(debit.nsu) ? [] : [{ debit, credit }];
    });
    const refundByDebit = new Map(refunds.map((one) => [one.debit.nsu, one]));
    const decided = [...links.keys(), ...refundByDebit.keys(), ...made.accepted.map(nsuAt)];
    return facts({
      lines,
      expectedPayments,
      possibleOriginals: possibleOriginalsOf(lines, decided),
      rules: made.hasRules ? rules : [],
      links: [
        ...[...links.values()].map(({ line: of, payment: paid }) => ({
          nsu: of.nsu,
          allocations: [{ expectedPaymentId: paid.id, amountCents: of.amountCents }],
          refundOf: [],
          decidedBy: { actor: 'anna', reason: 'as agreed' },
        })),
        ...[...refundByDebit.values()].map(({ debit: { nsu, amountCents }, credit }) => ({
          ...{ nsu, allocations: [], decidedBy: { actor: 'anna', reason: 'as agreed' } },
          refundOf: [{ originalNsu: credit.nsu, amountCents, expectedPaymentId: null }],
        })),
      ],
      separated: pairs(made.separated).map(({ line: of, payment: paid }) => ({
        nsu: of.nsu,
        expectedPaymentId: paid.id,
      })),
      decisions: made.accepted.flatMap((index) => {
        const of = lines[index];
        if (!of) return [];
        const { nsu, amountCents } = of;
        return [
          {
            ...{ breakId: 'b', kind: 'unexpected', subject: `nsu:${nsu}`, nsu },
            ...{ expectedPaymentId: null, action: 'accept' as const, actor: 'anna' },
            ...{ reason: 'as agreed', cents: amountCents, refundPaymentId: null },
          },
        ];
      }),
    });
  });

/** The items in the order of the keys. */
export const shuffledBy = <Item>(items: readonly Item[], keys: readonly number[]): Item[] =>
  items
    .map((item, index) => ({ item, key: keys[index % keys.length] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
