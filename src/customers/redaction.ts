// What is kept of an onboarding request and its answer: enough for an operator to recognize the case, and nothing that is secret.
import { maskTaxId, parseTaxId } from '../brazil/tax-id.js';
import type { CustomerRequest } from '../contract/customers.js';
import { isJsonObject, parseJson, stringifyJson, tolerant } from '../platform/exact-json.js';

/** Authorizes somebody: sent and forgotten, hashed nowhere. */
const secretFields = ['password', 'securityPassword', 'tokenNotification'] as const;
const codeFields = ['email', 'phone'] as const;

/** The document's digits; the request was validated. */
export function documentOf({ document }: Pick<CustomerRequest, 'document'>): string {
  return parseTaxId(document)?.number ?? '';
}

/**
 * All that the contract names and that is no secret: what tells two requests for one document apart. Fields that it
 * does not name are left out, because nobody knows what they hold.
 */
export function detailsOf(request: CustomerRequest): object {
  const { document, name, fatherName, motherName, monthlyInvoicing, birthDate } = request;
  const { educationLevel, maritalStatus, gender, address } = request;
  return {
    document: documentOf({ document }),
    person: [name, fatherName, motherName, birthDate].map((value) => value ?? null),
    words: [educationLevel, maritalStatus, gender].map((value) => value ?? null),
    monthlyInvoicing: monthlyInvoicing?.toString() ?? null,
    reached: [request.email.value, request.phone.ddd, request.phone.number],
    address: [
      ...[address.publicPlace, address.number, address.zipCode, address.neighborhood],
      ...[address.complement, address.type, address.cityName, address.cityId],
    ].map((value) => value?.toString() ?? null),
  };
}

/** The body as it is kept; `fingerprint` is a keyed hash of the details. */
export function redact(request: CustomerRequest, fingerprint: string): object {
  const taxId = parseTaxId(request.document);
  const known = [...secretFields, ...codeFields, ...plainFields];
  return {
    document: taxId ? maskTaxId(taxId) : null,
    address: { cityName: request.address.cityName ?? null },
    fields: known.filter((field) => (request[field] ?? null) !== null),
    fingerprint,
  };
}

const plainFields = [
  ...(['document', 'name', 'fatherName', 'motherName', 'monthlyInvoicing', 'birthDate'] as const),
  ...(['educationLevel', 'maritalStatus', 'gender', 'address'] as const),
];

const hidden = '***';
/** Shorter values would be found in anything. */
const leastSecret = 4;
const secretNames = /password|senha|secret|token|codeverification|verificationcode/i;

/** The bank's answer without what it repeats of the request's secrets, wherever that stands. */
export function redactAnswer(request: CustomerRequest, text: string): string {
  const values = [
    ...secretFields.map((field) => request[field]),
    ...codeFields.map((field) => request[field].codeVerification),
  ].flatMap((value) => (value && value.length >= leastSecret ? [value] : []));
  // The longest first: one may stand within another.
  const secrets = [...new Set(values)].sort((a, b) => b.length - a.length);
  const hide = (told: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, hidden), told);
  return stringifyJson(withoutSecrets(parseJson(text, tolerant), hide));
}

function withoutSecrets(value: unknown, hide: (told: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, hide));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, held]) => [
        hide(name),
        secretNames.test(name) ? hidden : withoutSecrets(held, hide),
      ]),
    );
  if (value === null || typeof value === 'boolean') return value;
  const written = stringifyJson(value);
  return hide(written) === written ? value : hidden;
}
