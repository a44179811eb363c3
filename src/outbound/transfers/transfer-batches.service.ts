// Batches of transfers between accounts of the bank: one operation, and one transfer for each item.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { createTransferBatch, type BatchRequest } from '../../bank-contract/batch-transfers.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { normalizeAccountNumber } from '../../statement/expected-payments/counterparty.js';
import { expectedDebit, referencesOf } from '../../statement/expected-payments/expected-payment.js';
import { splitMetadata } from '../../statement/expected-payments/metadata.js';
import { writeTogether } from '../../platform/postgres/joined-writes.queries.js';
import type { OperationKind, OutgoingMoney, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import { sameExternalIdsLock, takeLocks } from '../operations/possible-duplicates.queries.js';
import { mayRepeat, sameRequestForMs } from '../operations/possible-duplicates.service.js';
import type { Payee } from '../payment-controls/payment-controls.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { parseJson } from '../../platform/json/exact-json.js';
import {
  batchCounterparty,
  batchItemId,
  completeBatch,
  matchesBatchRequest,
} from './batch-request.js';
import { readBatchElement } from './transfer-status.js';
import { requestedTransferWrites, TransferRecords } from './transfer-records.service.js';
import * as queries from './transfers.queries.js';

@Injectable()
export class TransferBatches implements OnModuleInit {
  private readonly kind: OperationKind<typeof createTransferBatch> = {
    name: 'create_transfer_batch',
    sendsMoney: 'transfer',
    payeesOf: ({ requestBody }) => payeesOf(readStoredBatch(requestBody)),
    route: createTransferBatch,
    repeat: 'keyed',
    echoes: ({ body }, response) => matchesBatchRequest(body, response),
    pendingItems: ({ id, requestBody }) =>
      (parseJson(requestBody ?? '[]') as BatchRequest).map((item, position) => ({
        ...item,
        id: batchItemId(id, position),
        recipient: { number: item.beneficiaryAccountNumber },
      })),
    onSucceeded: async (tx, operation, { response, absentExpectedPaymentIds = [] }) => {
      if (!response) {
        await this.records.recordDebits(tx, operation);
        return this.records.failAbsent(tx, operation, absentExpectedPaymentIds);
      }
      await this.records.recordResponse(tx, operation, response.map(readBatchElement));
      await this.records.withdrawFailed(tx, operation);
    },
    onRejected: queries.rejectTransfers,
    onReopened: async (tx, operation) => {
      await queries.reopenTransfers(tx, operation);
      await this.records.recordDebits(tx, operation);
    },
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly records: TransferRecords,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async create(
    accountId: number,
    request: RouteInput<typeof createTransferBatch>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { items, metadata } = splitItems(request.body);
    const input = { ...request, body: items };
    const installation = await this.operations.installationOf(accountId);
    const times = await queries.readScheduledTimes(this.database.prisma, accountId, items);
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      completeInput: (operationId) => ({
        ...input,
        body: completeBatch(items, operationId, installation),
      }),
      outgoing: await this.outgoingOf(accountId, items),
      effectiveFrom: latestOf(times),
      preferences,
      expectedPayments: items.map(({ amount, beneficiaryAccountNumber: account }, position) =>
        expectedDebit(
          amount,
          referencesOf({ counterparty: normalizeAccountNumber(account) }),
          times[position],
        ),
      ),
      record: async (tx, operationId, expectedPaymentIds) => {
        if (!preferences.allowDuplicate) await assertNoItemRepeated(tx, accountId, items);
        const transfers = completeBatch(items, operationId, installation).map((item, position) => ({
          ...newTransfer(item),
          ...{ id: batchItemId(operationId, position), operationId, position },
          expectedPaymentId: expectedPaymentIds[position] ?? '',
        }));
        await writeTogether(tx, requestedTransferWrites(accountId, transfers));
      },
    });
  }

  private async outgoingOf(accountId: number, items: BatchRequest): Promise<OutgoingMoney> {
    const externalIds = items.flatMap(({ externalId }) => externalId ?? []);
    // The contract allows items with one externalId: such items are not distinguished by it.
    const isDistinguishable =
      new Set(externalIds).size === items.length &&
      !(await queries.isExternalIdUsed(this.database.prisma, accountId, externalIds));
    return {
      counterparty: batchCounterparty(items),
      amountCents: items.reduce((sum, { amount }) => sum + amount, 0n),
      isDistinguishable,
      payees: payeesOf(items),
    };
  }
}

/** Throws `possible_duplicate` when another batch sends one of the items, with its externalId. */
async function assertNoItemRepeated(tx: Tx, accountId: number, items: BatchRequest): Promise<void> {
  const sent = items.filter(({ externalId }) => externalId != null).map(newTransfer);
  if (sent.length === 0) return;
  const locks = sent.map(({ externalId }) => `${accountId} ${externalId}`);
  await takeLocks(tx, [sameExternalIdsLock(locks)]);
  const repeated = await queries.findRepeatedItem(tx, accountId, sent, sameRequestForMs);
  if (repeated) throw mayRepeat(repeated.id);
}

function latestOf(times: readonly (Date | null)[]): Date | null {
  const scheduled = times.flatMap((time) => time?.getTime() ?? []);
  return scheduled.length === 0 ? null : new Date(Math.max(...scheduled));
}

function splitItems(items: BatchRequest) {
  const split = items.map(splitMetadata);
  return {
    items: split.map(({ body }) => body),
    metadata: split.map(({ metadata }) => metadata),
  };
}

function payeesOf(items: BatchRequest): Payee[] {
  return items.map(({ amount, beneficiaryAccountNumber }) => ({
    counterparty: normalizeAccountNumber(beneficiaryAccountNumber),
    amountCents: amount,
  }));
}

function readStoredBatch(requestBody: string | null): BatchRequest {
  return z.decode(createTransferBatch.body, parseJson(requestBody ?? '[]') as never);
}

function newTransfer(item: BatchRequest[number]): queries.NewTransfer {
  return {
    shape: 'batch',
    amountCents: item.amount,
    counterparty: normalizeAccountNumber(item.beneficiaryAccountNumber),
    endToEndId: null,
    externalId: item.externalId ?? null,
  };
}
