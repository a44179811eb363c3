// The form of a declared payment: its fields as people type them, the request that the API would
// get for them, and where an error of that request stands in the form.
import type { FieldError, FieldErrors } from '../../bank-contract/field-errors.js';
import { LosslessNumber } from 'lossless-json';
import type { z } from 'zod';
import type { declaredPaymentView } from '../../statement/expected-payments/declared-payments.schema.js';
import { declarableKinds } from '../../statement/expected-payments/references.js';
import type { Cents } from '../../brazil/cents.js';
import { typedNumber, writeTypedAmount } from '../typed-amount.js';

export const paymentFields = [
  'externalId',
  'direction',
  'amount',
  'amountFrom',
  'amountTo',
  'tolerance',
  'dateFrom',
  'dateTo',
  'taxId',
  'counterpartyName',
  'text',
  'category',
  'costCentre',
  'metadata',
  'reason',
] as const;
export type PaymentField = (typeof paymentFields)[number];

interface ReferenceRow {
  kind: string;
  value: string;
}

export interface PaymentForm {
  fields: Record<PaymentField, string>;
  references: ReferenceRow[];
}

/** Empty rows for references that a page offers. */
const emptyRows = 2;
const maxReferences = 20;
const maxTextLength = 5_000;

export const emptyPayment: PaymentForm = {
  fields: {
    ...(Object.fromEntries(paymentFields.map((name) => [name, ''])) as PaymentForm['fields']),
    direction: 'credit',
  },
  references: [],
};

export function readPaymentForm(form: URLSearchParams): PaymentForm {
  const [kinds, values] = [form.getAll('referenceKind'), form.getAll('referenceValue')];
  const references = kinds.slice(0, maxReferences + emptyRows).map((kind, index) => ({
    kind: declarableKinds.find((one) => one === kind) ?? '',
    value: cleaned(values[index] ?? ''),
  }));
  return {
    fields: Object.fromEntries(
      paymentFields.map((name) => [name, cleaned(form.get(name) ?? '', name === 'metadata')]),
    ) as PaymentForm['fields'],
    references: references.filter(({ value }) => value !== ''),
  };
}

/** Zero bytes and other control characters cannot be stored. Metadata stands on lines. */
function cleaned(text: string, hasLines = false): string {
  const unwanted = hasLines ? /(?!\n)\p{Cc}/gu : /\p{Cc}/gu;
  return text
    .replace(unwanted, hasLines ? '' : ' ')
    .trim()
    .slice(0, maxTextLength);
}

/** The rows of references that a form shows: those there are, and empty ones for more. */
export function referenceRows({ references }: PaymentForm): ReferenceRow[] {
  const empty = Array.from({ length: emptyRows }, () => ({ kind: 'external_id', value: '' }));
  return [...references, ...empty].slice(0, maxReferences);
}

/** The body of `POST /v1/expected-payments`. */
export function declarationOf(form: PaymentForm): object {
  const { externalId, direction } = form.fields;
  return withoutNulls({ externalId, direction, ...termsOf(form) });
}

/** The body of `PATCH /v1/expected-payments/{id}`: each term is given, and null removes. */
export function amendmentOf(form: PaymentForm): object {
  const { dateTo, ...terms } = termsOf(form);
  const { reason } = form.fields;
  return { reason, ...terms, dateTo: dateTo ?? terms.dateFrom };
}

function termsOf({ fields, references }: PaymentForm) {
  const number = (name: PaymentField): LosslessNumber | string | null =>
    typedNumber(fields[name]) ?? null;
  const text = (name: PaymentField) => (fields[name] === '' ? null : fields[name]);
  return {
    amount: number('amount'),
    amountFrom: number('amountFrom'),
    amountTo: number('amountTo'),
    tolerance: number('tolerance'),
    dateFrom: fields.dateFrom,
    dateTo: text('dateTo'),
    references,
    counterparty: { taxId: text('taxId'), name: text('counterpartyName') },
    text: text('text'),
    category: text('category'),
    costCentre: text('costCentre'),
    metadata: metadataOf(fields.metadata),
  };
}

function withoutNulls(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** `key: value` on each line. A line without a colon is a key without a value, which is refused. */
function metadataOf(text: string): Record<string, string | null> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return null;
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.indexOf(':');
      if (end < 0) return [line.trim(), null];
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()];
    }),
  );
}

type PaymentView = z.output<typeof declaredPaymentView>;

export function formOfPayment(payment: PaymentView): PaymentForm {
  const { counterparty, metadata, references } = payment;
  return {
    references,
    fields: {
      externalId: payment.externalId,
      direction: payment.direction,
      amount: amountOrNone(payment.amount),
      amountFrom: amountOrNone(payment.amountFrom),
      amountTo: amountOrNone(payment.amountTo),
      tolerance: amountOrNone(payment.tolerance === 0n ? null : payment.tolerance),
      dateFrom: payment.dateFrom,
      dateTo: payment.dateTo,
      taxId: counterparty.taxId ?? '',
      counterpartyName: counterparty.name ?? '',
      text: payment.text ?? '',
      category: payment.category ?? '',
      costCentre: payment.costCentre ?? '',
      metadata: Object.entries(metadata ?? {})
        .map(([key, value]) => `${key}: ${value}`)
        .join('\n'),
      reason: '',
    },
  };
}

function amountOrNone(cents: Cents | null): string {
  return cents === null ? '' : writeTypedAmount(cents);
}

/** By the name of the field; the first error of each. */
export function paymentErrors(issues: FieldErrors) {
  const errors = new Map<string, FieldError>();
  for (const [path, [error = '']] of Object.entries(issues)) {
    const field = fieldOf(path);
    if (!errors.has(field)) errors.set(field, error);
  }
  return errors;
}

function fieldOf(path: string): string {
  if (path.startsWith('$.counterparty.taxId')) return 'taxId';
  if (path.startsWith('$.counterparty')) return 'counterpartyName';
  const [, name = ''] = /^\$\.(\w+)/.exec(path) ?? [];
  return name === 'references' || paymentFields.some((one) => one === name) ? name : 'externalId';
}
