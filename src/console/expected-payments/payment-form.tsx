// The form of a declared payment: its fields, the request that the API would get for them, and the
// page's form.
import type { z } from 'zod';
import type { Cents } from '../../brazil/cents.js';
import type { declaredPaymentView } from '../../statement/expected-payments/declared-payments.schema.js';
import { toCoding } from '../../statement/expected-payments/coding.js';
import {
  paymentPartKinds,
  type PaymentPartKind,
} from '../../statement/expected-payments/payment-parts.js';
import { declarableKinds } from '../../statement/expected-payments/references.js';
import { Card, Row } from '../kit/elements.js';
import {
  FieldErrorText,
  Fields,
  FormGroup,
  FormProblem,
  Hidden,
  reasonField,
  typedBody,
  Form,
  type FormFields,
  type FormValues,
} from '../kit/form.js';
import { useVisit, type Visit } from '../visit.js';
import { writeTypedAmount } from '../typed-amount.js';

const identityFields = ({ t }: Visit) =>
  ({
    externalId: {
      ...{ label: 'expectedPayment.externalId', hint: 'expectedPayment.externalIdHint' },
      ...{ maxLength: 100, required: true },
    },
    direction: {
      label: 'expectedPayment.direction',
      is: 'choice',
      options: (['credit', 'debit'] as const).map((one) => [one, t(`expectedPayment.${one}`)]),
    },
  }) as const satisfies FormFields;
const partName = (kind: PaymentPartKind) => `part_${kind}`;
const groups = {
  amount: {
    amount: { label: 'expectedPayment.amountReais', is: 'amount' },
    tolerance: { label: 'expectedPayment.tolerance', is: 'amount' },
    amountFrom: { label: 'expectedPayment.amountFrom', is: 'amount' },
    amountTo: { label: 'expectedPayment.amountTo', is: 'amount' },
  },
  dates: {
    dateFrom: { label: 'expectedPayment.dateFrom', is: 'date', required: true },
    dateTo: { label: 'expectedPayment.dateTo', is: 'date' },
  },
  counterparty: {
    taxId: { label: 'expectedPayment.taxId' },
    counterpartyName: { label: 'word.name', maxLength: 200 },
    text: { label: 'expectedPayment.text', hint: 'expectedPayment.textHint' },
  },
  accounting: {
    category: { label: 'word.category', maxLength: 100 },
    costCentre: { label: 'expectedPayment.costCentre', maxLength: 100 },
    project: { label: 'expectedPayment.project', maxLength: 100 },
    metadata: {
      ...{ label: 'word.metadata', hint: 'expectedPayment.metadataHint' },
      is: 'lines',
    },
  },
  parts: Object.fromEntries(
    paymentPartKinds.map(
      (kind) => [partName(kind), { label: `paymentPart.${kind}`, is: 'amount' }] as const,
    ),
  ),
} as const satisfies Record<string, FormFields>;
const termFields = {
  ...{ ...groups.amount, ...groups.dates, ...groups.counterparty, ...groups.accounting },
  ...groups.parts,
} as const;

/** Empty rows for references that a page offers. */
const emptyRows = 2;
const maxReferences = 20;

interface Reference {
  kind: string;
  value: string;
}

function typedReferences({ form }: Visit): Reference[] {
  const values = form.getAll('referenceValue');
  return form
    .getAll('referenceKind')
    .slice(0, maxReferences + emptyRows)
    .map((kind, index) => ({
      kind: declarableKinds.find((one) => one === kind) ?? '',
      value: (values[index] ?? '').replace(/\p{Cc}/gu, ' ').trim(),
    }))
    .filter(({ value }) => value !== '');
}

function typedTerms(visit: Visit) {
  const { taxId, counterpartyName, metadata, ...typed } = typedBody(visit, termFields);
  const terms = Object.entries(typed).filter(([name]) => !(name in groups.parts));
  const parts = paymentPartKinds.map((kind) => ({ kind, amount: typed[partName(kind)] }));
  return {
    ...Object.fromEntries(terms),
    counterparty: { taxId, name: counterpartyName },
    references: typedReferences(visit),
    metadata: metadataOf(metadata as string | undefined),
    parts: parts.filter(({ amount }) => amount !== undefined),
  } as Record<string, unknown>;
}

/** The body of `POST /v1/expected-payments`. */
export function typedDeclaration(visit: Visit): Record<string, unknown> {
  return { ...typedBody(visit, identityFields(visit)), ...typedTerms(visit) };
}

