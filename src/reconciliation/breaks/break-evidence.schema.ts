// What the evidence of breaks and matches has, for the API reference. It is stored as the matcher
// wrote it, and shown as it is stored: nothing here refuses what an earlier version wrote.
import { z } from 'zod';
import { integer, nameSchemas, plainDate, timestamp } from '../../bank-contract/wire.js';
import {
  DisputeKind,
  DisputeStatus,
  TariffKind,
  UnreadableLineKind,
} from '../../generated/service/enums.js';
import { paymentPartKinds } from '../../statement/expected-payments/payment-parts.js';
import { breakKinds, type BreakKind } from '../decide/break-kind-declarations.js';

const id = z.string();
const optionalId = id.nullable();
const nsu = z.string().describe('The number of a statement line, as text.');
const cents = z.string().describe('An amount in cents, as text.');
const reaisText = z.string().describe('An amount in reais, as text.');
const optionalTime = timestamp.nullable();

/** An id that ties a line to an expected payment, and its kind. */
const reference = { referenceKind: z.string(), referenceValue: z.string() };

const instalment = z.object({
  ...{ count: integer, intervalDays: integer.nullable(), toleranceDays: integer, number: integer },
});
const fee = z.object({ cents, lineCents: cents, sales: integer });

/** Why a line accounts for an expected payment. Empty where a person linked them. */
export const matchEvidence = z
  .object({
    ...reference,
    source: z.literal('webhook').describe('The line lacks the id: a webhook about it has it.'),
    by: z.array(z.string()).describe('The criteria of the rule that hold.'),
    differenceCents: cents,
    ...{ instalment, fee, originalNsu: nsu },
  })
  .partial();

/** Why a line needs no match: of a match, of a break, or of these. */
const classificationEvidence = z
  .object({ actor: z.string(), breakId: id, endToEndId: id })
  .partial()
  .describe('Of a classification: who accepted the line, the refunded break, or the id it shares.');

const jumps = z
  .array(z.object({ nsu, cents: cents.nullable() }))
  .nullable()
  .describe('The lines at which the balance jumps, and by how much.');

const ofLine = z.object({
  candidates: z.array(z.object(reference)).describe('What the line may be.'),
  originalNsu: nsu.optional(),
});
const ofSettlement = z.object({
  ...{ owed: reaisText.nullable(), paid: reaisText },
  parts: z
    .array(z.object({ kind: z.enum(paymentPartKinds), expectedCents: cents, actualCents: cents }))
    .optional()
    .describe('The declared parts that explain the difference, if these alone can.'),
});
const ofOperation = { operationId: optionalId, operationKind: z.string() };
const ofBill = z.object({
  ...{ operationId: optionalId, bankId: optionalId, bankStatus: z.string().nullable() },
  ...{ scheduledFor: optionalTime, mayGoUntil: optionalTime },
});

/** By what opens breaks of each kind; some kinds are opened for several causes. */
const evidenceOfKind = {
  unexpected: ofLine,
  unrequested_debit: ofLine,
  ambiguous: ofLine,
  amount_mismatch: ofLine,
  duplicate_payment: z.union([ofLine, ofSettlement, ofBill]),
  underpaid: ofSettlement,
  overpaid: ofSettlement,
  paid_after_cancellation: ofSettlement,
  paid_after_expiry: ofSettlement,
  missing: z.object({
    ...{ ...ofOperation, dueDate: plainDate.nullable(), externalId: id.optional() },
    deadline: z.string().describe('The day in São Paulo, or the time, after which it is missing.'),
  }),
  late_line: z.union([
    matchEvidence.extend({ ...ofOperation, rule: z.string().optional() }),
    z.object({ date: plainDate, occurredAt: timestamp }),
  ]),
  over_refunded: z.object({ debits: z.array(nsu), operations: z.array(optionalId) }),
  failed_but_debited: z.object({
    ...{ transferId: id, operationId: optionalId, debitNsu: nsu, endToEndId: optionalId },
    errorCode: z.string().nullable(),
  }),
  unknown_outcome: z.union([
    z.object({ ...ofOperation, reason: z.string().nullable(), attempts: integer }),
    ofBill,
  ]),
  unreadable_line: z.object({
    ...{ kind: z.enum(UnreadableLineKind), reason: z.string(), nsu: nsu.nullable() },
  }),
  broken_balance_chain: z.union([
    z.object({
      ...{ nsu: nsu.nullable(), balancePreviousCents: cents.nullable(), jumps },
      ...{ neighbourNsu: nsu.nullable(), neighbourBalanceCents: cents.nullable() },
      ...{ since: optionalTime, fullReads: integer.nullable() },
    }),
    z.object({
      ...{ date: plainDate, opening: reaisText, credits: reaisText, debits: reaisText },
      ...{ closing: reaisText, balanceAtTheBank: reaisText, jumps },
    }),
  ]),
  disputed: z.object({
    ...{ disputeId: id, kind: z.enum(DisputeKind), status: z.enum(DisputeStatus) },
    ...{ endToEndId: optionalId, reportedAt: optionalTime, deadlineAt: optionalTime },
  }),
  balance_mismatch: z.object({
    ...{ lastNsu: nsu, lastBalanceCents: cents, liveBalanceCents: cents, since: optionalTime },
  }),
  fee_mismatch: z.object({
    tariff: z.enum(TariffKind).nullable().describe('Null for a fee that no tariff explains.'),
    period: z.string().describe('The day or the month that the fee is about.'),
    ...{ chargedCents: cents, expectedCents: cents },
    priceList: integer.nullable().describe('The version by which the line was read.'),
  }),
} as const satisfies Record<BreakKind, z.ZodType>;

/** A view with `kind` and `evidence`, of which the second follows from the first. */
export function unionByBreakKind<View extends z.ZodObject>(view: View): z.ZodType {
  const forms = new Map<z.ZodType, BreakKind[]>();
  for (const kind of Object.keys(breakKinds) as BreakKind[])
    forms.set(evidenceOfKind[kind], [...(forms.get(evidenceOfKind[kind]) ?? []), kind]);
  const members = [...forms].map(([evidence, kinds]) =>
    view.extend({ kind: z.enum(kinds), evidence }),
  );
  return z.discriminatedUnion('kind', members as never);
}

/** The evidence of a break whose kind stands elsewhere. */
export const breakEvidence: z.ZodType = z.union([
  ...new Set<z.ZodType>(Object.values(evidenceOfKind)),
]);

export const explanationEvidence = z.union([
  ...[matchEvidence, classificationEvidence, breakEvidence],
] as z.ZodType[]);

nameSchemas({
  ...{ MatchEvidence: matchEvidence, BreakEvidence: breakEvidence },
  ...{
    LineBreakEvidence: ofLine,
    SettlementBreakEvidence: ofSettlement,
    BillBreakEvidence: ofBill,
  },
});
