// Creates transfers in one of three shapes, once for each IdempotencyKey, and reads their state.
import { Injectable } from '@nestjs/common';
import {
  createTransfer,
  transferShape,
  type TransferDetails,
  type TransferRequest,
} from '../../bank-contract/transfers.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, invariant, unreachable } from '../../platform/errors.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { findAccountById, findAccountByNumber } from '../accounts/accounts.queries.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import { Modes } from '../modes/modes.service.js';
import { isPartShown } from '../presets/presets.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { getBeneficiary } from './beneficiary-account.js';
import { InternalTransfers, type InternalTransferOrder } from './internal-transfers.service.js';
import { ScheduledTransfers } from './scheduled-transfers.service.js';
import { SentPixes } from './sent-pixes.service.js';
import { transferCreatedResponse, transferDetailsResponse } from './transfer-response.js';
import type { Transfer } from './transfer.js';
import { findCreditNsu, findTransfer } from './transfers.queries.js';

@Injectable()
export class Transfers {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly idempotency: Idempotency,
    private readonly internalTransfers: InternalTransfers,
    private readonly sentPixes: SentPixes,
    private readonly modes: Modes,
    private readonly scheduled: ScheduledTransfers,
  ) {
    scheduled.handle('scheduled-internal-transfer', async (tx, payer, transfer) => {
      const beneficiary = await findAccountById(tx, transfer.beneficiaryAccountId);
      invariant(beneficiary, 'a transfer between accounts has its beneficiary');
      await this.move(tx, { ...transfer, payer, beneficiary });
    });
  }

  create(request: AccountRequest<typeof createTransfer>): Promise<Reply> {
    return this.idempotency.runOnce(createTransfer, request, async (tx, key) => {
      const transfer = await this.send(tx, request.account, request.body, key);
      return responseText(createTransfer, transferCreatedResponse(transfer));
    });
  }

  /** Throws `not_found` for a transfer that the account neither sent nor received. */
  async get(account: SandboxAccount, identifier: string): Promise<TransferDetails> {
    const transfer = await findTransfer(this.database, account.id, {
      identifier,
      isByExternalId: isPartShown('transfer.byExternalId', this.modes.current.preset),
    });
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
    const { transferAt } = request;
    const order = { payer, amountCents, description, idempotencyKey, transferAt };
    switch (shape.shape) {
      case 'key':
        return this.sentPixes.sendByKey(tx, order, shape.endToEndId);
      case 'manual':
        return this.sentPixes.sendManually(tx, order, shape.beneficiary);
      case 'internal': {
        const { beneficiaryAccount: number, externalId } = shape;
        const beneficiary = getBeneficiary(await findAccountByNumber(tx, number), payer);
        const internal = { ...order, beneficiary, externalId };
        const accepted = this.internalTransfers.accept(internal);
        const kind = 'scheduled-internal-transfer';
        const scheduled = await this.scheduled.schedule(tx, kind, accepted, transferAt);
        return scheduled ?? this.move(tx, internal);
      }
      default:
        return unreachable(shape);
    }
  }

  private async move(tx: SandboxTx, order: InternalTransferOrder): Promise<Transfer> {
    const moved = await this.internalTransfers.move(tx, order);
    await tx.insert('transfer', moved);
    return moved;
  }
}
