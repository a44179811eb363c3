// A batch as it is asked for: the ids of its items, what tells it from another, and whether an answer speaks of it.
import type { BatchElement, BatchRequest } from '../contract/batch-transfers.js';
import { accountNumber } from '../expected-payments/counterparty.js';
import { sha256 } from '../platform/exact-json.js';
import { ownExternalId } from './transfer-request.js';

export function completeBatch(items: BatchRequest, operationId: string): BatchRequest {
  return items.map((item, position) => ({
    ...item,
    externalId: item.externalId ?? ownExternalId(operationId, position),
  }));
}

/** JSON path → messages, for each externalId that an earlier item bears: two movements could not be told apart. */
export function repeatedExternalIds(items: BatchRequest): Record<string, string[]> {
  const seen = new Map<string, number>();
  const errors: Record<string, string[]> = {};
  items.forEach(({ externalId }, position) => {
    if (!externalId) return;
    const first = seen.get(externalId);
    if (first === undefined) seen.set(externalId, position);
    else errors[`$[${position}].externalId`] = [`Is the externalId of item ${first} already.`];
  });
  return errors;
}

/** One text for batches that send the same amounts to the same accounts, in whatever order. */
export function batchCounterparty(items: BatchRequest): string {
  const lines = items.map(
    ({ beneficiaryAccountNumber, amount }) =>
      `${accountNumber(beneficiaryAccountNumber)} ${amount}`,
  );
  return `batch/${sha256(lines.sort().join('\n'))}`;
}

export function echoesBatch(items: BatchRequest, elements: readonly BatchElement[]): boolean {
  return (
    elements.length === items.length &&
    items.every((item, position) => {
      const element = elements[position];
      if (element?.amount !== item.amount) return false;
      return (element.externalId ?? item.externalId) === item.externalId;
    })
  );
}
