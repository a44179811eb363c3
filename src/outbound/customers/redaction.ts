// Redacts an onboarding request and its response before they are stored. An operator can still
// recognize the case, and no secret is stored.
import { maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { CustomerRequest } from '../../bank-contract/customers.js';
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  tolerantJson,
} from '../../platform/json/exact-json.js';

/**
 * These fields authorize a person: they are sent and then discarded. Not even a hash of them is
 * stored.
 */
const secretFields = ['password', 'securityPassword', 'tokenNotification'] as const;
const codeFields = ['email', 'phone'] as const;

/** The digits of the document of a validated request. */
export function documentDigits({ document }: Pick<CustomerRequest, 'document'>): string {
  return parseTaxId(document)?.number ?? '';
}

/**
 * The fields that distinguish two requests for one document: all fields of the contract, except the
 * secrets. Other fields are left out, because they may hold secrets.
 */
export function comparableDetails(request: CustomerRequest): object {
  const { document, name, fatherName, motherName, monthlyInvoicing, birthDate } = request;
  const { educationLevel, maritalStatus, gender, address } = request;
  return {
    document: documentDigits({ document }),
    person: [name, fatherName, motherName, birthDate].map((value) => value ?? null),
    categories: [educationLevel, maritalStatus, gender].map((value) => value ?? null),
    monthlyInvoicing: monthlyInvoicing?.toString() ?? null,
    contacts: [request.email.value, request.phone.ddd, request.phone.number],
    address: [
      ...[address.publicPlace, address.number, address.zipCode, address.neighborhood],
      ...[address.complement, address.type, address.cityName, address.cityId],
    ].map((value) => value?.toString() ?? null),
  };
}

/** The body that is stored; `fingerprint` is a keyed hash of the comparable details. */
export function redactRequest(request: CustomerRequest, fingerprint: string): object {
  const taxId = parseTaxId(request.document);
  const knownFields = [...secretFields, ...codeFields, ...plainFields];
  return {
    document: taxId ? maskTaxId(taxId) : null,
    address: { cityName: request.address.cityName ?? null },
    fields: knownFields.filter((field) => (request[field] ?? null) !== null),
    fingerprint,
  };
}

const plainFields = [
  ...(['document', 'name', 'fatherName', 'motherName', 'monthlyInvoicing', 'birthDate'] as const),
  ...(['educationLevel', 'maritalStatus', 'gender', 'address'] as const),
];

const mask = '***';
/** A shorter value would occur by chance in any text. */
const minSecretLength = 4;
const secretNames = /password|senha|secret|token|codeverification|verificationcode/i;

/** The bank's response with every secret of the request masked, wherever it occurs. */
export function redactResponse(request: CustomerRequest, text: string): string {
  const values = [
    ...secretFields.map((field) => request[field]),
    ...codeFields.map((field) => request[field].codeVerification),
  ].flatMap((value) => (value && value.length >= minSecretLength ? [value] : []));
  // The longest first: one secret may contain another.
  const secrets = [...new Set(values)].sort((a, b) => b.length - a.length);
  const maskSecrets = (value: string) =>
    secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), value);
  return stringifyJson(withoutSecrets(parseJson(text, tolerantJson), maskSecrets));
}

function withoutSecrets(value: unknown, maskSecrets: (text: string) => string): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, maskSecrets));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        maskSecrets(name),
        secretNames.test(name) ? mask : withoutSecrets(field, maskSecrets),
      ]),
    );
  if (value === null || typeof value === 'boolean') return value;
  const text = stringifyJson(value);
  return maskSecrets(text) === text ? value : mask;
}
