// The form of a declared payment.
import type { JSX } from 'preact';
import { declarableKinds } from '../../statement/expected-payments/references.js';
import {
  CheckedField,
  CheckedSelect,
  describedBy,
  FieldProblem,
  FieldGroup,
  FormErrorSummary,
  type FormErrors,
} from '../kit/form-fields.js';
import { Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import { referenceRows, type PaymentForm } from './payment-form.js';

export interface PaymentFormProps {
  visit: Visit;
  form: PaymentForm;
  errors: FormErrors;
  /** The payment that changes, with the version that the person sees; null for a new one. */
  changed: { id: string; version: string } | null;
}

export function PaymentFormFields(props: PaymentFormProps): JSX.Element {
  const { visit, form, errors, changed } = props;
  const { t } = visit;
  const { fields } = form;
  const text = { visit, errors };
  const action = changed ? `expected-payments/${changed.id}/amend` : 'expected-payments/new';
  return (
    <Form visit={visit} action={pathTo(visit, action)} shown={changed?.version}>
      <FormErrorSummary visit={visit} errors={errors} />
      <section class="card">
        {changed ? (
          <>
            <input type="hidden" name="externalId" value={fields.externalId} />
            <input type="hidden" name="direction" value={fields.direction} />
          </>
        ) : (
          <Identity {...props} />
        )}
        <Amounts {...props} />
        <Dates {...props} />
        <Counterparty {...props} />
        <References {...props} />
        <Accounting {...props} />
        {changed && (
          <CheckedField
            {...{ ...text, name: 'reason', label: 'app.reason' }}
            value={fields.reason}
            maxLength={500}
            required
          />
        )}
        <button>{t(changed ? 'expectedPayment.amend' : 'expectedPayment.declare')}</button>
      </section>
    </Form>
  );
}

type Part = Omit<PaymentFormProps, 'changed'>;

function Identity({ visit, form: { fields }, errors }: Part) {
  const { t } = visit;
  return (
    <div class="row top">
      <CheckedField
        {...{ visit, errors, name: 'externalId', label: 'expectedPayment.externalId' }}
        hint="expectedPayment.externalIdHint"
        value={fields.externalId}
        maxLength={100}
        required
      />
      <CheckedSelect
        {...{ visit, errors, name: 'direction', label: 'expectedPayment.direction' }}
        options={[
          ['credit', t('expectedPayment.credit')],
          ['debit', t('expectedPayment.debit')],
        ]}
        chosen={fields.direction}
      />
    </div>
  );
}

function Amounts({ visit, form: { fields }, errors }: Part) {
  const text = { visit, errors };
  return (
    <FieldGroup
      visit={visit}
      legend="expectedPayment.amountGroup"
      hint="expectedPayment.amountHint"
    >
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'amount', label: 'expectedPayment.amountReais' }}
          value={fields.amount}
          inputMode="decimal"
        />
        <CheckedField
          {...{ ...text, name: 'tolerance', label: 'expectedPayment.tolerance' }}
          value={fields.tolerance}
          inputMode="decimal"
        />
      </div>
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'amountFrom', label: 'expectedPayment.amountFrom' }}
          value={fields.amountFrom}
          inputMode="decimal"
        />
        <CheckedField
          {...{ ...text, name: 'amountTo', label: 'expectedPayment.amountTo' }}
          value={fields.amountTo}
          inputMode="decimal"
        />
      </div>
    </FieldGroup>
  );
}

function Dates({ visit, form: { fields }, errors }: Part) {
  const text = { visit, errors };
  return (
    <FieldGroup visit={visit} legend="expectedPayment.dates" hint="expectedPayment.datesHint">
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'dateFrom', label: 'expectedPayment.dateFrom' }}
          value={fields.dateFrom}
          type="date"
          required
        />
        <CheckedField
          {...{ ...text, name: 'dateTo', label: 'expectedPayment.dateTo' }}
          value={fields.dateTo}
          type="date"
        />
      </div>
    </FieldGroup>
  );
}

function Counterparty({ visit, form: { fields }, errors }: Part) {
  return (
    <FieldGroup
      visit={visit}
      legend="expectedPayment.counterparty"
      hint="expectedPayment.counterpartyHint"
    >
      <div class="row top">
        <CheckedField
          {...{ visit, errors, name: 'taxId', label: 'expectedPayment.taxId' }}
          value={fields.taxId}
          autocomplete="off"
        />
        <CheckedField
          {...{ visit, errors, name: 'counterpartyName', label: 'expectedPayment.name' }}
          value={fields.counterpartyName}
          maxLength={200}
          autocomplete="off"
        />
      </div>
      <CheckedField
        {...{
          visit,
          errors,
          name: 'text',
          label: 'expectedPayment.text',
          hint: 'expectedPayment.textHint',
        }}
        value={fields.text}
      />
    </FieldGroup>
  );
}

function References({ visit, form, errors }: Part) {
  const { t } = visit;
  return (
    <FieldGroup
      visit={visit}
      legend="expectedPayment.references"
      hint="expectedPayment.referencesHint"
    >
      <FieldProblem visit={visit} name="references" errors={errors} />
      {referenceRows(form).map(({ kind, value }, index) => (
        <div class="row top">
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
        </div>
      ))}
    </FieldGroup>
  );
}

function Accounting({ visit, form: { fields }, errors }: Part) {
  const { t } = visit;
  return (
    <FieldGroup
      visit={visit}
      legend="expectedPayment.accounting"
      hint="expectedPayment.accountingHint"
    >
      <div class="row top">
        <CheckedField
          {...{ visit, errors, name: 'category', label: 'expectedPayment.category' }}
          value={fields.category}
          maxLength={100}
        />
        <CheckedField
          {...{ visit, errors, name: 'costCentre', label: 'expectedPayment.costCentre' }}
          value={fields.costCentre}
          maxLength={100}
        />
      </div>
      <label>
        {t('expectedPayment.metadata')}{' '}
        <span class="hint">{t('expectedPayment.metadataHint')}</span>
        <textarea name="metadata" {...describedBy('metadata', errors.get('metadata'))}>
          {fields.metadata}
        </textarea>
        <FieldProblem visit={visit} name="metadata" errors={errors} />
      </label>
    </FieldGroup>
  );
}
