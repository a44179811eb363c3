import { maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { CustomerRequest } from '../../contract/customers.js';
import { invariant } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/exact-json.js';
import type { AccountOpening } from '../ledger/opening.queries.js';
import { wireReais } from '../wire-values.js';

/** The code that stands for one that was never sent: how a test tries a wrong code. */
const wrongCode = '000000';

export const customerBranch = '0001';

/** CPF without punctuation. */
export function documentOf(request: CustomerRequest): string {
  const taxId = parseTaxId(request.document);
  invariant(taxId?.kind === 'NATURAL', 'the route takes only persons');
  return taxId.number;
}

export function maskedCpf(number: string): string {
  return maskTaxId({ kind: 'NATURAL', number });
}

export function hasWrongCode({ email, phone }: CustomerRequest): boolean {
  return [email.codeVerification, phone.codeVerification].includes(wrongCode);
}

/** What is kept of a request, as JSON: known fields alone, without passwords, codes and tokens. */
export function detailsOf(request: CustomerRequest): string {
  const { publicPlace, number, zipCode, neighborhood, complement } = request.address;
  const { isConfirmed, type, cityId, cityName } = request.address;
  return stringifyJson({
    name: request.name,
    email: request.email.value,
    phone: { ddd: request.phone.ddd, number: request.phone.number },
    fatherName: request.fatherName,
    motherName: request.motherName,
    monthlyInvoicing:
      typeof request.monthlyInvoicing === 'bigint'
        ? wireReais(request.monthlyInvoicing)
        : undefined,
    birthDate: request.birthDate,
    educationLevel: request.educationLevel,
    maritalStatus: request.maritalStatus,
    gender: request.gender,
    address: {
      ...{ publicPlace, number, zipCode, neighborhood, complement },
      ...{ isConfirmed, type, cityId, cityName },
    },
  });
}

export function openingOf(request: CustomerRequest, number: string): AccountOpening {
  const { publicPlace, number: door, zipCode, cityName } = request.address;
  return {
    branch: customerBranch,
    number,
    holderName: request.name.trim(),
    holderDocument: documentOf(request),
    holderType: 'NATURAL',
    street: door ? `${publicPlace}, ${door}` : publicPlace,
    city: cityName ?? '',
    // The request names no state.
    state: '',
    zipCode: zipCode.replace('-', ''),
    email: request.email.value,
    openingBalanceCents: 0n,
  };
}

/** `WHITELABEL_CUSTOMER_APPROVED`: published by name only; it tells who has which account. */
export function customerApprovedBody(customer: {
  id: string;
  document: string;
  name: string;
  branch: string;
  number: string;
  at: Date;
}): object {
  return {
    eventType: 'WHITELABEL_CUSTOMER_APPROVED',
    customerId: customer.id,
    document: maskedCpf(customer.document),
    name: customer.name,
    status: 'APPROVED',
    account: { branch: customer.branch, number: customer.number },
    approvedAt: customer.at.toISOString(),
  };
}
