// A batch as requested: the externalIds of its items, its counterparty, and whether a response
// matches the request.
import type { BatchElement, BatchRequest } from '../../bank-contract/batch-transfers.js';
import { normalizeAccountNumber } from '../../statement/expected-payments/counterparty.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { generateExternalId } from './transfer-request.js';

/** Generates an externalId for each item without an externalId from the client. */
export function completeBatch(
  items: BatchRequest,
  operationId: string,
  installation: string,
): BatchRequest {
  return items.map((item, position) => ({
    ...item,
    externalId: item.externalId ?? generateExternalId(operationId, position, installation),
  }));
}

/** The same text for batches that send the same amounts to the same accounts, in any order. */
export function batchCounterparty(items: BatchRequest): string {
  const payments = items.map(
    ({ beneficiaryAccountNumber, amount }) =>
      `${normalizeAccountNumber(beneficiaryAccountNumber)} ${amount}`,
  );
  return `batch/${sha256(payments.sort().join('\n'))}`;
}

/** Whether a response holds the requested items, in their order. */
export function matchesBatchRequest(
  items: BatchRequest,
  elements: readonly BatchElement[],
): boolean {
  return (
    elements.length === items.length &&
    items.every((item, position) => {
      const element = elements[position];
      if (element?.amount !== item.amount) return false;
      return (element.externalId ?? item.externalId) === item.externalId;
    })
  );
}

const positionDigits = 3;

/**
 * The id of an item's transfer, which follows from the operation: a 202 has it before any row is
 * read. It begins with the operation's time, so that a list by id is newest first.
 */
export function batchItemId(operationId: string, position: number): string {
  const digits = position.toString(16).padStart(positionDigits, '0');
  return operationId.slice(0, -positionDigits) + digits;
}
