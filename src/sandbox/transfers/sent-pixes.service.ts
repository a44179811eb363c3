// Accepts a Pix that an account sends: the money leaves the account, or is held, in the transaction of the answer.
// What becomes of it is the business of sent-pix-life.service.ts.
import { Injectable } from '@nestjs/common';
import { parseTaxId } from '../../brazil/tax-id.js';
import type { TransferShape } from '../../contract/transfers.js';
import { AppError, invariant } from '../../platform/errors.js';
import { findAccountOfParty } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { lockLookup } from '../pix/dict.queries.js';
import { EndToEndIds } from '../pix/end-to-end-ids.service.js';
import { bank, outsideBank, type Party, partyOfAccount } from '../accounts/party.js';
import { Random } from '../random.service.js';
import type { Tx } from '../sandbox-database.service.js';
import { SentPixLife } from './sent-pix-life.service.js';
import { pixFailures, type Order, type Transfer } from './transfer.js';
import { isSent } from './transfers.queries.js';

type ManualBeneficiary = Extract<TransferShape, { shape: 'manual' }>['beneficiary'];

/** Whom a Pix goes to, and under which id. */
interface Destination {
  type: 'PIX_KEY' | 'PIX_MANUAL';
  endToEndId: string;
  beneficiary: Party;
}

@Injectable()
export class SentPixes {
  constructor(
    private readonly life: SentPixLife,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly ids: EndToEndIds,
    private readonly faults: Faults,
  ) {}

  /** Throws `rule_broken` with the reason `look_up_not_found`, `look_up_expired` or `look_up_used`. */
  async sendByKey(tx: Tx, order: Order, endToEndId: string): Promise<Transfer> {
    // Locked before the account: of two sends that begin with one look-up the other waits here.
    const lookup = await lockLookup(tx, order.payer.id, endToEndId);
    if (!lookup)
      throw new AppError('rule_broken', {
        public: 'No look-up of this account returned that endToEndId.',
        reason: 'look_up_not_found',
      });
    if (await isSent(tx, endToEndId))
      throw new AppError('rule_broken', {
        public: 'The look-up began another transfer already.',
        reason: 'look_up_used',
      });
    if (lookup.expiresAt <= this.clock.now())
      throw new AppError('rule_broken', {
        public: 'The look-up is too old; look the key up again.',
        reason: 'look_up_expired',
      });
    const { beneficiary } = lookup;
    return this.accept(tx, order, { type: 'PIX_KEY', endToEndId, beneficiary });
  }

  async sendManually(tx: Tx, order: Order, asked: ManualBeneficiary): Promise<Transfer> {
    const endToEndId = this.ids.next('E', bank.ispb);
    const beneficiary = manualParty(asked);
    return this.accept(tx, order, { type: 'PIX_MANUAL', endToEndId, beneficiary });
  }

  private async accept(tx: Tx, order: Order, destination: Destination): Promise<Transfer> {
    const { payer, amountCents, description, idempotencyKey } = order;
    const isHere = destination.beneficiary.participant.ispb === bank.ispb;
    const account = await findAccountOfParty(tx, destination.beneficiary);
    const now = this.clock.now();
    const accepted = await this.life.begin(tx, payer, {
      id: this.random.uuid(),
      accountId: payer.id,
      status: 'PIX_PROCESSING',
      amountCents,
      description,
      externalId: null,
      idempotencyKey,
      payer: partyOfAccount(payer),
      ...destination,
      beneficiaryAccountId: account?.id ?? null,
      transactionNsu: null,
      isBlocked: false,
      error: isHere && !account ? pixFailures.accountUnknown : null,
      createdAt: now,
      updatedAt: now,
    });
    // Taken last: a request that is refused must not use the fault up.
    const fault = this.faults.take(['transfers'], 'async-error');
    const transfer = fault ? { ...accepted, error: pixFailures.accountBlocked } : accepted;
    await this.life.keep(tx, transfer, fault?.delayMs ?? 0);
    return transfer;
  }
}

function manualParty({ number, branch, type, participantIspb, holder }: ManualBeneficiary): Party {
  const taxId = parseTaxId(holder.document);
  invariant(taxId, 'a request names its beneficiary by a CPF or CNPJ');
  const known = [bank, outsideBank].find(({ ispb }) => ispb === participantIspb);
  return {
    number,
    branch,
    type,
    holder: { document: taxId.number, name: holder.name, type: taxId.kind },
    participant: { name: known?.name ?? `Instituição ${participantIspb}`, ispb: participantIspb },
  };
}
