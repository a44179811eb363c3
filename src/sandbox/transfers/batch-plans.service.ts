// Judges a batch before anything of it moves, on accounts that nobody else moves meanwhile.
import { Injectable } from '@nestjs/common';
import type { BatchRequest } from '../../contract/batch-transfers.js';
import { AppError, invariant } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { findAccountsByNumber } from '../accounts/accounts.queries.js';
import { Faults } from '../faults/faults.service.js';
import { availableCents } from '../ledger/funds.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { Modes } from '../modes/modes.service.js';
import type { Tx } from '../sandbox-database.service.js';
import { cutInHalf, placeOf, planBatch, type PlannedItem } from './batch-plan.js';
import { refusal } from './beneficiary-account.js';

export interface BatchPlan {
  /** Whether an item that cannot be done leaves the others as they are. */
  isPartial: boolean;
  items: PlannedItem[];
}

@Injectable()
export class BatchPlans {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly modes: Modes,
    private readonly faults: Faults,
  ) {}

  /**
   * Locks every account of the batch. Throws `validation_failed` when it is too long and, unless batches are done in
   * part, `rule_broken` with what its first item that cannot be done is refused for.
   */
  async make(tx: Tx, payer: BankAccount, items: BatchRequest): Promise<BatchPlan> {
    const { batch, batchMaximumItems } = this.modes.current;
    if (items.length > batchMaximumItems)
      throw new AppError('validation_failed', {
        errors: { $: [`Must have at most ${batchMaximumItems} items.`] },
      });
    const numbers = [...new Set(items.map((item) => item.beneficiaryAccountNumber))];
    const accounts = await findAccountsByNumber(tx, numbers);
    const locked = (await this.ledger.lock(tx, [payer, ...accounts.values()])).get(payer.id);
    invariant(locked, 'the payer is locked');
    const plan = planBatch(items, { payer, accounts, fundsCents: availableCents(locked) });
    const isPartial = batch === 'partial';
    const index = plan.findIndex(({ refused }) => refused !== null);
    const refused = plan[index]?.refused;
    if (refused && !isPartial) throw refusal(refused, placeOf(index));
    // Taken last: a batch that is refused must not use the fault up.
    const isInterrupted = this.faults.take(['batch'], 'partial-batch') !== null;
    return { isPartial, items: isInterrupted ? cutInHalf(plan) : plan };
  }
}
