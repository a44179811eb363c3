// Accepts a Pix that an account sends. The amount is debited or blocked in the database transaction
// of the response. sent-pix-lifecycle.service.ts does the later steps.
import { Injectable } from '@nestjs/common';
import { parseTaxId } from '../../brazil/tax-id.js';
import type { TransferShape } from '../../bank-contract/transfers.js';
import { invalidField, invariant, ruleBroken } from '../../platform/errors.js';
import { findAccountOfParty } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { Modes } from '../modes/modes.service.js';
import type { DictLookup } from '../pix/lookup-response.js';
import { EndToEndIds } from '../pix/pix-credits.service.js';
import {
  bank,
  outsideBank,
  type Party,
  partyOfAccount,
  type SandboxAccount,
} from '../accounts/party.js';
import { Random } from '../random.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { failureOfAccount, pixFailure, type PixFailureCode } from '../faults/pix-failures.js';
import { ScheduledTransfers } from './scheduled-transfers.service.js';
import { habitsOfPix, SentPixLifecycle, type PixFault } from './sent-pix-lifecycle.service.js';
import type { TransferOrder, Transfer } from './transfer.js';

type ManualBeneficiary = Extract<TransferShape, { shape: 'manual' }>['beneficiary'];

/** Why a Pix fails by a fault; null where it does not fail. */
const failureOf: Record<PixFault['kind'], PixFailureCode | null> = {
  'async-error': 'AC06',
  'undone-silently': 'ED05',
  'status-stuck': null,
  'debited-twice': null,
  'new-end-to-end-id': null,
};

/** The beneficiary of a Pix, and the id of the Pix. */
interface Destination {
  type: 'PIX_KEY' | 'PIX_MANUAL';
  endToEndId: string;
  beneficiary: Party;
}

@Injectable()
export class SentPixes {
  constructor(
    private readonly lifecycle: SentPixLifecycle,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly ids: EndToEndIds,
    private readonly faults: Faults,
    private readonly modes: Modes,
    private readonly scheduled: ScheduledTransfers,
  ) {
    scheduled.handle('scheduled-pix', (tx, payer, pix) => this.begin(tx, payer, pix));
  }

  /** Throws `rule_broken`: `look_up_not_found`, `look_up_expired` or `look_up_used`. */
  async sendByKey(tx: SandboxTx, order: TransferOrder, endToEndId: string): Promise<Transfer> {
    // Locked before the account: of two transfers with one look-up, the second waits here.
    const isOwn = this.modes.current.lookupAccount === 'own';
    const key = isOwn ? { endToEndId, accountId: order.payer.id } : { endToEndId };
    const lookup = await tx.lockRow<DictLookup>('dict_lookup', key);
    if (!lookup)
      throw ruleBroken('look_up_not_found', 'No look-up of this account returned this endToEndId.');
    if (await tx.findRow<Transfer>('transfer', { endToEndId }))
      throw ruleBroken('look_up_used', 'The endToEndId was already used by another transfer.');
    if (lookup.expiresAt <= this.clock.now())
      throw ruleBroken('look_up_expired', 'The look-up has expired; look up the key again.');
    const { beneficiary } = lookup;
    return this.accept(tx, order, { type: 'PIX_KEY', endToEndId, beneficiary });
  }

  async sendManually(
    tx: SandboxTx,
    order: TransferOrder,
    requested: ManualBeneficiary,
  ): Promise<Transfer> {
    const beneficiary = manualParty(requested);
    if (beneficiary.holder.type !== requested.holder.type)
      throw invalidField('$.beneficiary.holder.type', 'Must be the type of the document.');
    const endToEndId = this.ids.next('E', bank.ispb);
    return this.accept(tx, order, { type: 'PIX_MANUAL', endToEndId, beneficiary });
  }

  private async accept(
    tx: SandboxTx,
    order: TransferOrder,
    destination: Destination,
  ): Promise<Transfer> {
    const { payer, amountCents, description, idempotencyKey, transferAt } = order;
    const isAtThisBank = destination.beneficiary.participant.ispb === bank.ispb;
    const account = await findAccountOfParty(tx, destination.beneficiary);
    const now = this.clock.now();
    const pix: Transfer = {
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
      error:
        failureOfAccount(destination.beneficiary.number) ??
        (isAtThisBank && !account ? pixFailure('AC03') : null),
      createdAt: now,
      updatedAt: now,
    };
    const scheduled = await this.scheduled.schedule(tx, 'scheduled-pix', pix, transferAt);
    return scheduled ?? this.begin(tx, payer, pix);
  }

  private async begin(tx: SandboxTx, payer: SandboxAccount, pix: Transfer): Promise<Transfer> {
    const accepted = await this.lifecycle.begin(tx, payer, pix);
    // Fires last, so that a refused request does not use up the fault.
    const fault = this.faults.fire(['transfers'], 'async-error', ...habitsOfPix);
    const code = fault && (fault.code ?? failureOf[fault.kind]);
    const transfer = code ? { ...accepted, error: pixFailure(code) } : accepted;
    await this.lifecycle.store(tx, payer, transfer, fault);
    return transfer;
  }
}

export function manualParty({
  number,
  branch,
  type,
  participantIspb,
  holder,
}: ManualBeneficiary): Party {
  const taxId = parseTaxId(holder.document);
  invariant(taxId, 'a request has the CPF or CNPJ of its beneficiary');
  const known = [bank, outsideBank].find(({ ispb }) => ispb === participantIspb);
  return {
    number,
    branch,
    type,
    holder: { document: taxId.number, name: holder.name, type: taxId.kind },
    participant: { name: known?.name ?? `Instituição ${participantIspb}`, ispb: participantIspb },
  };
}
