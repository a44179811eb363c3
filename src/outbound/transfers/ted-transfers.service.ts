// Creates TEDs: transfers by bank account data outside of Pix. The bank's id is the only id of a
// TED, and it is known with the response; before it, the account of the beneficiary identifies the
// debit.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { createTed } from '../../bank-contract/ted-transfers.js';
import { Database } from '../../platform/postgres/database.service.js';
import { expectedDebit, referencesOf } from '../../statement/expected-payments/expected-payment.js';
import { withoutMetadata } from '../../statement/expected-payments/metadata.js';
import type { OperationKind, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { requestedTransferWrites, TransferRecords } from './transfer-records.service.js';
import { counterpartyOfTransfer, matchesTransferRequest } from './transfer-request.js';
import { readTransferResponse } from './transfer-status.js';
import * as queries from './transfers.queries.js';

@Injectable()
export class TedTransfers implements OnModuleInit {
  private readonly kind: OperationKind<typeof createTed> = {
    name: 'create_ted',
    sendsMoney: 'transfer',
    route: createTed,
    repeat: 'keyed',
    echoes: ({ body }, response) => matchesTransferRequest(body, response),
    rowWrites: (accountId, rows: queries.NewTransferRow[]) =>
      requestedTransferWrites(accountId, rows),
    onAnswered: (tx, accountId, answers) => this.records.recordAnswers(tx, accountId, answers),
    onSucceeded: async (tx, operation, { response }) =>
      response
        ? this.records.recordResponse(tx, operation, [readTransferResponse(response)])
        : this.records.recordDebits(tx, operation),
    onRejected: queries.rejectTransfers,
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
    request: RouteInput<typeof createTed>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const { amount: amountCents, beneficiary } = input.body;
    const counterparty = counterpartyOfTransfer({ shape: 'manual', beneficiary });
    const { prisma } = this.database;
    const [effectiveFrom] = await queries.readScheduledTimes(prisma, accountId, [input.body]);
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      outgoing: { counterparty, amountCents, isDistinguishable: false },
      effectiveFrom,
      preferences,
      expectedPayments: [expectedDebit(amountCents, referencesOf({ counterparty }), effectiveFrom)],
      rowOf: (operationId, [expectedPaymentId = '']): queries.NewTransferRow => ({
        id: operationId,
        operationId,
        position: 0,
        expectedPaymentId,
        shape: 'ted',
        amountCents,
        counterparty,
        endToEndId: null,
        externalId: null,
      }),
    });
  }
}
