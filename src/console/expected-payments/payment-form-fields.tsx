// The form of a declared payment.
import type { JSX } from 'preact';
import { declarableKinds } from '../../expected-payments/declared-terms.js';
import {
  CheckedField,
  CheckedSelect,
  describedBy,
  FieldError,
  FieldGroup,
  FormErrorSummary,
  type FormErrors,
} from '../form-fields.js';
import { Form } from '../frame.js';
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
        <button>{t(changed ? 'payment.amend' : 'payment.declare')}</button>
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
        {...{ visit, errors, name: 'externalId', label: 'payment.externalId' }}
        hint="payment.externalIdHint"
        value={fields.externalId}
        maxLength={100}
        required
      />
      <CheckedSelect
        {...{ visit, errors, name: 'direction', label: 'payment.direction' }}
        options={[
          ['credit', t('payment.credit')],
          ['debit', t('payment.debit')],
        ]}
        chosen={fields.direction}
      />
    </div>
  );
}

function Amounts({ visit, form: { fields }, errors }: Part) {
  const text = { visit, errors };
  return (
    <FieldGroup visit={visit} legend="payment.amountGroup" hint="payment.amountHint">
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'amount', label: 'payment.amountReais' }}
          value={fields.amount}
          inputMode="decimal"
        />
        <CheckedField
          {...{ ...text, name: 'tolerance', label: 'payment.tolerance' }}
          value={fields.tolerance}
          inputMode="decimal"
        />
      </div>
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'amountFrom', label: 'payment.amountFrom' }}
          value={fields.amountFrom}
          inputMode="decimal"
        />
        <CheckedField
          {...{ ...text, name: 'amountTo', label: 'payment.amountTo' }}
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
    <FieldGroup visit={visit} legend="payment.dates" hint="payment.datesHint">
      <div class="row top">
        <CheckedField
          {...{ ...text, name: 'dateFrom', label: 'payment.dateFrom' }}
          value={fields.dateFrom}
          type="date"
          required
        />
        <CheckedField
          {...{ ...text, name: 'dateTo', label: 'payment.dateTo' }}
          value={fields.dateTo}
          type="date"
        />
      </div>
    </FieldGroup>
  );
}

function Counterparty({ visit, form: { fields }, errors }: Part) {
  return (
    <FieldGroup visit={visit} legend="payment.counterparty" hint="payment.counterpartyHint">
      <div class="row top">
        <CheckedField
          {...{ visit, errors, name: 'taxId', label: 'payment.taxId' }}
          value={fields.taxId}
          autocomplete="off"
        />
        <CheckedField
          {...{ visit, errors, name: 'counterpartyName', label: 'payment.name' }}
          value={fields.counterpartyName}
          maxLength={200}
          autocomplete="off"
        />
      </div>
      <CheckedField
        {...{ visit, errors, name: 'text', label: 'payment.text', hint: 'payment.textHint' }}
        value={fields.text}
      />
    </FieldGroup>
  );
}

function References({ visit, form, errors }: Part) {
  const { t } = visit;
  return (
    <FieldGroup visit={visit} legend="payment.references" hint="payment.referencesHint">
      <FieldError visit={visit} name="references" errors={errors} />
      {referenceRows(form).map(({ kind, value }, index) => (
        <div class="row top">
          <label>
            {t('payment.referenceKind', { number: index + 1 })}
            <select name="referenceKind">
              {declarableKinds.map((one) => (
                <option value={one} selected={one === kind}>
                  {t(`referenceKind.${one}`)}
                </option>
              ))}
            </select>
          </label>
          <label>
            {t('payment.referenceValue', { number: index + 1 })}
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
    <FieldGroup visit={visit} legend="payment.accounting" hint="payment.accountingHint">
      <div class="row top">
        <CheckedField
          {...{ visit, errors, name: 'category', label: 'payment.category' }}
          value={fields.category}
          maxLength={100}
        />
        <CheckedField
          {...{ visit, errors, name: 'costCentre', label: 'payment.costCentre' }}
          value={fields.costCentre}
          maxLength={100}
        />
      </div>
      <label>
        {t('payment.metadata')} <span class="hint">{t('payment.metadataHint')}</span>
        <textarea name="metadata" {...describedBy('metadata', errors.get('metadata'))}>
          {fields.metadata}
        </textarea>
        <FieldError visit={visit} name="metadata" errors={errors} />
      </label>
    </FieldGroup>
  );
}
