// Creates single transfers: a Pix by key or by account data, or a transfer between accounts of the
// bank. The ids that distinguish a transfer from similar ones are decided here, before the first
// byte is sent.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { assertAccountLive } from '../../access/accounts/account-modes.queries.js';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import type { PixLookupRequest } from '../../bank-contract/pix-lookup.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  createTransfer,
  getTransfer,
  transferShape,
  type TransferRequest,
  type TransferResponse,
  type TransferShape,
} from '../../bank-contract/transfers.js';
import { Database } from '../../platform/postgres/database.service.js';
import { expectedDebit, referencesOf } from '../../statement/expected-payments/expected-payment.js';
import type {
  LookUpResult,
  Operation,
  OperationKind,
  OutgoingMoney,
  RequestPreferences,
} from '../operations/operation.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { withoutMetadata, type Metadata } from '../../statement/expected-payments/metadata.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { parseJson } from '../../platform/json/exact-json.js';
import { parseInstant } from '../../statement/lines/statement-line.js';
import { PixLookupsService } from './pix-lookups.service.js';
import { requestedTransferWrites, TransferRecords } from './transfer-records.service.js';
import {
  completeTransfer,
  counterpartyOfTransfer,
  generateExternalId,
  matchesTransferRequest,
} from './transfer-request.js';
import { readTransferResponse } from './transfer-status.js';
import * as queries from './transfers.queries.js';

/** A transfer by Pix key, before the look-up of the key. */
export type PixKeyTransfer = Pick<PixLookupRequest, 'key' | 'holderDocument'> &
  Pick<TransferRequest, 'amount' | 'description'> & { metadata?: Metadata | null | undefined };

/** What the caller's own request was, where it is not the transfer of the contract. */
interface TransferContext {
  comparedBody?: unknown;
  /** Whether no caller has seen the holder in the look-up's response. */
  isUnseen?: boolean;
}

interface RequestedTransfer extends queries.NewTransferRow {
  /** The key look-up that it uses; null for other shapes. */
  lookup: Omit<queries.LookupClaim, 'operationId'> | null;
}

