// The API of payments that another system expects on the statement: declared, amended and
// cancelled, each with its history.
import { z } from 'zod';
import { shownParty } from '../../access/counterparties/counterparty.schema.js';
import { taxIdText } from '../../bank-contract/transfers.js';
import { failing, refuse } from '../../bank-contract/field-errors.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  clientIdentifier,
  filledText,
  instant,
  integer,
  notNegativeReais,
  plainDate,
  positiveReais,
  reais,
  text,
  maxIdLength,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { ExpectedPaymentAction, Settlement } from '../../generated/service/enums.js';
import { normalizeTaxId } from '../../brazil/tax-id.js';
import { codingFields, shownCodingFields, toCoding } from './coding.js';
import { errorsOfTerms, type DeclaredTerms } from './declared-terms.js';
import { declarableKinds, type ReferenceKind } from './references.js';
import { metadata, metadataView } from './metadata.js';
import { paymentPartKinds, sumOfParts, type PaymentPart } from './payment-parts.js';
import { maxPatternLength } from './text-pattern.js';

const directions = ['credit', 'debit'] as const;

/** `endToEndId` is `end_to_end_id`: fields are in camel case, and kinds as they are listed. */
const camelCaseOf = (kind: string) =>
  kind.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const kindByName = new Map<string, ReferenceKind>(
  declarableKinds.flatMap((kind) => [
    [kind, kind],
    [camelCaseOf(kind), kind],
  ]),
);
const referenceKind = z.enum([
  ...new Set(declarableKinds.flatMap((kind) => [kind, camelCaseOf(kind)])),
]);

const terms = {
  amount: positiveReais.nullish(),
  amountFrom: positiveReais.nullish(),
  amountTo: positiveReais.nullish(),
  tolerance: notNegativeReais.nullish().describe('How far a line may be from `amount`.'),
  references: z
    .array(z.object({ kind: referenceKind, value: clientIdentifier }))
    .max(20)
    .nullish(),
  counterparty: z.object({ taxId: taxIdText.nullish(), name: filledText(200).nullish() }).nullish(),
  /** A pattern (RE2) that the line's notes or type contain, without regard to accents and case. */
  text: filledText(maxPatternLength).nullish(),
  ...codingFields,
  metadata: metadata.nullish(),
  parts: z
    .array(z.object({ kind: z.enum(paymentPartKinds), amount: positiveReais }))
    .max(paymentPartKinds.length)
    .refine(
      (parts) => new Set(parts.map(({ kind }) => kind)).size === parts.length,
      failing('once'),
    )
    .nullish()
    .describe('Fees and taxes that others withhold: what is owed (gross) is `amount` and these.'),
};

const declaration = z.object({
  externalId: clientIdentifier,
  direction: z.enum(directions),
  dateFrom: plainDate.describe('The first day; without `dateTo` it is the only one.'),
  dateTo: plainDate.nullish(),
  ...terms,
});
type Declaration = z.output<typeof declaration>;

export const declarationBody = declaration.superRefine((body, context) => {
  for (const [field, error] of Object.entries(errorsOfTerms(toTerms(body))))
    refuse(context, [field], error);
});

const reason = filledText(500);
const amendment = z.object({
  reason,
  dateFrom: plainDate.optional(),
  dateTo: plainDate.optional(),
  ...terms,
});
export type Amendment = z.output<typeof amendment>;

export function toTerms(body: Declaration): DeclaredTerms {
  return {
    isCredit: body.direction === 'credit',
    amountCents: body.amount ?? null,
    amountFromCents: body.amountFrom ?? null,
    amountToCents: body.amountTo ?? null,
    toleranceCents: body.tolerance ?? 0n,
    dateFrom: body.dateFrom,
    dateTo: body.dateTo ?? body.dateFrom,
    references: toReferences(body.references),
    taxId: normalizeTaxId(body.counterparty?.taxId),
    counterpartyName: body.counterparty?.name ?? null,
    text: body.text ?? null,
    ...toCoding(body),
    metadata: body.metadata ?? null,
    parts: toParts(body.parts),
  };
}

/** In one order, like references. */
function toParts(given: Declaration['parts']): PaymentPart[] | undefined {
  if (!given || given.length === 0) return undefined;
  return given
    .map(({ kind, amount: amountCents }) => ({ kind, amountCents }))
    .sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

/** Each reference once, in one order: their order in a request means nothing. */
function toReferences(given: Declaration['references']): DeclaredTerms['references'] {
  const byKey = new Map(
    (given ?? []).map(({ kind: name, value }) => {
      const kind = kindByName.get(name) ?? 'external_id';
      return [`${kind} ${value}`, { kind, value }];
    }),
  );
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, reference]) => reference);
}

