// The forms of the payment controls, read by the schemas that the API has.
import {
  addBeneficiary,
  changePaymentControls,
} from '../../outbound/payment-controls/payment-controls.schema.js';
import { readBody, typedBody, typedWhole, type FormField } from '../kit/form.js';
import type { GuardView } from '../../outbound/payment-controls/control-changes.service.js';
import { typedNumber, writeTypedAmount } from '../typed-amount.js';
import { typed, type Visit } from '../visit.js';

export const limitNames = [
  'perOperation',
  'perHour',
  'perNight',
  'perDay',
  'perKeyPerDay',
  'perCounterpartyPerDay',
] as const;

const limitFields: Record<string, FormField> = Object.fromEntries(
  limitNames.map((name) => [name, { label: `controls.limit.${name}`, is: 'amount' }]),
);
const ruleFields: Record<string, FormField> = {
  checksPayee: { label: 'controls.checksPayee', is: 'check' },
  allowList: { label: 'controls.allowList', is: 'check' },
  allowListIncludesBills: { label: 'controls.includesBills', is: 'check' },
  coolingOffHours: { label: 'controls.coolingOff', is: 'number' },
  nightFromHour: { label: 'controls.nightFrom', is: 'number' },
  nightUntilHour: { label: 'controls.nightUntil', is: 'number' },
};
const guardFields: Record<string, FormField> = {
  intervalSeconds: {
    ...{ label: 'controls.guardInterval', hint: 'controls.guardInterval.hint', is: 'number' },
    ...{ min: 1, max: 60 },
  },
  bankContact: { label: 'controls.bankContact', maxLength: 500 },
  alarmAbove: {
    ...{ label: 'controls.alarmAbove', hint: 'controls.alarmAbove.hint' },
    is: 'amount',
  },
  declaredDebits: {
    ...{ label: 'controls.declaredDebits', hint: 'controls.declaredDebits.hint', is: 'lines' },
  },
};
export const controlFields = { ...limitFields, ...ruleFields, ...guardFields };

export const beneficiaryFields: Record<string, FormField> = {
  name: { label: 'word.name', required: true },
  ispb: { label: 'word.institution' },
  branch: { label: 'word.branch' },
  number: { label: 'account.details.accountNumber' },
  accountNumber: { label: 'controls.accountNumber' },
  bill: { label: 'controls.bill' },
};

/** The schema takes the names of people only; the person's actor replaces this one. */
const changedBy = (visit: Visit) => ({ actor: 'console', reason: typed(visit, 'reason') });

/** An empty limit is none; an empty hour is wrong. */
export function readControlForm(visit: Visit) {
  return readBody(changePaymentControls.body, {
    ...typedWhole(visit, ruleFields),
    limits: typedWhole(visit, limitFields),
    guard: readGuard(visit),
    ...changedBy(visit),
  });
}

/** A declared debit is a line: its type, its maximum, and perhaps its payee. */
function readGuard(visit: Visit) {
  const { declaredDebits: text, ...given } = typedWhole(visit, guardFields);
  const lines = typeof text === 'string' ? text.split('\n').filter((line) => line.trim()) : [];
  const declaredDebits = lines.map((line) => {
    const [typeName = '', maximum = '', payee = ''] = line.split(';').map((part) => part.trim());
    return { typeName, maximum: typedNumber(maximum), counterparty: payee || null };
  });
  return { ...given, declaredDebits };
}

/** As the form has it. */
export function typedGuard({ alarmAbove, declaredDebits, ...others }: GuardView) {
  return {
    ...others,
    alarmAbove: alarmAbove === null ? '' : writeTypedAmount(alarmAbove),
    declaredDebits: declaredDebits
      .map(({ typeName, maximum, counterparty: payee }) =>
        [typeName, writeTypedAmount(maximum), ...(payee === null ? [] : [payee])].join('; '),
      )
      .join('\n'),
  };
}

export function readBeneficiaryForm(visit: Visit) {
  const { ispb, branch, number, ...given } = typedBody(visit, beneficiaryFields);
  const hasAccount = [ispb, branch, number].some((part) => part !== undefined);
  const account = hasAccount ? { ispb, branch, number } : undefined;
  return readBody(addBeneficiary.body, { ...given, account, ...changedBy(visit) });
}
