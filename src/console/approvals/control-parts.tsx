// The forms of the payment controls, and the beneficiaries of an account.
import type { JSX } from 'preact';
import type { RouteOutput } from '../../bank-contract/route.js';
import { maskParty } from '../../access/counterparties/masking.js';
import { unknownParty } from '../../access/counterparties/party.js';
import type {
  beneficiaryView,
  getPaymentControls,
} from '../../outbound/payment-controls/payment-controls.schema.js';
import type { z } from 'zod';
import { Card, Pager } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Field, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { writeTypedAmount } from '../typed-amount.js';
import { pathTo } from '../visit.js';
import { limitNames } from './control-form.js';
import { accountIn } from './requested-payment.js';

type Controls = RouteOutput<typeof getPaymentControls>;
type Beneficiary = z.output<typeof beneficiaryView>;

interface TableProps {
  visit: Visit;
  rows: readonly Beneficiary[];
  next: string | null;
  mayChange: boolean;
  /** For whoever may not see names. */
  isMasked: boolean;
}

export function BeneficiaryTable(props: TableProps): JSX.Element {
  const { visit, rows, next, mayChange } = props;
  const { t } = visit;
  const columns: TextKey[] = ['controls.name', 'controls.account', 'controls.usableFrom'];
  return (
    <Card title={t('controls.beneficiaries')}>
      <DataTable
        empty={t('controls.noBeneficiaries')}
        visit={visit}
        name={t('controls.beneficiaries')}
        columns={mayChange ? [...columns, 'controls.remove'] : columns}
      >
        {rows.map((row) => (
          <BeneficiaryRow {...props} row={row} />
        ))}
      </DataTable>
      <Pager visit={visit} next={next} />
    </Card>
  );
}

function BeneficiaryRow({ visit, row, mayChange, isMasked }: TableProps & { row: Beneficiary }) {
  const { t, language } = visit;
  const { id, name, counterparty, usableFrom } = row;
  const party = { ...unknownParty, name, ...accountIn(counterparty) };
  const shown = isMasked ? maskParty(party) : party;
  const parts = [shown.ispb, shown.branch, shown.account].filter((part) => part !== null);
  return (
    <tr>
      <td class="wide">{shown.name}</td>
      <td class="wide">{parts.join(' / ')}</td>
      <td>{formatTime(usableFrom, language)}</td>
      {mayChange && (
        <td>
          <Form visit={visit} action={pathTo(visit, `payment-controls/beneficiaries/${id}/remove`)}>
            <div class="row">
              <input
                name="reason"
                placeholder={t('app.reason')}
                aria-label={t('controls.removeOf', { name })}
                maxLength={500}
                required
              />
              <button class="plain">{t('controls.remove')}</button>
            </div>
          </Form>
        </td>
      )}
    </tr>
  );
}

export function BeneficiaryForm({ visit }: { visit: Visit }): JSX.Element {
  const { t, form } = visit;
  const field = (name: string, label: TextKey, isRequired = false) => (
    <Field
      label={t(label)}
      name={name}
      required={isRequired}
      value={form.get(name) ?? ''}
      autocomplete="off"
    />
  );
  return (
    <section class="card stack">
      <h2>{t('controls.add')}</h2>
      <p class="muted">{t('controls.addWhy')}</p>
      <Form visit={visit} action={pathTo(visit, 'payment-controls/beneficiaries')}>
        {field('name', 'controls.name', true)}
        <div class="row">
          {field('ispb', 'controls.ispb')}
          {field('branch', 'controls.branch')}
          {field('number', 'controls.number')}
        </div>
        <div class="row">
          {field('accountNumber', 'controls.accountNumber')}
          {field('bill', 'controls.bill')}
        </div>
        {field('reason', 'app.reason', true)}
        <button>{t('controls.add')}</button>
      </Form>
    </section>
  );
}

const flags = [
  ['checksPayee', 'controls.checksPayee'],
  ['allowList', 'controls.allowList'],
  ['allowListIncludesBills', 'controls.includesBills'],
] as const;

const hours = [
  ['coolingOffHours', 'controls.coolingOff'],
  ['nightFromHour', 'controls.nightFrom'],
  ['nightUntilHour', 'controls.nightUntil'],
] as const;

export function ControlForm({
  visit,
  controls,
}: {
  visit: Visit;
  controls: Controls;
}): JSX.Element {
  const { t, form } = visit;
  // What was typed is shown again where it was not right.
  const isTyped = form.has('coolingOffHours');
  const value = (name: string, stored: string) => (isTyped ? (form.get(name) ?? '') : stored);
  return (
    <section class="card stack">
      <h2>{t('controls.change')}</h2>
      <p class="muted">{t('controls.changeWhy')}</p>
      <Form visit={visit} action={pathTo(visit, 'payment-controls')}>
        <div class="row">
          {limitNames.map((name) => (
            <Field
              label={t(`controls.limit.${name}`)}
              name={name}
              inputMode="decimal"
              value={value(name, amountOf(controls.limits[name]))}
              autocomplete="off"
            />
          ))}
        </div>
        {flags.map(([name, label]) => (
          <label>
            <input
              type="checkbox"
              name={name}
              value="yes"
              checked={isTyped ? form.get(name) === 'yes' : controls[name]}
            />
            {t(label)}
          </label>
        ))}
        <div class="row">
          {hours.map(([name, label]) => (
            <Field
              label={t(label)}
              name={name}
              inputMode="numeric"
              value={value(name, String(controls[name]))}
            />
          ))}
        </div>
        <Field
          label={t('app.reason')}
          name="reason"
          maxLength={500}
          required
          value={isTyped ? (form.get('reason') ?? '') : ''}
          autocomplete="off"
        />
        <button>{t('controls.change')}</button>
      </Form>
    </section>
  );
}

function amountOf(cents: bigint | null): string {
  return cents === null ? '' : writeTypedAmount(cents);
}
