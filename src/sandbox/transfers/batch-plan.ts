import type { BatchRequest } from '../../contract/batch-transfers.js';
import type { BankAccount } from '../accounts/party.js';
import { refusalOf, type RefusalReason } from './beneficiary-account.js';

export type BatchItem = BatchRequest[number];

export type PlannedItem = { item: BatchItem } & (
  | { beneficiary: BankAccount; refused: null }
  | { beneficiary: BankAccount | null; refused: RefusalReason }
);

/**
 * Which items can be done, one after another in their order: an item that cannot takes nothing from the funds of those
 * that follow. `fundsCents` is what the payer can give, `accounts` whom there is by number.
 */
export function planBatch(
  items: readonly BatchItem[],
  {
    payer,
    accounts,
    fundsCents,
  }: { payer: BankAccount; accounts: ReadonlyMap<string, BankAccount>; fundsCents: bigint },
): PlannedItem[] {
  let leftCents = fundsCents;
  return items.map((item) => {
    const beneficiary = accounts.get(item.beneficiaryAccountNumber);
    const refused = refusalOf(beneficiary, payer);
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

/** A batch that stops halfway: the first half, rounded down, goes on as planned. */
export function cutInHalf(plan: readonly PlannedItem[]): PlannedItem[] {
  const half = Math.floor(plan.length / 2);
  return plan.map((planned, index) =>
    index < half ? planned : { ...planned, refused: planned.refused ?? 'batch_interrupted' },
  );
}

/** Where an item stands in its batch, for whoever reads what is wrong with it. */
export function placeOf(index: number): string {
  return `Item ${index + 1}: `;
}
