// Transfers to many accounts of the bank by one request: all of them or none, or in a mode those that can be done. The
// whole batch is one transaction and one IdempotencyKey; each item is a transfer of its own.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  createTransferBatch,
  type BatchElement,
  type BatchRequest,
} from '../../contract/batch-transfers.js';
import { AppError, invariant } from '../../platform/errors.js';
import { canonicalJson, sha256, stringifyJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/bank-account.js';
import { findAccountsByNumber } from '../accounts/bank-accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { Idempotency } from '../idempotency.service.js';
import { Ledger } from '../ledger/ledger.service.js';
import { Modes } from '../modes/modes.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase, type Tx } from '../sandbox-database.service.js';
import { doneElement, failedElement, type ElementSubject } from './batch-answer.js';
import { cutInHalf, planBatch, type PlannedItem } from './batch-plan.js';
import { describeRefusal, refusal, type RefusalReason } from './beneficiary-account.js';
import { InternalTransfers } from './internal-transfers.service.js';

@Injectable()
export class BatchTransfers {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly idempotency: Idempotency,
    private readonly ledger: Ledger,
    private readonly internalTransfers: InternalTransfers,
    private readonly modes: Modes,
    private readonly faults: Faults,
    private readonly random: Random,
    private readonly clock: BankClock,
  ) {}

  /** The text of the answer; the same one for a repeat of the key. */
  async create(account: BankAccount, items: BatchRequest, key: string): Promise<string> {
    const { batchMaximumItems } = this.modes.current;
    if (items.length > batchMaximumItems)
      throw new AppError('validation_failed', {
        errors: { $: [`Must have at most ${batchMaximumItems} items.`] },
      });
    const bodyHash = sha256(canonicalJson(items));
    const identity = { accountId: account.id, operation: createTransferBatch.name, key, bodyHash };
    return this.database.transaction((tx) =>
      this.idempotency.once(tx, identity, async () => {
        const elements = await this.execute(tx, account, await this.plan(tx, account, items), key);
        return stringifyJson(z.encode(createTransferBatch.response, elements));
      }),
    );
  }

  /** Judges the batch on accounts that nobody else moves meanwhile. */
  private async plan(tx: Tx, payer: BankAccount, items: BatchRequest): Promise<PlannedItem[]> {
    const numbers = [...new Set(items.map((item) => item.beneficiaryAccountNumber))];
    const accounts = await findAccountsByNumber(tx, numbers);
    const locked = (await this.ledger.lock(tx, [payer, ...accounts.values()])).get(payer.id);
    invariant(locked, 'the payer is locked');
    const fundsCents = locked.balanceCents - locked.blockedCents;
    const plan = planBatch(items, { payer, accounts, fundsCents });
    const index = plan.findIndex(({ refused }) => refused !== null);
    const refused = plan[index]?.refused;
    if (refused && this.modes.current.batch === 'atomic') throw refusal(refused, placeOf(index));
    // Taken last: a batch that is refused must not use the fault up.
    return this.faults.take(['batch'], 'partial-batch') ? cutInHalf(plan) : plan;
  }

  private async execute(
    tx: Tx,
    payer: BankAccount,
    plan: readonly PlannedItem[],
    idempotencyKey: string,
  ): Promise<BatchElement[]> {
    const elements: BatchElement[] = [];
    for (const [index, planned] of plan.entries()) {
      const { item, beneficiary, refused } = planned;
      if (refused !== null) {
        elements.push(this.failed(payer, planned, refused));
        continue;
      }
      try {
        const { id, createdAt } = await this.internalTransfers.transfer(tx, {
          payer,
          beneficiary,
          amountCents: item.amount,
          description: null,
          externalId: item.externalId ?? null,
          idempotencyKey,
        });
        const parties = { sender: payer, recipient: beneficiary };
        elements.push(doneElement({ id, item, ...parties, at: createdAt }));
      } catch (error) {
        // The plan knows all but the most that a beneficiary can hold; the ledger refuses before it writes.
        if (!(error instanceof AppError) || error.details.reason !== 'balance_limit') throw error;
        if (this.modes.current.batch === 'atomic') throw refusal('balance_limit', placeOf(index));
        elements.push(this.failed(payer, planned, 'balance_limit'));
      }
    }
    return elements;
  }

  private failed(sender: BankAccount, planned: PlannedItem, refused: RefusalReason): BatchElement {
    const { item, beneficiary: recipient } = planned;
    const subject: ElementSubject = {
      id: this.random.uuid(),
      item,
      sender,
      recipient,
      at: this.clock.now(),
    };
    return failedElement(subject, { code: refused, description: describeRefusal(refused) });
  }
}

function placeOf(index: number): string {
  return `Item ${index + 1}: `;
}
