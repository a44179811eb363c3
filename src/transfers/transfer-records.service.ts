// The only writer of transfers: what was asked for, what the bank told of it, and the events of it. Called in the
// transaction of the fact.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { BankService } from '../bank/bank.service.js';
import type { Tx } from '../database.service.js';
import { EventsService } from '../events/events.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import type { Operation } from '../operations/operation.js';
import { invariant } from '../platform/errors.js';
import { firstCheckMs, referencesOf, type BankTransfer } from './bank-transfer.js';
import { transferEvent } from './transfer-events.js';
import * as queries from './transfers.queries.js';

export interface NewTransfer {
  shape: 'key' | 'manual' | 'internal' | 'batch';
  amountCents: bigint;
  counterparty: string;
  endToEndId: string | null;
  externalId: string | null;
}

/** What was told of one transfer. */
export interface Told {
  transfer: queries.TransferKey;
  told: BankTransfer;
}

const neverMade: BankTransfer = {
  state: 'failed',
  bankStatus: null,
  errorCode: null,
  bankId: null,
  endToEndId: null,
  nsu: null,
};

@Injectable()
export class TransferRecords {
  constructor(
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly events: EventsService,
    private readonly bank: BankService,
  ) {}

  /**
   * Records an operation's transfers, one for each of its expected payments and in their order. A single transfer
   * bears the operation's id: what a caller is given before the bank's answer leads to it afterwards.
   */
  async record(
    tx: Tx,
    { accountId, operationId }: { accountId: number; operationId: string },
    transfers: NewTransfer[],
    expectedPaymentIds: string[],
  ): Promise<void> {
    const rows = transfers.map((transfer, position) => ({
      ...transfer,
      position,
      id: transfer.shape === 'batch' ? uuidv7() : operationId,
      expectedPaymentId: expectedPaymentIds[position] ?? '',
    }));
    await queries.insertTransfers(tx, { accountId, operationId }, rows);
    await this.expectedPayments.addReferencesToEach(
      tx,
      accountId,
      rows.map(({ externalId, expectedPaymentId }) => ({
        expectedPaymentId,
        references: externalId === null ? [] : [{ kind: 'external_id', value: externalId }],
      })),
    );
  }

  /** The bank answered an operation: what it told of each transfer, in their order. */
  async noteAnswer(
    tx: Tx,
    { accountId, id }: Operation,
    answer: readonly BankTransfer[],
  ): Promise<void> {
    const transfers = await queries.listOfOperation(tx, accountId, id);
    invariant(transfers.length === answer.length, `operation ${id} is answered in another number`);
    const each = transfers.map((transfer, position) => ({ transfer, told: answer[position] }));
    await this.note(tx, accountId, each as Told[]);
  }

  /** The items that a batch's answer told to have failed never moved anything: no line will come of them. */
  async withdrawFailed(tx: Tx, { accountId, id }: Operation): Promise<void> {
    const failed = await queries.listOfOperation(tx, accountId, id, 'failed');
    const ids = failed.map(({ expectedPaymentId }) => expectedPaymentId);
    await this.expectedPayments.withdrawEach(tx, accountId, ids);
  }

  /** The statement shows an operation that the bank never answered. */
  async noteDebits(tx: Tx, { accountId, id }: Operation): Promise<void> {
    const transfers = await queries.listWithDebits(tx, accountId, id);
    const seen = transfers.filter(({ shape, isDebited }) => shape !== 'batch' || isDebited);
    await this.note(
      tx,
      accountId,
      seen.map(({ shape, isDebited, endToEndId, bankId, ...transfer }) => {
        // Between accounts the debit is all of it; a Pix that is debited can still fail.
        const isDone = isDebited && (shape === 'internal' || shape === 'batch');
        const state = isDone ? 'effective' : 'accepted';
        const told = { state, bankStatus: null, errorCode: null, bankId, endToEndId, nsu: null };
        return { transfer, told } as Told;
      }),
    );
  }

  /** Those whose payments were proven absent, while others of their batch were made, will never be. */
  async fail(tx: Tx, { accountId, id }: Operation, absent: readonly string[]): Promise<void> {
    const transfers = await queries.listOfOperation(tx, accountId, id);
    const undone = transfers.filter((one) => absent.includes(one.expectedPaymentId));
    await this.note(
      tx,
      accountId,
      undone.map((transfer) => ({ transfer, told: neverMade })),
    );
  }

  /** What was proven not done is open again: another of the same batch was seen. */
  async reopen(tx: Tx, { accountId, id }: Operation): Promise<void> {
    await queries.reopenTransfers(tx, accountId, id);
  }

  /** Writes what the bank told of transfers; those that came to their end by it are told of. */
  async note(tx: Tx, accountId: number, each: readonly Told[]): Promise<void> {
    if (each.length === 0) return;
    const rows = each.map(({ transfer: { id }, told: { nsu: _, ...told } }) => ({ id, ...told }));
    const checkMs = this.bank.profile.hasStatusById ? firstCheckMs : null;
    const ended = await queries.advanceTransfers(tx, accountId, rows, checkMs);
    await this.expectedPayments.addReferencesToEach(
      tx,
      accountId,
      each.map(({ transfer: { expectedPaymentId }, told }) => ({
        expectedPaymentId,
        references: referencesOf(told),
      })),
    );
    if (ended.length > 0) await this.events.record(tx, accountId, ended.map(transferEvent));
  }

  /** The bank rejected an operation, or it was proven not executed. */
  async reject(tx: Tx, { accountId, id }: Operation): Promise<void> {
    await queries.rejectTransfers(tx, accountId, id);
  }

  /** Sends the events of a transaction on their way, after its commit. */
  async announce(accountId: number): Promise<void> {
    await this.events.announce(accountId);
  }
}
