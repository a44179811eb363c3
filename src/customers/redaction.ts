// What is kept of an onboarding request: enough for an operator to recognize the case, and nothing that is secret.
import { maskTaxId, parseTaxId } from '../brazil/tax-id.js';
import type { CustomerRequest } from '../contract/customers.js';

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
