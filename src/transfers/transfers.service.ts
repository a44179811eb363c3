// One transfer: a Pix by key or by account data, or between accounts of the bank. What tells it from another is
// settled here, before the first byte leaves.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import type { BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import type { RouteInput } from '../contract/route.js';
import {
  createTransfer,
  getTransfer,
  transferShape,
  type TransferRequest,
  type TransferResponse,
  type TransferShape,
} from '../contract/transfers.js';
import { Database } from '../database.service.js';
import { expectedDebit } from '../expected-payments/expected-debit.js';
import type {
  LookedUp,
  Operation,
  OperationKind,
  Outgoing,
  RequestPreferences,
} from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { PixLookups } from './pix-lookups.service.js';
import { readTransfer } from './bank-transfer.js';
import { TransferRecords } from './transfer-records.service.js';
import {
  completeTransfer,
  counterpartyOf,
  echoesTransfer,
  ownExternalId,
} from './transfer-request.js';
import * as queries from './transfers.queries.js';

/** A transfer by key whose look-up is still to be made. */
export interface PixKeyTransfer {
  key: string;
  holderDocument?: string | null | undefined;
  /** Cents. */
  amount: bigint;
  description?: string | null | undefined;
}

@Injectable()
export class TransfersService implements OnModuleInit {
  private readonly kind: OperationKind<typeof createTransfer> = {
    name: 'create_transfer',
    route: createTransfer,
    repeat: 'keyed',
    echoes: ({ body }, answer) => echoesTransfer(body, answer),
    onSucceeded: async (tx, operation, { answer }) => {
      if (answer) await this.records.noteAnswer(tx, operation, [readTransfer(answer)]);
      else await this.records.noteDebits(tx, operation);
      await this.lookups.takeBack(tx, operation);
    },
    onRejected: async (tx, operation) => {
      await this.lookups.free(tx, operation);
      await this.records.reject(tx, operation);
    },
    lookUp: (account, operation, since) => this.lookUp(account, operation, since),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly bank: BankService,
    private readonly lookups: PixLookups,
    private readonly records: TransferRecords,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async create(
    accountId: number,
    input: RouteInput<typeof createTransfer>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const shape = transferShape(input.body);
    const outgoing = await this.outgoingOf(accountId, shape);
    const { counterparty, amountCents } = outgoing;
    const endToEndId = shape.shape === 'key' ? shape.endToEndId : null;
    const takeLookup = endToEndId && (await this.lookups.taker(accountId, endToEndId));
    const reply = await this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      naturalIdentity: null,
      joinsSameRequest: false,
      input,
      completeInput: (operationId) => ({
        ...input,
        body: completeTransfer(input.body, operationId),
      }),
      outgoing,
      preferences,
      expectedPayments: [
        expectedDebit(amountCents, [
          { kind: 'counterparty', value: counterparty },
          ...(endToEndId ? [{ kind: 'end_to_end_id' as const, value: endToEndId }] : []),
        ]),
      ],
      record: async (tx, operationId, expectedPaymentIds) => {
        if (takeLookup) await takeLookup(tx, operationId);
        const externalId = externalIdOf(shape, operationId);
        const transfer = { shape: shape.shape, amountCents, counterparty, endToEndId, externalId };
        const operation = { accountId, operationId };
        await this.records.record(tx, operation, [transfer], expectedPaymentIds);
      },
    });
    await this.records.announce(accountId);
    return reply;
  }

  /**
   * A transfer by key with the look-up that begins it. Under one key it is one transfer: asked again, it is not looked up
   * again, and its answer is that of the first.
   */
  async createByKey(
    accountId: number,
    { key, holderDocument, ...request }: PixKeyTransfer,
    idempotencyKey: string,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const intent = { accountId, idempotencyKey };
    const replay = () => this.operations.replay(this.kind, intent, request.amount);
    const known = await replay();
    if (known) return known;
    const asked = { params: {}, query: {}, idempotencyKey: null, body: { key, holderDocument } };
    const { endToEndId } = await this.lookups.lookUp(accountId, asked);
    const body = { ...request, endToEndId, initiationType: 'KEY' as const };
    try {
      return await this.create(accountId, { ...asked, idempotencyKey, body }, preferences);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_key_reused') throw error;
      // Another process has begun it meanwhile, with a look-up of its own.
      const begun = await replay();
      if (begun) return begun;
      throw error;
    }
  }

  private async outgoingOf(accountId: number, shape: TransferShape): Promise<Outgoing> {
    const { amountCents } = shape;
    // The bank makes an endToEndId at each look-up: a client that looks up again and sends again would pay twice.
    if (shape.shape === 'key') {
      const { counterparty } = await this.lookups.get(accountId, shape.endToEndId);
      return { counterparty, amountCents, isDistinguishable: false };
    }
    const counterparty = counterpartyOf(shape);
    const externalId = shape.shape === 'internal' ? shape.externalId : null;
    // An externalId that was sent before tells nothing apart.
    const isDistinguishable =
      externalId !== null &&
      !(await queries.isExternalIdUsed(this.database.prisma, accountId, [externalId], null));
    return { counterparty, amountCents, isDistinguishable };
  }

  /** A manual Pix has no id of ours that the bank could be asked by. */
  private async lookUp(
    account: BankAccount,
    operation: Operation,
    since: Date,
  ): Promise<LookedUp<TransferResponse>> {
    const request = storedRequest(operation);
    const shape = transferShape(request);
    const identifier = identifierOf(shape);
    if (identifier === null) return { found: 'not_offered' };
    const answer = await this.bank.call(getTransfer, account, { params: { identifier } });
    if (answer.outcome === 'rejection' && answer.status === 404) return { found: 'absent' };
    if (answer.outcome !== 'success' || !echoesTransfer(request, answer.value))
      return { found: 'unknown' };
    if (await this.isShared(operation, shape)) return { found: 'unknown' };
    const { status, text, value } = answer;
    // The client's id may name one that was made before and elsewhere: it says nothing of this one.
    if (shape.shape === 'internal' && new Date(value.createdAt) < since)
      return { found: 'not_offered' };
    return { found: 'accepted', status, text, answer: value, bankReference: value.id };
  }

  /** An externalId that the client gave to several transfers does not say which of them the bank knows. */
  private async isShared({ accountId, id }: Operation, shape: TransferShape): Promise<boolean> {
    if (shape.shape !== 'internal' || shape.externalId === null) return false;
    const { prisma } = this.database;
    return queries.isExternalIdUsed(prisma, accountId, [shape.externalId], id);
  }
}

function externalIdOf(shape: TransferShape, operationId: string): string | null {
  if (shape.shape !== 'internal') return null;
  return shape.externalId ?? ownExternalId(operationId, 0);
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