/** The terms after an amendment: what it leaves out stays, and null removes. */
export function amendTerms(before: DeclaredTerms, change: Amendment): DeclaredTerms {
  const changed = <Value>(value: Value | undefined, was: Value): Value =>
    value === undefined ? was : value;
  const isToRange = change.amountFrom != null || change.amountTo != null;
  const isToAmount = change.amount != null;
  const counterparty = change.counterparty;
  return {
    isCredit: before.isCredit,
    // An amount takes the place of a range, and a range that of an amount.
    amountCents: changed(change.amount, isToRange ? null : before.amountCents),
    amountFromCents: changed(change.amountFrom, isToAmount ? null : before.amountFromCents),
    amountToCents: changed(change.amountTo, isToAmount ? null : before.amountToCents),
    toleranceCents: changed(change.tolerance, isToRange ? 0n : before.toleranceCents) ?? 0n,
    dateFrom: change.dateFrom ?? before.dateFrom,
    dateTo: change.dateTo ?? before.dateTo,
    references:
      change.references === undefined ? before.references : toReferences(change.references),
    taxId:
      counterparty === undefined || (counterparty !== null && counterparty.taxId === undefined)
        ? before.taxId
        : normalizeTaxId(counterparty?.taxId),
    counterpartyName:
      counterparty === undefined || (counterparty !== null && counterparty.name === undefined)
        ? before.counterpartyName
        : (counterparty?.name ?? null),
    text: changed(change.text, before.text),
    category: changed(change.category, before.category),
    costCentre: changed(change.costCentre, before.costCentre),
    project: changed(change.project, before.project),
    metadata: changed(change.metadata, before.metadata),
    parts: change.parts === undefined ? before.parts : toParts(change.parts),
  };
}

const termsView = z.object({
  direction: z.enum(directions),
  amount: reais.nullable(),
  amountFrom: reais.nullable(),
  amountTo: reais.nullable(),
  tolerance: reais,
  dateFrom: z.string(),
  dateTo: z.string(),
  references: z.array(z.object({ kind: z.string(), value: z.string() })),
  /** Masked without the scope `personal-data`. */
  counterparty: z.object({ taxId: z.string().nullable(), name: z.string().nullable() }),
  text: z.string().nullable(),
  ...shownCodingFields,
  metadata: metadataView,
  parts: z.array(z.object({ kind: z.enum(paymentPartKinds), amount: reais })),
  grossAmount: reais.nullable().describe('`amount` and its parts.'),
});

/** `isVisible`: whether the caller may see personal data. */
export function describeTerms(
  declared: DeclaredTerms,
  isVisible: boolean,
): z.output<typeof termsView> {
  const { isCredit, taxId, counterpartyName: name, parts = [], ...others } = declared;
  return {
    ...others,
    direction: isCredit ? 'credit' : 'debit',
    amount: declared.amountCents,
    amountFrom: declared.amountFromCents,
    amountTo: declared.amountToCents,
    tolerance: declared.toleranceCents,
    counterparty: shownParty({ taxId, name }, isVisible),
    parts: parts.map(({ kind, amountCents: amount }) => ({ kind, amount })),
    grossAmount: declared.amountCents && declared.amountCents + sumOfParts(parts),
  };
}

export const declaredPaymentView = termsView.extend({
  id: z.string(),
  externalId: z.string(),
  /** `overdue`: open after its window. `cancelled`: by the system that declared it. */
  settlement: z.enum([...Object.values(Settlement), 'overdue', 'cancelled']),
  settledAmount: reais.describe('Before refunds and reversals.'),
  returnedAmount: reais.describe('What was refunded (credits) or reversed (debits).'),
  /** The lines that account for it, the newest 50. */
  payments: z.array(
    z.object({
      nsu: bigInteger,
      amount: reais,
      role: z.enum(['payment', 'reversal']),
      rule: z.string().describe('`reference`, `manual`, or `declared`: by conditions.'),
      isProvisional: z.boolean(),
      occurredAt: instant,
    }),
  ),
  version: integer,
  /** Its versions with their terms, the newest 50 first. */
  history: z.array(
    termsView.extend({
      version: integer,
      action: z.enum(ExpectedPaymentAction),
      actor: z.string(),
      reason: z.string().nullable(),
      at: instant,
    }),
  ),
  createdAt: instant,
});

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;
const params = z.object({ id: text(maxIdLength) });

export const declarePayment = route({
  ...base,
  name: 'declareExpectedPayment',
  summary:
    'Declares a payment that should appear on the statement. The same `externalId` with the same ' +
    'terms is the same payment.',
  method: 'POST',
  path: '/v1/expected-payments',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: declarationBody,
  response: declaredPaymentView,
});

export const getDeclaredPayment = route({
  ...base,
  name: 'getDeclaredExpectedPayment',
  summary: 'Returns a declared payment, by its id or its `externalId`, with its history.',
  method: 'GET',
  path: '/v1/expected-payments/{id}',
  params,
  response: declaredPaymentView,
});

export const amendPayment = route({
  ...base,
  name: 'amendExpectedPayment',
  summary:
    'Changes the terms of a declared payment. Omitted fields stay unchanged, and null removes. ' +
    'What it was matched to is decided again, unless a person linked it or it is final.',
  method: 'PATCH',
  path: '/v1/expected-payments/{id}',
  idempotencyKey: 'accepted',
  params,
  body: amendment,
  response: declaredPaymentView,
});

export const cancelPayment = route({
  ...base,
  name: 'cancelExpectedPayment',
  summary:
    'Cancels a declared payment. 409 with the code `expected_payment_paid` where a line accounts ' +
    'for it by an id, a person, or finally.',
  method: 'POST',
  path: '/v1/expected-payments/{id}/cancel',
  idempotencyKey: 'accepted',
  params,
  body: z.object({ reason }),
  response: declaredPaymentView,
});

nameSchemas({
  ReferenceKind: referenceKind,
  ExpectedPaymentRequest: declaration,
  ExpectedPaymentAmendment: amendment,
  ExpectedPaymentTerms: termsView,
  ExpectedPayment: declaredPaymentView,
});
