// Reads a scenario of test/scenarios: facts in the words of an accountant, and what they mean.
import { z } from 'zod';
import type { Facts, ManualLink } from '../../src/reconciliation/decide/model.js';
import { expectedPaymentFacts, lineFacts, possibleOriginalsOf } from './facts.js';

/** A YAML number has lost its last zero: 10.00 reads as 10. */
const reais = z.number().transform((value) => BigInt(Math.round(value * 100)));
/** YAML may read 12:00 as text or as seconds. */
const time = z
  .string()
  .regex(/^\d{2}:\d{2}$/)
  .transform((value) => new Date(`2026-03-02T${value}:00Z`));
const text = z.coerce.string();

const payment = z.strictObject({
  payment: z.string(),
  receives: reais.optional(),
  sends: reais.optional(),
  correlationId: text.optional(),
  externalId: text.optional(),
  endToEndId: text.optional(),
  movementId: text.optional(),
  originalEndToEndId: text.optional(),
  counterparty: text.optional(),
  document: text.optional(),
  isMultiUse: z.boolean().default(false),
  operation: z.string().default('succeeded'),
  withdrawal: z.enum(['rejected', 'failed', 'absence_proven', 'given_up']).optional(),
  cancelledAt: time.optional(),
  expiredAt: time.optional(),
  refundOf: z.number().optional(),
  isTransfer: z.boolean().default(false),
  dueDate: z.string().optional(),
  acceptedAt: time.optional(),
  bill: z
    .strictObject({
      state: z.string(),
      mayGoUntil: time.optional(),
      isFreed: z.boolean().default(false),
      hasOtherLive: z.boolean().default(false),
    })
    .optional(),
  transferFailure: z.enum(['recent', 'past']).optional(),
});

const line = z.strictObject({
  nsu: z.number(),
  at: time,
  credit: reais.optional(),
  debit: reais.optional(),
  type: z.string().optional(),
  correlationId: text.optional(),
  externalId: text.optional(),
  endToEndId: text.optional(),
  movementId: text.optional(),
  originalEndToEndId: text.optional(),
  counterparty: text.optional(),
  document: text.optional(),
  isFresh: z.boolean().default(false),
  isFromOwnAccount: z.boolean().default(false),
  undoesDebit: z.boolean().default(false),
});

const operation = z.strictObject({
  operation: z.string(),
  state: z.string(),
  amount: reais.optional(),
  isResent: z.boolean().default(false),
});

const decision = z.union([
  z.strictObject({ accept: z.string(), line: z.number(), amount: reais }),
  z.strictObject({ link: z.string(), line: z.number(), amount: reais }),
  z.strictObject({ refundOf: z.number(), line: z.number(), amount: reais }),
  z.strictObject({ separate: z.string(), line: z.number() }),
]);

const rule = z.union([
  z.strictObject({
    match: z.array(z.enum(['document', 'amount', 'window', 'notes'])),
    combines: z.boolean().default(false),
    instalments: z.boolean().default(false),
    activeSince: time.optional(),
  }),
  z.strictObject({
    classify: z.enum(['fee', 'tariff', 'own_account_transfer', 'ignored']),
    types: z.array(z.string()),
  }),
]);

const finalMatch = z.strictObject({ line: z.number(), payment: z.string(), amount: reais });

export const scenarioSchema = z.strictObject({
  scenario: z.string(),
  goLiveAt: time.optional(),
  /** Until then, another system sent money from the account. */
  othersSentUntil: time.optional(),
  /** The statement is complete up to this time. */
  asOf: z.coerce.date().nullable().default(null),
  operations: z.array(operation).default([]),
  expected: z.array(payment).default([]),
  statement: z.array(line),
  decisions: z.array(decision).default([]),
  rules: z.array(rule).default([]),
  finalMatches: z.array(finalMatch).default([]),
  outcomes: z.record(z.string(), z.string()),
  breaks: z.array(z.string()).default([]),
});
export type AccountantScenario = z.output<typeof scenarioSchema>;

