import { maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { CustomerRequest } from '../../bank-contract/customers.js';
import { invariant } from '../../platform/errors.js';
import type { AccountOpening } from '../ledger/opening.queries.js';
import { wireReais } from '../wire-values.js';
import type { CustomerDecision, DecidedCustomer } from './customers.queries.js';

/** The code that is always wrong, so that a test can exercise a failed verification. */
const wrongCode = '000000';

export const customerBranch = '0001';

/** CPF without punctuation. */
export function documentOf(request: CustomerRequest): string {
  const taxId = parseTaxId(request.document);
  invariant(taxId?.kind === 'NATURAL', 'the route accepts only a CPF');
  return taxId.number;
}

export function maskedCpf(number: string): string {
  return maskTaxId({ kind: 'NATURAL', number });
}

export function hasWrongCode({ email, phone }: CustomerRequest): boolean {
  return [email.codeVerification, phone.codeVerification].includes(wrongCode);
}

/** The errors of verification codes that are not 4 to 8 digits, by JSON path. */
export function codeProblems(request: CustomerRequest): Record<string, string[]> {
  const wrong = (['email', 'phone'] as const).filter(
    (field) => !/^[0-9]{4,8}$/.test(request[field].codeVerification),
  );
  const path = (field: string) => `$.${field}.codeVerification`;
  return Object.fromEntries(wrong.map((field) => [path(field), ['Must be 4 to 8 digits.']]));
}

/** The stored fields of a request: known fields only, without passwords, codes and tokens. */
export function detailsOf(request: CustomerRequest): object {
  const { publicPlace, number, zipCode, neighborhood, complement } = request.address;
  const { isConfirmed, type, cityId, cityName } = request.address;
  return {
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
  };
}

export function openingOf(request: CustomerRequest, number: string): AccountOpening {
  const { publicPlace, number: houseNumber, zipCode, cityName } = request.address;
  return {
    branch: customerBranch,
    number,
    holderName: request.name.trim(),
    holderDocument: documentOf(request),
    holderType: 'NATURAL',
    street: houseNumber ? `${publicPlace}, ${houseNumber}` : publicPlace,
    city: cityName ?? '',
    // The request has no state.
    state: '',
    zipCode: zipCode.replace('-', ''),
    email: request.email.value,
    openingBalanceCents: 0n,
  };
}

export const decidedEventTypes = {
  APPROVED: 'WHITELABEL_CUSTOMER_APPROVED',
  REJECTED: 'WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED',
} as const;

/**
 * The webhook of a decided customer. The bank publishes only the names of the events; this body
 * links customer and account.
 */
export function customerDecidedBody(
  customer: DecidedCustomer,
  { status, reason, at }: { status: CustomerDecision; reason: string | null; at: Date },
): object {
  return {
    eventType: decidedEventTypes[status],
    customerId: customer.id,
    document: maskedCpf(customer.document),
    name: customer.name,
    status,
    account: { branch: customer.branch, number: customer.number },
    ...(status === 'APPROVED'
      ? { approvedAt: at.toISOString() }
      : { reason, rejectedAt: at.toISOString() }),
  };
}
