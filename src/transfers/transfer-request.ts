// One transfer as it is asked for: its ids, who gets the money, and whether an answer speaks of it.
import { v5 as uuidv5 } from 'uuid';
import {
  transferShape,
  type TransferRequest,
  type TransferResponse,
  type TransferShape,
} from '../contract/transfers.js';
import { accountNumber, writeCounterparty } from '../expected-payments/counterparty.js';

/**
 * The externalId of a transfer whose client chose none: made of the operation and the place in it, so that every
 * movement can be told, and that it is the same however often it is made.
 */
export function ownExternalId(operationId: string, position: number): string {
  return uuidv5(String(position), operationId);
}

/** Only transfers between accounts have one: on a Pix the bank does not keep it. */
export function completeTransfer(request: TransferRequest, operationId: string): TransferRequest {
  const shape = transferShape(request);
  if (shape.shape !== 'internal' || shape.externalId !== null) return request;
  return { ...request, externalId: ownExternalId(operationId, 0) };
}

/** Who gets the money, in one spelling. Where a key leads is told by its look-up. */
export function counterpartyOf(shape: Exclude<TransferShape, { shape: 'key' }>): string {
  if (shape.shape === 'internal') return accountNumber(shape.beneficiaryAccount);
  const { participantIspb: ispb, branch, number } = shape.beneficiary;
  return writeCounterparty({ ispb, branch, number });
}

/** Whether an answer speaks of what was asked for. */
export function echoesTransfer(
  request: TransferRequest,
  { amount, endToEndId, externalId, beneficiary }: TransferResponse,
): boolean {
  const shape = transferShape(request);
  if (amount !== shape.amountCents) return false;
  switch (shape.shape) {
    case 'key':
      return endToEndId === shape.endToEndId;
    case 'manual':
      return isSameAccount(beneficiary.number, shape.beneficiary.number);
    case 'internal':
      return (
        isSameAccount(beneficiary.number, shape.beneficiaryAccount) &&
        (externalId ?? shape.externalId) === shape.externalId
      );
  }
}

/** Banks write a number with zeros before it or not, and with its check digit or not. */
function isSameAccount(told: string, asked: string): boolean {
  const [one, other] = [accountNumber(told), accountNumber(asked)];
  return one.startsWith(other) || other.startsWith(one);
}