export function factsOf(scenario: AccountantScenario): Facts {
  const { decisions, finalMatches, operations, asOf, goLiveAt = new Date(0) } = scenario;
  const { othersSentUntil: until } = scenario;
  const lines = scenario.statement.map(toLine);
  return {
    ...{ goLiveAt, asOf, debitMissingMs: 3_600_000 },
    othersSent: until ? [{ recordedFrom: null, recordedUntil: until, occurredUntil: until }] : [],
    imported: { recordedUntil: null, occurredUntil: new Date(0) },
    creditDays: { slip: 1, pix: 0, other: 1 },
    operations: operations.map(({ operation: id, state, amount = null }) => ({
      ...{ id, kind: 'create_transfer', state, reason: 'no_response', attempts: 1 },
      amountCents: amount,
    })),
    lines,
    expectedPayments: scenario.expected.map(toPayment),
    links: decisions.flatMap(toLink),
    separated: decisions.flatMap((one) =>
      'separate' in one ? [{ nsu: BigInt(one.line), expectedPaymentId: one.separate }] : [],
    ),
    finalClassifications: [],
    possibleOriginals: possibleOriginalsOf(
      lines,
      decisions.map(({ line: nsu }) => BigInt(nsu)),
    ),
    finalMatches: finalMatches.map((one) => ({
      ...{ nsu: BigInt(one.line), expectedPaymentId: one.payment, amountCents: one.amount },
      ...{ rule: 'declared', owedCents: one.amount, isTolerated: false, evidence: {} },
      declared: { ruleId: 'rule', version: 1 },
    })),
    decisions: [
      ...decisions.flatMap((one) =>
        'accept' in one
          ? [
              {
                ...{ breakId: 'break', kind: one.accept, subject: `nsu:${one.line}` },
                ...{ nsu: BigInt(one.line), expectedPaymentId: null, action: 'accept' as const },
                ...{ ...byPerson, cents: one.amount, refundPaymentId: null },
              },
            ]
          : [],
      ),
      ...operations
        .filter(({ isResent }) => isResent)
        .map(({ operation: id }) => ({
          ...{ breakId: 'break', kind: 'unknown_outcome', subject: `operation:${id}` },
          ...{ nsu: null, expectedPaymentId: null, action: 'resend' as const },
          ...{ ...byPerson, cents: null, refundPaymentId: null },
        })),
    ],
    rules: scenario.rules.map((one, index) => ({
      ...{ ruleId: `rule ${index}`, version: 1, priority: index },
      activatedAt: ('match' in one && one.activeSince) || new Date('2026-03-01T00:00:00Z'),
      when: 'types' in one ? { types: one.types } : {},
      then:
        'match' in one
          ? {
              ...{ do: 'match', by: one.match, window: null },
              ...{ toleranceCents: 0n, toleranceBasisPoints: 0n },
              ...{ combines: one.combines, instalments: one.instalments },
            }
          : { do: 'classify', classify: one.classify, reason: 'by the rule' },
    })),
  };
}

const byPerson = { actor: 'anna', reason: 'as agreed' };

function toLink(one: AccountantScenario['decisions'][number]): ManualLink[] {
  if (!('link' in one || 'refundOf' in one)) return [];
  const { line, amount: amountCents } = one;
  const link = { nsu: BigInt(line), decidedBy: byPerson, allocations: [], refundOf: [] };
  if ('link' in one)
    return [{ ...link, allocations: [{ expectedPaymentId: one.link, amountCents }] }];
  const originalNsu = BigInt(one.refundOf);
  return [{ ...link, refundOf: [{ originalNsu, amountCents, expectedPaymentId: null }] }];
}

function toLine({
  nsu,
  at,
  credit,
  debit,
  type,
  document,
  ...ids
}: AccountantScenario['statement'][number]) {
  const isCredit = credit !== undefined;
  return lineFacts({
    ...ids,
    nsu: BigInt(nsu),
    occurredAt: at,
    isCredit,
    amountCents: credit ?? debit ?? 0n,
    typeName: type ?? (isCredit ? 'CREDIT_PIX' : 'DEBIT_PIX'),
    counterpartyDocument: document ?? null,
  });
}

function toPayment(one: AccountantScenario['expected'][number], index: number) {
  const { payment: id, receives, sends, document = null, operation, withdrawal = null } = one;
  const references = [
    { kind: 'correlation_id', value: one.correlationId },
    { kind: 'external_id', value: one.externalId },
    { kind: 'end_to_end_id', value: one.endToEndId },
    { kind: 'movement_id', value: one.movementId },
    { kind: 'original_end_to_end_id', value: one.originalEndToEndId },
    { kind: 'counterparty', value: one.counterparty },
  ] as const;
  const { cancelledAt = null, expiredAt = null, transferFailure = null } = one;
  const isUnanswered = !['succeeded', 'rejected', 'awaiting_approval'].includes(operation);
  const isCharge = receives !== undefined && !one.isMultiUse;
  return expectedPaymentFacts({
    id,
    operationId: id,
    kind: isCharge ? 'create_charge' : 'create_transfer',
    isCredit: receives !== undefined,
    amountCents: receives ?? sends ?? null,
    isMultiUse: one.isMultiUse,
    counterpartyDocument: document,
    createdAt: new Date(Date.UTC(2026, 2, 2, 9, 0, index)),
    references: references.flatMap(({ kind, value }) =>
      value === undefined ? [] : [{ kind, value }],
    ),
    operationState: operation,
    isWithoutResponse: isUnanswered,
    effect: isUnanswered
      ? { from: new Date('2026-03-02T09:00:00Z'), until: new Date('2026-03-02T18:00:00Z') }
      : null,
    withdrawal,
    refundOfNsu: one.refundOf === undefined ? null : BigInt(one.refundOf),
    charge: isCharge ? { correlationId: id, type: 'BANKSLIP', cancelledAt, expiredAt } : null,
    dueDate: one.dueDate ?? null,
    effectiveAt: one.acceptedAt ?? null,
    bill: one.bill
      ? {
          ...{ state: one.bill.state, bankId: null, bankStatus: null, scheduledFor: null },
          mayGoUntil: one.bill.mayGoUntil ?? null,
          ...{ isFreed: one.bill.isFreed, hasOtherLive: one.bill.hasOtherLive },
          ...{ minimumCents: null, maximumCents: null },
        }
      : null,
    transfer:
      one.isTransfer || transferFailure !== null
        ? { id, externalId: null, endToEndId: null, errorCode: null, failure: transferFailure }
        : null,
  });
}
