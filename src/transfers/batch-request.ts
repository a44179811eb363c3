// A batch as requested: the externalIds of its items, its counterparty, and whether a response
// matches the request.
import type { BatchElement, BatchRequest } from '../contract/batch-transfers.js';
import { normalizeAccountNumber } from '../expected-payments/counterparty.js';
import { sha256 } from '../platform/exact-json.js';
import { generateExternalId } from './transfer-request.js';

/** Generates an externalId for each item without an externalId from the client. */
export function completeBatch(items: BatchRequest, operationId: string): BatchRequest {
  return items.map((item, position) => ({
    ...item,
    externalId: item.externalId ?? generateExternalId(operationId, position),
  }));
}

/**
 * JSON path → messages, for each externalId that an earlier item already has. Two movements with
 * the same externalId could not be distinguished.
 */
export function repeatedExternalIds(items: BatchRequest): Record<string, string[]> {
  const firstPositions = new Map<string, number>();
  const errors: Record<string, string[]> = {};
  items.forEach(({ externalId }, position) => {
    if (!externalId) return;
    const first = firstPositions.get(externalId);
    if (first === undefined) firstPositions.set(externalId, position);
    else
      errors[`$[${position}].externalId`] = [
        `externalId must be unique in the batch, item ${first} already has it.`,
      ];
  });
  return errors;
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
