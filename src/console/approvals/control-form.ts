// The forms of the payment controls, read by the schemas that the API has.
import { LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { formatReais } from '../../brazil/cents.js';
import {
  addBeneficiary,
  changePaymentControls,
} from '../../outbound/payment-controls/payment-controls.schema.js';
import type { TextKey } from '../texts.js';
import { readTypedAmount } from '../typed-amount.js';

export const limitNames = [
  'perOperation',
  'perHour',
  'perNight',
  'perDay',
  'perKeyPerDay',
  'perCounterpartyPerDay',
] as const;

export type ReadControl<Body> = { ok: true; body: Body } | { ok: false; wrong: TextKey[] };

/** The schema takes the names of people only; the person's actor replaces this one. */
const someActor = 'console';

const labels: Record<string, TextKey> = {
  coolingOffHours: 'controls.coolingOff',
  nightFromHour: 'controls.nightFrom',
  nightUntilHour: 'controls.nightUntil',
  reason: 'app.reason',
  name: 'controls.name',
  account: 'controls.number',
  accountNumber: 'controls.accountNumber',
  bill: 'controls.bill',
};

export function readControlForm(
  form: URLSearchParams,
  reason: string,
): ReadControl<z.output<typeof changePaymentControls.body>> {
  const wrong: TextKey[] = [];
  const limits = limitNames.map((name) => {
    const text = (form.get(name) ?? '').trim();
    const amount = readTypedAmount(text);
    if (text !== '' && amount === null) wrong.push(`controls.limit.${name}`);
    return [name, amount === null ? null : new LosslessNumber(formatReais(amount))] as const;
  });
  const parsed = z.safeDecode(changePaymentControls.body, {
    checksPayee: form.get('checksPayee') === 'yes',
    allowList: form.get('allowList') === 'yes',
    allowListIncludesBills: form.get('allowListIncludesBills') === 'yes',
    coolingOffHours: wholeNumber(form.get('coolingOffHours')),
    nightFromHour: wholeNumber(form.get('nightFromHour')),
    nightUntilHour: wholeNumber(form.get('nightUntilHour')),
    limits: Object.fromEntries(limits) as Record<
      (typeof limitNames)[number],
      LosslessNumber | null
    >,
    ...{ actor: someActor, reason },
  });
  return resultOf(parsed, wrong);
}

export function readBeneficiaryForm(
  form: URLSearchParams,
  reason: string,
): ReadControl<z.output<typeof addBeneficiary.body>> {
  const text = (name: string) => (form.get(name) ?? '').trim();
  const [ispb, branch, number] = [text('ispb'), text('branch'), text('number')];
  const hasAccount = [ispb, branch, number].some((part) => part !== '');
  const parsed = z.safeDecode(addBeneficiary.body, {
    name: text('name'),
    ...(hasAccount ? { account: { ispb, branch, number } } : {}),
    ...(text('accountNumber') === '' ? {} : { accountNumber: text('accountNumber') }),
    ...(text('bill') === '' ? {} : { bill: text('bill') }),
    ...{ actor: someActor, reason },
  });
  return resultOf(parsed, []);
}

function resultOf<Body>(
  parsed: z.ZodSafeParseResult<Body>,
  wrong: readonly TextKey[],
): ReadControl<Body> {
  if (parsed.success && wrong.length === 0) return { ok: true, body: parsed.data };
  const issues = parsed.success ? [] : parsed.error.issues;
  // A rule about several fields names none of them.
  const keys = issues.map(({ path }) => labels[String(path[0])] ?? 'controls.account');
  return { ok: false, wrong: [...new Set([...wrong, ...keys])] };
}

/** What is no whole number is refused by the schema. */
function wholeNumber(text: string | null): LosslessNumber {
  const typed = (text ?? '').trim();
  return new LosslessNumber(/^\d{1,6}$/.test(typed) ? String(Number(typed)) : '-1');
}
