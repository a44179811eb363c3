// Validates a row as a request of its kind, and finds the reference that identifies the row.
import { z } from 'zod';
import { fieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import { readParty, type PaymentParty } from '../../access/counterparties/party.js';
import { chargeWithMetadata } from '../charges/charges.schema.js';
import { pixKeyText } from '../../bank-contract/pix-lookup.js';
import { taxIdText, transferShape, type TransferRequest } from '../../bank-contract/transfers.js';
import { normalizeKey } from '../../bank-contract/route.js';
import { declarePayment } from '../../statement/expected-payments/declared-payments.schema.js';
import { takingMetadata } from '../../statement/expected-payments/metadata.js';
import { transferWithMetadata } from '../transfers/transfers.schema.js';
import { decode } from '../../platform/http/contract-route.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import { readLeniently } from '../../platform/http/lenient-request.js';
import {
  clientIdentifier,
  freeText,
  positiveReais,
  withoutCase,
} from '../../bank-contract/wire.js';
import type { BulkKind } from './bulk.schema.js';

/** What a valid row asks for, as a check of its file shows it. */
export interface RowPayment {
  /** Of a range, its end. */
  cents: bigint;
  /** The name, key or account by which the row names the other side. */
  payee: string;
  /** It is a Pix key. */
  isKey: boolean;
  /** Of a transfer to a bank account: people see where the money goes. */
  party?: PaymentParty;
}

export type RowRequest =
  ({ reference: string } & RowPayment) | { issues: FieldErrors; reference: string | null };

type Charge = z.output<typeof chargeWithMetadata.body>;
type Declared = z.output<typeof declarePayment.body>;
type KeyTransfer = z.output<typeof pixKeyTransfer>;

/** The row in the contract's form: the same request by the bank's routes is read as leniently. */
export function rowInForm(kind: BulkKind, request: unknown): unknown {
  if (kind === 'expected_payments' || !isJsonObject(request)) return request;
  const isKey = Object.keys(request).some((name) => withoutCase(name) === 'key');
  const ofTransfer = isKey ? pixKeyTransfer : transferWithMetadata.body;
  return readLeniently(kind === 'charges' ? chargeWithMetadata.body : ofTransfer, request).request;
}

export function readRowRequest(kind: BulkKind, request: unknown): RowRequest {
  const readers = {
    charges: readCharge,
    transfers: readTransfer,
    expected_payments: readExpectedPayment,
  };
  return readers[kind](request);
}

function readExpectedPayment(request: unknown): RowRequest {
  const issues: FieldErrors = {};
  const declared = decode(declarePayment.body, request, issues, true) as Declared;
  const valid = () => ({
    reference: declared.externalId,
    cents: declared.amount ?? declared.amountTo ?? 0n,
    payee: declared.counterparty?.name ?? declared.counterparty?.taxId ?? '',
    isKey: false,
  });
  return toRowRequest(issues, valid, textAt(request, 'externalId'));
}

function readCharge(request: unknown): RowRequest {
  const issues: FieldErrors = {};
  const charge = decode(chargeWithMetadata.body, request, issues) as Charge;
  const valid = () => ({
    reference: charge.correlationId,
    cents: charge.Amount,
    payee: charge.payer.name,
    isKey: false,
  });
  return toRowRequest(issues, valid, textAt(request, 'correlationId'));
}

/**
 * Splits a row into the contract's request and the row's idempotency key, null when the row has no
 * key.
 */
export function readTransferRow(request: unknown): {
  body: unknown;
  idempotencyKey: string | null;
} {
  if (!isJsonObject(request)) return { body: request, idempotencyKey: null };
  const { idempotencyKey, ...body } = request;
  return {
    body,
    idempotencyKey: typeof idempotencyKey === 'string' ? normalizeKey(idempotencyKey) : null,
  };
}

function readTransfer(request: unknown): RowRequest {
  const { body, idempotencyKey } = readTransferRow(request);
  const issues: FieldErrors = {};
  // A transfer without an id could be sent twice.
  const reference = textAt(request, 'externalId') ?? idempotencyKey;
  const isKey = isByKey(body);
  const transfer = isKey
    ? (decode(pixKeyTransfer, body, issues, true) as KeyTransfer)
    : (decode(transferWithMetadata.body, body, issues) as TransferRequest);
  if (!isKey) {
    if (Object.keys(issues).length === 0 && transferShape(transfer as never).shape === 'key')
      issues['$.endToEndId'] = [
        'Must not be sent. Send the Pix key as key: it is looked up when the row is issued.',
      ];
  }
  if (idempotencyKey !== null && !clientIdentifier.safeParse(idempotencyKey).success)
    issues['$.idempotencyKey'] = [fieldError('identifier')];
  if (reference === null || reference === '')
    issues['$.externalId'] = [fieldError('row_without_id')];
  const valid = () => ({
    reference: reference ?? '',
    cents: transfer.amount,
    payee: isKey ? (transfer as KeyTransfer).key : payeeOf(transfer as TransferRequest),
    isKey,
    ...(!isKey && 'beneficiary' in transfer ? { party: readParty(transfer.beneficiary) } : {}),
  });
  return toRowRequest(issues, valid, reference);
}

function payeeOf({ beneficiary, beneficiaryAccount }: TransferRequest): string {
  return beneficiary?.holder.name ?? beneficiaryAccount ?? '';
}

const pixKeyFields = z.object({
  key: pixKeyText,
  holderDocument: taxIdText.nullish(),
  amount: positiveReais,
  description: freeText.nullish(),
  externalId: clientIdentifier.nullish(),
});

/** A transfer by Pix key. The result of the look-up is added when the row is issued. */
export const pixKeyTransfer = takingMetadata(pixKeyFields);

export function isByKey(body: unknown): boolean {
  return isJsonObject(body) && 'key' in body;
}

function toRowRequest(
  issues: FieldErrors,
  valid: () => Exclude<RowRequest, { issues: FieldErrors }>,
  candidate: string | null,
): RowRequest {
  return Object.keys(issues).length > 0
    ? { issues, reference: clientIdentifier.safeParse(candidate).success ? candidate : null }
    : valid();
}

function textAt(request: unknown, field: string): string | null {
  const value = isJsonObject(request) ? request[field] : null;
  return typeof value === 'string' ? value : null;
}

const rowErrors = z.object({
  code: z.string().nullable(),
  title: z.string().nullable(),
  errors: z.custom<FieldErrors>().nullable(),
});
/** Why a row is rejected or invalid, as stored. */
export type RowErrors = z.output<typeof rowErrors>;

const noErrors: RowErrors = { code: null, title: null, errors: null };

export function readRowErrors(stored: string | null): RowErrors {
  return stored === null ? noErrors : rowErrors.parse(JSON.parse(stored));
}
