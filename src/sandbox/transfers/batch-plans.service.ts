// Plans a batch before its money moves. All its accounts are locked meanwhile.
import { Injectable } from '@nestjs/common';
import type { BatchRequest } from '../../bank-contract/batch-transfers.js';
import { invalidField, invariant, refuseInvalid } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { findAccountsByNumber } from '../accounts/accounts.queries.js';
import { Faults } from '../faults/faults.service.js';
import { availableCents } from '../ledger/movement.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { Modes } from '../modes/modes.service.js';
import type { Preset } from '../presets/presets.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import {
  interruptHalfway,
  batchItemPrefix,
  planBatch,
  repeatedExternalIds,
  type PlannedBatchItem,
} from './batch-plan.js';
import { refusalError } from './beneficiary-account.js';

export interface BatchPlan {
  /** Whether the other items are done when one is refused. */
  isPartial: boolean;
  preset: Preset;
  items: PlannedBatchItem[];
}

@Injectable()
export class BatchPlans {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly modes: Modes,
    private readonly faults: Faults,
  ) {}

  /**
   * Locks every account of the batch. Throws `validation_failed` when the batch has too many items,
   * or items that the modes do not allow. Unless the mode `batch` is `partial`, throws
   * `rule_broken` with the reason of the first refused item.
   */
  async make(tx: SandboxTx, payer: SandboxAccount, items: BatchRequest): Promise<BatchPlan> {
    const { preset, batch, batchMaximumItems, batchExternalIds } = this.modes.current;
    if (items.length > batchMaximumItems)
      throw invalidField('$', `Must have at most ${batchMaximumItems} items.`);
    if (batchExternalIds === 'unique') refuseInvalid(repeatedExternalIds(items));
    const numbers = [...new Set(items.map((item) => item.beneficiaryAccountNumber))];
    const accounts = await findAccountsByNumber(tx, numbers);
    const locked = (await this.ledger.lock(tx, [payer, ...accounts.values()])).get(payer.id);
    invariant(locked, 'the payer is locked');
    const plan = planBatch(items, { payer, accounts, fundsCents: availableCents(locked) });
    const isPartial = batch === 'partial';
    const index = plan.findIndex(({ refused }) => refused !== null);
    const refused = plan[index]?.refused;
    if (refused && !isPartial) throw refusalError(refused, batchItemPrefix(index));
    // Fires last, so that a refused batch does not use up the fault.
    const isInterrupted = this.faults.fire(['batch'], 'partial-batch') !== null;
    return { isPartial, preset, items: isInterrupted ? interruptHalfway(plan) : plan };
  }
}
