// Sends transfers to many accounts of the bank by one request. In the mode `partial` it sends only
// the possible transfers, otherwise all or none. A batch is one database transaction and one
// IdempotencyKey; each item is a transfer of its own.
import { Injectable } from '@nestjs/common';
import { scheduledTime } from '../../brazil/business-hours.js';
import { createTransferBatch, type BatchElement } from '../../bank-contract/batch-transfers.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, ruleBroken } from '../../platform/errors.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import type { Preset } from '../presets/presets.js';
import { Random } from '../random.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { batchElement } from './batch-response.js';
import { batchItemPrefix, type PlannedBatchItem } from './batch-plan.js';
import { BatchPlans, type BatchPlan } from './batch-plans.service.js';
import { describeRefusal, refusalError, type RefusalReason } from './beneficiary-account.js';
import { InternalTransfers } from './internal-transfers.service.js';
import type { Transfer } from './transfer.js';

@Injectable()
export class BatchTransfers {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly plans: BatchPlans,
    private readonly internalTransfers: InternalTransfers,
    private readonly random: Random,
    private readonly clock: BankClock,
  ) {}

  create(request: AccountRequest<typeof createTransferBatch>): Promise<Reply> {
    const { account, body } = request;
    // What it does not play it refuses: executed at once, a scheduled item would come too early.
    if (body.some(({ transferAt }) => scheduledTime(transferAt, this.clock.now()) !== null))
      throw ruleBroken('scheduling_not_supported', 'This bank sends the items of a batch at once.');
    return this.idempotency.runOnce(createTransferBatch, request, async (tx, key) => {
      const plan = await this.plans.make(tx, account, body);
      const elements = await this.execute(tx, account, plan, key);
      return responseText(createTransferBatch, elements);
    });
  }

  private async execute(
    tx: SandboxTx,
    payer: SandboxAccount,
    { isPartial, preset, items }: BatchPlan,
    idempotencyKey: string,
  ): Promise<BatchElement[]> {
    const elements: BatchElement[] = [];
    const moved: Transfer[] = [];
    for (const [index, planned] of items.entries()) {
      const { item, beneficiary, refused } = planned;
      if (refused !== null) {
        elements.push(this.failed(payer, preset, planned, refused));
        continue;
      }
      try {
        const transfer = await this.internalTransfers.move(tx, {
          payer,
          beneficiary,
          amountCents: item.amount,
          description: null,
          externalId: item.externalId ?? null,
          idempotencyKey,
        });
        moved.push(transfer);
        const { id, createdAt: at } = transfer;
        const done = { id, item, sender: payer, recipient: beneficiary, at };
        elements.push(batchElement(done, preset, null));
      } catch (error) {
        // The plan does not check the beneficiary's balance limit. The ledger throws before it
        // writes.
        if (!(error instanceof AppError) || error.details.reason !== 'balance_limit') throw error;
        if (!isPartial) throw refusalError('balance_limit', batchItemPrefix(index));
        elements.push(this.failed(payer, preset, planned, 'balance_limit'));
      }
    }
    await tx.insertAll('transfer', moved);
    return elements;
  }

  private failed(
    sender: SandboxAccount,
    preset: Preset,
    planned: PlannedBatchItem,
    refused: RefusalReason,
  ): BatchElement {
    const { item, beneficiary: recipient } = planned;
    const failed = { id: this.random.uuid(), item, sender, recipient, at: this.clock.now() };
    const error = { code: refused, description: describeRefusal(refused) };
    return batchElement(failed, preset, error);
  }
}
