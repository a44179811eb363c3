// One transfer as requested: its ids, its counterparty, whether a response matches the request, and
// how long a Pix key look-up may start it.
import { v5 as uuidv5 } from 'uuid';
import { parseEndToEndId } from '../../brazil/end-to-end-id.js';
import {
  transferShape,
  type TransferRequest,
  type TransferResponse,
  type TransferShape,
} from '../../bank-contract/transfers.js';
import { markedId } from '../operations/installation-mark.js';
import {
  normalizeAccountNumber,
  formatCounterparty,
} from '../../statement/expected-payments/counterparty.js';

/**
 * The externalId of a transfer without an externalId from the client. It is derived from the
 * operation and the position in it: each movement has its own id, and a repeat has the same id.
 */
export function generateExternalId(
  operationId: string,
  position: number,
  installation: string,
): string {
  return markedId(uuidv5(String(position), operationId), installation);
}

/**
 * Adds an externalId to a transfer between accounts only: the bank does not store one for a Pix.
 */
export function completeTransfer(
  request: TransferRequest,
  operationId: string,
  installation: string,
): TransferRequest {
  const shape = transferShape(request);
  if (shape.shape !== 'internal' || shape.externalId !== null) return request;
  return { ...request, externalId: generateExternalId(operationId, 0, installation) };
}

/**
 * The beneficiary's account in its normal form. The counterparty of a transfer by key is in its
 * look-up.
 */
export function counterpartyOfTransfer(
  shape:
    | Pick<Extract<TransferShape, { shape: 'manual' }>, 'shape' | 'beneficiary'>
    | Pick<Extract<TransferShape, { shape: 'internal' }>, 'shape' | 'beneficiaryAccount'>,
): string {
  if (shape.shape === 'internal') return normalizeAccountNumber(shape.beneficiaryAccount);
  const { participantIspb: ispb, branch, number } = shape.beneficiary;
  return formatCounterparty({ ispb, branch, number });
}

/**
 * Whether a response holds the amount and the ids of the request. An account that it returns must
 * be the account of the request.
 */
export function matchesTransferRequest(
  request: TransferRequest,
  { amount, endToEndId, externalId, beneficiary }: TransferResponse,
): boolean {
  const shape = transferShape(request);
  if (amount !== shape.amountCents) return false;
  switch (shape.shape) {
    case 'key':
      return endToEndId === shape.endToEndId;
    case 'manual':
      return isSameAccount(beneficiary?.number, shape.beneficiary.number);
    case 'internal':
      return (
        isSameAccount(beneficiary?.number, shape.beneficiaryAccount) &&
        (externalId ?? shape.externalId) === shape.externalId
      );
  }
}

/**
 * Banks write an account number with or without leading zeros, and with or without its check digit.
 */
function isSameAccount(reported: string | null | undefined, requested: string): boolean {
  if (reported == null) return true;
  const [one, other] = [normalizeAccountNumber(reported), normalizeAccountNumber(requested)];
  return one.startsWith(other) || other.startsWith(one);
}

/** The SPI accepts an endToEndId whose own time differs from the present by at most this. */
const endToEndIdToleranceMs = 12 * 3_600_000;

/**
 * When a look-up stops being usable for a transfer: twelve hours after the look-up or after the
 * time in its endToEndId, whichever is earlier.
 */
export function pixLookupExpiry(endToEndId: string, lookedUpAt: Date): Date {
  const issuedAt = parseEndToEndId(endToEndId)?.at ?? lookedUpAt;
  return new Date(Math.min(issuedAt.getTime(), lookedUpAt.getTime()) + endToEndIdToleranceMs);
}