@Injectable()
export class TransfersService implements OnModuleInit {
  private readonly kind: OperationKind<typeof createTransfer> = {
    name: 'create_transfer',
    sendsMoney: 'transfer',
    statuses: { open: 'PIX_PROCESSING', failed: 'PIX_ERROR' },
    route: createTransfer,
    repeat: 'keyed',
    echoes: ({ body }, response) => matchesTransferRequest(body, response),
    rowWrites: (accountId, transfers: RequestedTransfer[]) => [
      ...lookupClaimWrites(accountId, transfers),
      ...requestedTransferWrites(accountId, transfers),
    ],
    refusalOf: async (tx, accountId, transfer: RequestedTransfer) => {
      const [claim] = claimsOf([transfer]);
      return claim ? this.lookups.refusalOf(tx, accountId, claim) : new AppError('conflict');
    },
    onAnswered: (tx, accountId, answers) => this.records.recordAnswers(tx, accountId, answers),
    onSucceeded: async (tx, operation, { response }) => {
      if (response)
        await this.records.recordResponse(tx, operation, [readTransferResponse(response)]);
      else await this.records.recordDebits(tx, operation);
      await queries.reclaimPixKeyLookup(tx, operation);
    },
    onRejected: async (tx, operation) => {
      await queries.releasePixKeyLookup(tx, operation);
      await queries.rejectTransfers(tx, operation);
    },
    assertStillSendable: (tx, operation) => this.lookups.assertUsable(tx, operation),
    lookUp: (account, operation, since) => this.lookUp(account, operation, since),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly bank: BankService,
    private readonly lookups: PixLookupsService,
    private readonly records: TransferRecords,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async create(
    accountId: number,
    request: RouteInput<typeof createTransfer>,
    preferences: RequestPreferences,
    { comparedBody, isUnseen = false }: TransferContext = {},
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const shape = transferShape(input.body);
    const outgoing = await this.outgoingOf(accountId, shape);
    const { prisma } = this.database;
    const [effectiveFrom] = await queries.readScheduledTimes(prisma, accountId, [input.body]);
    const { counterparty, amountCents } = outgoing;
    const endToEndId = shape.shape === 'key' ? shape.endToEndId : null;
    const lookup = endToEndId && (await this.lookups.prepareClaim(accountId, endToEndId));
    const installation = await this.operations.installationOf(accountId);
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      comparedBody,
      completeInput: (operationId) => ({
        ...input,
        body: completeTransfer(input.body, operationId, installation),
      }),
      outgoing,
      effectiveFrom,
      preferences,
      expectedPayments: [
        expectedDebit(
          amountCents,
          referencesOf({
            counterparty: counterparty === endToEndId ? null : counterparty,
            end_to_end_id: endToEndId,
          }),
          effectiveFrom,
        ),
      ],
      // A single transfer has the operation's id, so that the caller can read it with the id in a
      // 202 response.
      rowOf: (operationId, [expectedPaymentId = '']): RequestedTransfer => ({
        id: operationId,
        operationId,
        position: 0,
        expectedPaymentId,
        shape: shape.shape,
        amountCents,
        counterparty,
        endToEndId,
        lookup: lookup ? { ...lookup, isUnseen } : null,
        externalId: externalIdOf(shape, operationId, installation),
      }),
    });
  }

  /**
   * Looks a Pix key up and creates the transfer to it. An idempotency key has one transfer. A
   * repeat makes no second look-up and gets the first response. It must equal the first request in
   * `comparedBody`, by default the whole transfer.
   */
  async createByKey(
    accountId: number,
    transfer: PixKeyTransfer,
    idempotencyKey: string,
    preferences: RequestPreferences,
    comparedBody: unknown = transfer,
  ): Promise<Reply> {
    const { key, holderDocument, ...request } = transfer;
    const identity = { accountId, idempotencyKey };
    const replayed = await this.operations.replay(this.kind, identity, comparedBody);
    if (replayed) return replayed;
    // A key is not looked up for a transfer that would be refused.
    await assertAccountLive(this.database.prisma, accountId);
    const lookupInput = {
      params: {},
      query: {},
      idempotencyKey: null,
      body: { key, holderDocument },
    };
    const { endToEndId } = await this.lookups.lookUp(accountId, lookupInput);
    const body = { ...request, endToEndId, initiationType: 'KEY' as const };
    const input = { ...lookupInput, idempotencyKey, body };
    return this.create(accountId, input, preferences, { comparedBody, isUnseen: true });
  }

  private async outgoingOf(accountId: number, shape: TransferShape): Promise<OutgoingMoney> {
    const { amountCents } = shape;
    // Each look-up returns a new endToEndId, so that id does not distinguish two transfers. A
    // client that looks the key up again and resends would pay twice.
    if (shape.shape === 'key') {
      const lookup = await this.lookups.find(accountId, shape.endToEndId);
      // The key may have been looked up without the service: its account is then not known.
      const counterparty = lookup?.counterparty ?? shape.endToEndId;
      return { counterparty, amountCents, isDistinguishable: false };
    }
    const counterparty = counterpartyOfTransfer(shape);
    const externalId = shape.shape === 'internal' ? shape.externalId : null;
    // An externalId that an earlier transfer has does not distinguish this transfer.
    const isDistinguishable =
      externalId !== null &&
      !(await queries.isExternalIdUsed(this.database.prisma, accountId, [externalId]));
    return { counterparty, amountCents, isDistinguishable };
  }

  /** Looks a transfer up at the bank. A manual Pix has no id of ours for a look-up. */
  private async lookUp(
    account: BankAccount,
    operation: Operation,
    since: Date,
  ): Promise<LookUpResult<TransferResponse>> {
    const request = storedRequest(operation);
    const shape = transferShape(request);
    const identifier = identifierOf(shape);
    if (identifier === null) return { outcome: 'not_offered' };
    const response = await this.bank.call(getTransfer, account, { params: { identifier } });
    if (response.outcome === 'rejection' && response.status === 404) return { outcome: 'absent' };
    if (response.outcome !== 'success' || !matchesTransferRequest(request, response.value))
      return { outcome: 'unknown' };
    if (await this.isExternalIdShared(operation, shape)) return { outcome: 'unknown' };
    const { status, text, value } = response;
    // The client may have used the externalId earlier, without the service: such a transfer is no
    // evidence about this transfer.
    const createdAt = value.createdAt == null ? null : parseInstant(value.createdAt);
    if (shape.shape === 'internal' && (createdAt === null || createdAt < since))
      return { outcome: 'not_offered' };
    return { outcome: 'accepted', status, text, response: value, bankReference: value.id };
  }

  /**
   * Whether several transfers have this externalId. If so, a look-up does not show which of them
   * the bank knows.
   */
  private async isExternalIdShared(
    { accountId, id }: Operation,
    shape: TransferShape,
  ): Promise<boolean> {
    if (shape.shape !== 'internal' || shape.externalId === null) return false;
    const { prisma } = this.database;
    return queries.isExternalIdUsed(prisma, accountId, [shape.externalId], id);
  }
}

function externalIdOf(
  shape: TransferShape,
  operationId: string,
  installation: string,
): string | null {
  if (shape.shape !== 'internal') return null;
  return shape.externalId ?? generateExternalId(operationId, 0, installation);
}

function identifierOf(shape: TransferShape): string | null {
  switch (shape.shape) {
    case 'key':
      return shape.endToEndId;
    case 'internal':
      return shape.externalId;
    case 'manual':
      return null;
  }
}

function storedRequest({ requestBody }: Operation): TransferRequest {
  return z.decode(createTransfer.body, parseJson(requestBody ?? 'null') as never);
}

function claimsOf(transfers: readonly RequestedTransfer[]): queries.LookupClaim[] {
  return transfers.flatMap(({ operationId, lookup }) =>
    lookup ? [{ operationId, ...lookup }] : [],
  );
}

/** Of several concurrent claims of one look-up, exactly one is complete. */
function lookupClaimWrites(accountId: number, transfers: readonly RequestedTransfer[]): Write[] {
  const claims = claimsOf(transfers);
  return claims.length > 0 ? [queries.lookupClaimsWrite(accountId, claims)] : [];
}
