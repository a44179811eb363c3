// Reads the forms of an account as the bodies that the API takes, so that one schema checks both.
import { LosslessNumber } from 'lossless-json';
import type { z } from 'zod';
import type { FieldErrors } from '../../bank-contract/field-errors.js';
import { createAccount, updateAccount } from '../../access/accounts/accounts.schema.js';
import { decode } from '../../platform/http/contract-route.js';
import { findTextKey, type Translate } from '../texts.js';
import { fieldErrorIn } from '../problems.js';
import type { Language } from '../texts/languages.js';

/** The body, or the messages about its fields by their paths. */
export type ReadForm<Body> = { body: Body } | { issues: FieldErrors };

export const detailFields = [
  'bankCode',
  'ispb',
  'bankName',
  'branch',
  'branchDigit',
  'accountNumber',
  'accountDigit',
  'holderName',
  'holderTaxId',
  'agreement',
] as const;

/** Keys and names of headers. */
export const keyFields = [
  'partnerKey',
  'apiKeyHeader',
  'partnerKeyHeader',
  'webhookSecret',
] as const;
/** PEM texts have several lines. */
export const pemFields = ['clientCertificate', 'clientKey', 'ca'] as const;
export const removableCredentials = [
  ...keyFields,
  'accountHeader',
  ...pemFields,
  'rateLimitPerSecond',
] as const;

type Update = z.output<typeof updateAccount.body>;
type Creation = z.output<typeof createAccount.body>;

export function readNameAndWeight(form: URLSearchParams): ReadForm<Update> {
  return read(updateAccount.body, {
    name: textOf(form, 'name') ?? null,
    weight: numberOf(form, 'weight'),
  });
}

/** Without any field, the details are removed. */
export function readBankDetails(form: URLSearchParams): ReadForm<Update> {
  const details = Object.fromEntries(detailFields.map((name) => [name, textOf(form, name)]));
  const isEmpty = Object.values(details).every((value) => value === undefined);
  return read(updateAccount.body, { bankDetails: isEmpty ? null : details });
}

/** An empty field keeps the credential. */
export function readCredentials(form: URLSearchParams): ReadForm<Update> {
  return read(updateAccount.body, {
    credentials: credentialsOf(form),
    isSameBankAccount: form.get('isSameBankAccount') === 'yes',
  });
}

export function readNewAccount(form: URLSearchParams): ReadForm<Creation> {
  return read(createAccount.body, {
    slug: textOf(form, 'slug'),
    name: textOf(form, 'name'),
    mode: textOf(form, 'mode'),
    weight: numberOf(form, 'weight'),
    credentials: credentialsOf(form),
  });
}

/** The fields of the form that are wrong, by their labels. */
export function describeIssues(t: Translate, language: Language, issues: FieldErrors): string {
  return Object.entries(issues)
    .map(([path, errors]) => {
      const [name = ''] = /\w+$/.exec(path) ?? [];
      const parent = /(\w+)\.\w+$/.exec(path)?.[1];
      const key =
        findTextKey(`account.credential.${parent === 'accountHeader' ? parent : name}`) ??
        findTextKey(`account.details.${name}`) ??
        findTextKey(`account.${name}`);
      const said = errors.map((error) => fieldErrorIn(language, error)).join(' ');
      return `${key ? t(key) : name}: ${said}`;
    })
    .join(' ');
}

function credentialsOf(form: URLSearchParams): Record<string, unknown> {
  const header = textOf(form, 'accountHeaderName');
  const value = textOf(form, 'accountHeaderValue') ?? '';
  const removed = form.getAll('remove');
  const texts = ['apiKey', ...keyFields, ...pemFields].map((name) => [name, textOf(form, name)]);
  const isRemoved = removableCredentials.filter((name) => removed.includes(name));
  return {
    ...Object.fromEntries(texts),
    accountHeader: header === undefined ? undefined : { name: header, value },
    rateLimitPerSecond: numberOf(form, 'rateLimitPerSecond'),
    ...Object.fromEntries(isRemoved.map((name) => [name, null])),
  };
}

function textOf(form: URLSearchParams, name: string): string | undefined {
  return form.get(name)?.trim() || undefined;
}

/** What is no number is left as text, which the schema refuses. */
function numberOf(form: URLSearchParams, name: string): unknown {
  const text = textOf(form, name);
  return text !== undefined && /^\d{1,9}$/.test(text) ? new LosslessNumber(text) : text;
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  fields: Record<string, unknown>,
): ReadForm<z.output<Schema>> {
  const issues: FieldErrors = {};
  const body = decode(schema, fields, issues) as z.output<Schema>;
  return Object.keys(issues).length > 0 ? { issues } : { body };
}
