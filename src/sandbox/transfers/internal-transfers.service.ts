// Moves money between two accounts of the bank: one movement with both legs, effective at once,
// with a webhook for each account.
import { Injectable } from '@nestjs/common';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { type SandboxAccount, partyOfAccount } from '../accounts/party.js';
import { Random } from '../random.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { transferBody, type TransferEvent } from './transfer-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import type { TransferOrder, Transfer } from './transfer.js';

export interface InternalTransferOrder extends TransferOrder {
  beneficiary: SandboxAccount;
  externalId: string | null;
  /** Of a transfer that was scheduled. */
  id?: string;
}

@Injectable()
export class InternalTransfers {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly random: Random,
    private readonly clock: BankClock,
  ) {}

  /**
   * Posts the movement and writes the webhook deliveries; the caller stores the transfer. Throws
   * `rule_broken` before it writes anything when the payer has too little or the beneficiary's
   * balance would exceed the limit.
   */
  async move(tx: SandboxTx, order: InternalTransferOrder): Promise<Transfer> {
    const { payer, beneficiary, amountCents, description, externalId, idempotencyKey } = order;
    const accepted = this.accept(order);
    const { id, type, status, ...parties } = accepted;
    const proof = {
      ...{ id, externalId, status, type, amount: wireReais(amountCents), description },
      ...{ payer: parties.payer, beneficiary: parties.beneficiary },
    };
    const [debit] = await this.ledger.post(tx, {
      idempotencyKey,
      legs: [
        {
          account: payer,
          changeCents: -amountCents,
          line: {
            typeName: 'DEBIT_TRANSFER_INTERNAL',
            notes: description ?? `Transferência para ${beneficiary.holderName}`,
            externalId,
            proof,
          },
        },
        {
          account: beneficiary,
          changeCents: amountCents,
          line: {
            typeName: 'CREDIT_TRANSFER_INTERNAL',
            notes: description ?? `Transferência de ${payer.holderName}`,
            externalId,
            proof,
          },
        },
      ],
    });
    const { nsu: transactionNsu, createdAt } = debit;
    const times = { createdAt, updatedAt: createdAt };
    const transfer: Transfer = { ...accepted, ...times, transactionNsu };
    this.notify(tx, payer, 'TRANSFER_INTERNAL_DEBITED', transfer);
    this.notify(tx, beneficiary, 'TRANSFER_INTERNAL_CREDITED', transfer);
    return transfer;
  }

  /** The transfer before its money moves. */
  accept({ payer, beneficiary, id, ...order }: InternalTransferOrder): Transfer {
    const { amountCents, description, externalId, idempotencyKey } = order;
    const now = this.clock.now();
    return {
      id: id ?? this.random.uuid(),
      accountId: payer.id,
      type: 'INTERNAL',
      status: 'EFFECTIVE',
      ...{ amountCents, description, externalId, endToEndId: null, idempotencyKey },
      payer: partyOfAccount(payer),
      beneficiary: partyOfAccount(beneficiary),
      beneficiaryAccountId: beneficiary.id,
      ...{ transactionNsu: null, isBlocked: false, error: null, createdAt: now, updatedAt: now },
    };
  }

  private notify(
    tx: SandboxTx,
    account: SandboxAccount,
    eventType: TransferEvent,
    transfer: Transfer,
  ): void {
    const body = transferBody(transfer, eventType);
    this.webhooks.notify(tx, account, eventType, { body, at: transfer.createdAt });
  }
}
