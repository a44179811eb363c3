// Creates transfers in one of three shapes, once for each IdempotencyKey, and reads their state.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  createTransfer,
  transferShape,
  type TransferDetails,
  type TransferRequest,
} from '../../contract/transfers.js';
import { AppError, unreachable } from '../../platform/errors.js';
import { canonicalJson, sha256, stringifyJson } from '../../platform/exact-json.js';
import type { SandboxAccount } from '../accounts/party.js';
import { findAccountsByNumber } from '../accounts/accounts.queries.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { getBeneficiary } from './beneficiary-account.js';
import { InternalTransfers } from './internal-transfers.service.js';
import { SentPixes } from './sent-pixes.service.js';
import { transferCreatedResponse, transferDetailsResponse } from './transfer-response.js';
import type { TransferOrder, Transfer } from './transfer.js';
import { findCreditNsu, findTransfer, insertTransfers } from './transfers.queries.js';

@Injectable()
export class Transfers {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly idempotency: Idempotency,
    private readonly internalTransfers: InternalTransfers,
    private readonly sentPixes: SentPixes,
  ) {}

  /** Returns the text of the response, the same for a repeat of the key. */
  async create(account: SandboxAccount, request: TransferRequest, key: string): Promise<string> {
    const bodyHash = sha256(canonicalJson(request));
    const identity = { accountId: account.id, operation: createTransfer.name, key, bodyHash };
    return this.database.transaction((tx) =>
      this.idempotency.runOnce(tx, identity, async () => {
        const transfer = await this.send(tx, account, request, key);
        return stringifyJson(z.encode(createTransfer.response, transferCreatedResponse(transfer)));
      }),
    );
  }

  /** Throws `not_found` for a transfer that the account neither sent nor received. */
  async get(account: SandboxAccount, identifier: string): Promise<TransferDetails> {
    const transfer = await findTransfer(this.database, account.id, identifier);
    if (!transfer) throw new AppError('not_found');
    const isPayer = transfer.accountId === account.id;
    const nsu = isPayer
      ? transfer.transactionNsu
      : await findCreditNsu(this.database, transfer, account.id);
    return transferDetailsResponse(transfer, nsu);
  }

  private async send(
    tx: SandboxTx,
    payer: SandboxAccount,
    request: TransferRequest,
    idempotencyKey: string,
  ): Promise<Transfer> {
    const shape = transferShape(request);
    const { amountCents, description } = shape;
    const order: TransferOrder = { payer, amountCents, description, idempotencyKey };
    switch (shape.shape) {
      case 'key':
        return this.sentPixes.sendByKey(tx, order, shape.endToEndId);
      case 'manual':
        return this.sentPixes.sendManually(tx, order, shape.beneficiary);
      case 'internal': {
        const { beneficiaryAccount: number, externalId } = shape;
        const accounts = await findAccountsByNumber(tx, [number]);
        const beneficiary = getBeneficiary(accounts.get(number), payer);
        const moved = await this.internalTransfers.move(tx, { ...order, beneficiary, externalId });
        await insertTransfers(tx, [moved]);
        return moved;
      }
      default:
        return unreachable(shape);
    }
  }
}
