import type { BatchRequest } from '../../bank-contract/batch-transfers.js';
import type { SandboxAccount } from '../accounts/party.js';
import { transferRefusal, type RefusalReason } from './beneficiary-account.js';

export type BatchItem = BatchRequest[number];

export type PlannedBatchItem = { item: BatchItem } & (
  | { beneficiary: SandboxAccount; refused: null }
  | { beneficiary: SandboxAccount | null; refused: RefusalReason }
);

/**
 * Decides in order which items can be done. A refused item uses no funds. `fundsCents` is
 * the amount that the payer can spend; `accounts` has the beneficiaries by number.
 */
export function planBatch(
  items: readonly BatchItem[],
  {
    payer,
    accounts,
    fundsCents,
  }: { payer: SandboxAccount; accounts: ReadonlyMap<string, SandboxAccount>; fundsCents: bigint },
): PlannedBatchItem[] {
  let leftCents = fundsCents;
  return items.map((item) => {
    const beneficiary = accounts.get(item.beneficiaryAccountNumber);
    const refused = transferRefusal(beneficiary, payer);
    if (refused || !beneficiary)
      return {
        item,
        beneficiary: beneficiary ?? null,
        refused: refused ?? 'beneficiary_account_not_found',
      };
    if (item.amount > leftCents) return { item, beneficiary, refused: 'insufficient_funds' };
    leftCents -= item.amount;
    return { item, beneficiary, refused: null };
  });
}

/** The errors of items whose externalId an earlier item has, by JSON path. */
export function repeatedExternalIds(items: readonly BatchItem[]): Record<string, string[]> {
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

/** A batch that a fault interrupts: only the first half, rounded down, is done as planned. */
export function interruptHalfway(plan: readonly PlannedBatchItem[]): PlannedBatchItem[] {
  const half = Math.floor(plan.length / 2);
  return plan.map((planned, index) =>
    index < half ? planned : { ...planned, refused: planned.refused ?? 'batch_interrupted' },
  );
}

/** The prefix of an error message: the item of the batch that the error is about. */
export function batchItemPrefix(index: number): string {
  return `Item ${index + 1}: `;
}
