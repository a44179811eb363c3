// Voids charges. What was sent before the payer's bank knew of it may still come: it is credited all the same.
import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { chargeVoidedBody } from './charge-voided-body.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { additionalInfoOf, reportStatus, type StatusWords } from './charge-answer.js';
import { slipOf } from './charge-parts.js';
import { lockCharge, updateCharge, type ChargeRow } from './charges.queries.js';

@Injectable()
export class ChargeVoids {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly webhooks: Webhooks,
    private readonly modes: Modes,
    private readonly clock: BankClock,
  ) {}

  /** A repeat gets the same answer; a slip that is paid is `conflict`. */
  async void(account: BankAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await lockCharge(tx, account.id, correlationId);
      if (!charge) throw new AppError('not_found');
      const words = this.modes.current.chargeStatus;
      if (charge.status === 'Voided') return answerOf(charge, words);
      if (charge.type !== 'PIX_STATIC' && charge.status === 'Paid')
        throw new AppError('conflict', {
          public: 'The charge is paid already.',
          reason: 'charge_already_paid',
        });
      const at = this.clock.now();
      const voided: ChargeRow = { ...charge, status: 'Voided', updatedAt: at };
      await updateCharge(tx, charge.id, { status: voided.status, dueDate: charge.dueDate, at });
      const body = chargeVoidedBody({
        ...voided,
        status: reportStatus(voided.status, words),
        account,
        slip: slipOf(voided),
        additionalInfo: additionalInfoOf(voided),
      });
      await this.webhooks.notify(tx, account, 'CHARGE_VOIDED', { body, at });
      await this.webhooks.notify(tx, account, 'CHARGE_CANCELLED', { body, at });
      return answerOf(voided, words);
    });
  }
}

/** The same for every repeat, whatever was paid in between. */
function answerOf({ correlationId, status, amountCents, dueDate }: ChargeRow, words: StatusWords) {
  return {
    correlationId,
    status: reportStatus(status, words),
    ...(amountCents === null ? {} : { amount: amountCents }),
    ...(dueDate === null ? {} : { dueDate }),
  };
}