/** The body of `PATCH /v1/expected-payments/{id}`: each term is given, and null removes. */
export function typedAmendment(visit: Visit): Record<string, unknown> {
  const terms = typedTerms(visit);
  const given = Object.entries({ ...terms, dateTo: terms.dateTo ?? terms.dateFrom });
  return {
    ...typedBody(visit, reasonField),
    ...Object.fromEntries(given.map(([name, value]) => [name, value ?? null])),
  };
}

/** `key: value` on each line. A line without a colon is a key without a value, which is refused. */
function metadataOf(text = ''): Record<string, string | null> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.indexOf(':');
      if (end < 0) return [line.trim(), null];
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()];
    }),
  );
}

type PaymentView = z.output<typeof declaredPaymentView>;

/** The values of a declared payment as its form shows them. */
export function valuesOfPayment(payment: PaymentView): FormValues {
  const { externalId, direction, dateFrom, dateTo, text } = payment;
  const amount = (cents: Cents | null) => cents && writeTypedAmount(cents);
  return {
    ...{ externalId, direction, dateFrom, dateTo, text, ...toCoding(payment) },
    amount: amount(payment.amount),
    amountFrom: amount(payment.amountFrom),
    amountTo: amount(payment.amountTo),
    ...Object.fromEntries(payment.parts.map((part) => [partName(part.kind), amount(part.amount)])),
    tolerance: amount(payment.tolerance),
    taxId: payment.counterparty.taxId,
    counterpartyName: payment.counterparty.name,
    metadata: Object.entries(payment.metadata ?? {})
      .map(([key, value]) => `${key}: ${value}`)
      .join('\n'),
  };
}

export interface PaymentFormProps {
  values?: FormValues;
  references?: readonly Reference[];
  /** The payment that changes, with the version that the person sees; null for a new one. */
  changed: { id: string; version: string } | null;
}

export function PaymentForm(props: PaymentFormProps) {
  const visit = useVisit();
  const { values = {}, changed } = props;
  const action = changed ? `expected-payments/${changed.id}/amend` : 'expected-payments/new';
  const identity = identityFields(visit);
  const stored = (name: 'externalId' | 'direction') =>
    visit.form.get(name) ?? String(values[name] ?? '');
  const known = { ...identity, ...termFields, ...reasonField, references: identity.externalId };
  const group = (name: keyof typeof groups) => (
    <FormGroup
      legend={name === 'amount' ? 'word.amount' : `expectedPayment.${name}`}
      hint={`expectedPayment.${name}Hint`}
    >
      <Fields {...{ values, fields: groups[name] }} />
    </FormGroup>
  );
  return (
    <Form action={visit.to(action)} shown={changed?.version}>
      <FormProblem fields={known} />
      <Card>
        {changed ? (
          <Hidden values={{ externalId: stored('externalId'), direction: stored('direction') }} />
        ) : (
          <Fields {...{ values, fields: identity }} />
        )}
        {group('amount')}
        {group('dates')}
        {group('counterparty')}
        <References {...props} />
        {group('parts')}
        {group('accounting')}
        {changed && <Fields fields={reasonField} />}
        <button>{visit.t(changed ? 'expectedPayment.amend' : 'expectedPayment.declare')}</button>
      </Card>
    </Form>
  );
}

/** The references there are, and empty rows for more. */
function References({ references: stored = [] }: PaymentFormProps) {
  const visit = useVisit();
  const { t, problem } = visit;
  const empty = Array.from({ length: emptyRows }, () => ({ kind: 'external_id', value: '' }));
  const given = visit.form.has('referenceKind') ? typedReferences(visit) : stored;
  const rows = [...given, ...empty].slice(0, maxReferences);
  const wrong = Object.entries(problem?.details.errors ?? {}).find(([path]) =>
    path.startsWith('$.references'),
  );
  return (
    <FormGroup legend="expectedPayment.references" hint="expectedPayment.referencesHint">
      <FieldErrorText {...{ name: 'references', error: wrong?.[1][0] }} />
      {rows.map(({ kind, value }, index) => (
        <Row is="top">
          <label>
            {t('expectedPayment.referenceKind', { number: index + 1 })}
            <select name="referenceKind">
              {declarableKinds.map((one) => (
                <option value={one} selected={one === kind}>
                  {t(`referenceKind.${one}`)}
                </option>
              ))}
            </select>
          </label>
          <label>
            {t('expectedPayment.referenceValue', { number: index + 1 })}
            <input name="referenceValue" value={value} />
          </label>
        </Row>
      ))}
    </FormGroup>
  );
}
