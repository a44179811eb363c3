// The only writer of transfers: what was requested, what the bank reported, and their events. Each
// method runs in the transaction of the fact that it records.
import { Injectable } from '@nestjs/common';
import { BankService } from '../../bank/bank.service.js';
import type { TransferResponse } from '../../bank-contract/transfers.js';
import type { SqlTx, Tx } from '../../platform/postgres/database.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import type { EventType } from '../../events/event-types.js';
import { EventsService } from '../../events/events.service.js';
import { referencesOf } from '../../statement/expected-payments/expected-payment.js';
import {
  insertFacts,
  referencesWrite,
  type PaymentReference,
} from '../../statement/expected-payments/expected-payments.queries.js';
import { addReferences } from '../../statement/expected-payments/recording.queries.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import type { Answer, Operation } from '../operations/operation.js';
import { invariant } from '../../platform/errors.js';
import {
  readTransferResponse,
  referencesOfTransfer,
  statusCheckPausesMs,
  type TransferReport,
} from './transfer-status.js';
import * as queries from './transfers.queries.js';

/** What the bank reported about one stored transfer. */
export interface TransferUpdate {
  transfer: queries.TransferKey;
  report: TransferReport;
}

const provenAbsent: TransferReport = {
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
    private readonly events: EventsService,
    private readonly bank: BankService,
  ) {}

  /** Records the bank's response to an operation: one report for each transfer, in their order. */
  async recordResponse(
    tx: Tx,
    operation: Operation,
    reports: readonly TransferReport[],
  ): Promise<void> {
    const transfers = await queries.listTransfersOfOperation(tx, operation);
    invariant(
      transfers.length === reports.length,
      `operation ${operation.id} has ${transfers.length} transfers, the response ${reports.length}`,
    );
    const updates = reports.map((report, position) => ({ transfer: transfers[position]!, report }));
    await this.recordReports(tx, operation.accountId, updates);
  }

  /**
   * Records the bank's responses to single transfers, which have the ids of their operations, in
   * the transaction that records their tasks. Returns the writes of their references.
   */
  async recordAnswers(
    tx: SqlTx,
    accountId: number,
    answers: readonly Answer<TransferResponse>[],
  ): Promise<Write[]> {
    const responses = new Map(
      answers.map(({ id, response }) => [id, readTransferResponse(response)]),
    );
    const reports = [...responses].map(([id, report]) => ({ id, report }));
    const updated = await this.updateTransfers(tx, accountId, reports);
    invariant(updated.length === responses.size, 'an operation of a transfer has a transfer');
    const references = updated.flatMap(({ id, expectedPaymentId }) =>
      referencesOfTransfer(responses.get(id)!).map((one) => ({ expectedPaymentId, ...one })),
    );
    return referenceWrites(accountId, references);
  }

  /**
   * Withdraws the expected payments of the items that a batch response reports as failed: they
   * moved no money, so no statement line follows.
   */
  async withdrawFailed(tx: Tx, operation: Operation): Promise<void> {
    const failed = await queries.listTransfersOfOperation(tx, operation, 'failed');
    const ids = failed.map(({ expectedPaymentId }) => expectedPaymentId);
    await insertFacts(tx, operation.accountId, { ids }, 'failed');
  }

  /** Records the debits on the statement of an operation that got no response from the bank. */
  async recordDebits(tx: Tx, operation: Operation): Promise<void> {
    const transfers = await queries.listTransfersWithDebits(tx, operation);
    const shown = transfers.filter(({ shape, isDebited }) => shape !== 'batch' || isDebited);
    await this.recordReports(
      tx,
      operation.accountId,
      shown.map(({ shape, isDebited, endToEndId, bankId, ...transfer }) => {
        // The debit completes a transfer between accounts. A debited Pix can still fail.
        const isFinished = isDebited && (shape === 'internal' || shape === 'batch');
        const state = isFinished ? 'effective' : 'accepted';
        const report = { state, bankStatus: null, errorCode: null, bankId, endToEndId, nsu: null };
        return { transfer, report } as TransferUpdate;
      }),
    );
  }

  /** Fails the batch items that were proven not executed while other items were executed. */
  async failAbsent(
    tx: Tx,
    operation: Operation,
    absentPaymentIds: readonly string[],
  ): Promise<void> {
    const transfers = await queries.listTransfersOfOperation(tx, operation);
    const absent = transfers.filter((one) => absentPaymentIds.includes(one.expectedPaymentId));
    const updates = absent.map((transfer) => ({ transfer, report: provenAbsent }));
    await this.recordReports(tx, operation.accountId, updates);
  }

  /**
   * Stores what the bank reported about transfers, and records an event for each that became final.
   */
  async recordReports(
    tx: SqlTx,
    accountId: number,
    updates: readonly TransferUpdate[],
  ): Promise<void> {
    if (updates.length === 0) return;
    const reports = updates.map(({ transfer: { id }, report }) => ({ id, report }));
    await this.updateTransfers(tx, accountId, reports);
    await addReferences(
      tx,
      accountId,
      updates.map(({ transfer: { expectedPaymentId }, report }) => ({
        expectedPaymentId,
        references: referencesOfTransfer(report),
      })),
    );
  }

  private async updateTransfers(
    tx: SqlTx,
    accountId: number,
    reports: readonly { id: string; report: TransferReport }[],
  ): Promise<queries.UpdatedTransfer[]> {
    const rows = reports.map(({ id, report: { nsu: _, ...report } }) => ({ id, ...report }));
    const checkMs = this.bank.profile.hasStatusById ? statusCheckPausesMs[0] : null;
    const updated = await queries.updateTransfers(tx, accountId, rows, checkMs);
    const finished = updated.filter(({ hasFinished }) => hasFinished);
    this.events.record(tx, accountId, finished.map(transferEvent));
    return updated;
  }

  /** Enqueues the deliveries of recorded events. Call it after the commit. */
  async enqueueDeliveries(accountId: number): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
  }
}

/** Holds ids and amounts, no names or documents. */
function transferEvent({ state, amountCents, id, ...ids }: queries.UpdatedTransfer): NewEvent {
  const { operationId, shape, endToEndId, externalId, bankId, errorCode, metadata } = ids;
  return {
    type: `transfer.${state}` as EventType,
    resource: { kind: 'transfer', id },
    data: {
      transferId: id,
      operationId,
      shape,
      amount: eventAmount(amountCents),
      endToEndId,
      externalId,
      bankId,
      ...(state === 'failed' ? { errorCode } : {}),
      ...(metadata ? { metadata } : {}),
    },
  };
}

/** Records requested transfers, in the transaction of their expected payments. */
export function requestedTransferWrites(
  accountId: number,
  transfers: readonly queries.NewTransferRow[],
): Write[] {
  const references = transfers.flatMap(({ externalId, expectedPaymentId }) =>
    referencesOf({ external_id: externalId }).map((one) => ({ expectedPaymentId, ...one })),
  );
  return [queries.transfersWrite(accountId, transfers), ...referenceWrites(accountId, references)];
}

function referenceWrites(accountId: number, references: readonly PaymentReference[]): Write[] {
  return references.length > 0 ? [referencesWrite(accountId, references)] : [];
}
