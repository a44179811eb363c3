// Voids charges. A payment that arrives after the void is still credited: the payer's bank may not
// know of the void yet.
import { Injectable } from '@nestjs/common';
import { AppError, conflict } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { chargeVoidedBody } from './charge-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { chargeStatusName, type ChargeStatusNames } from './charge-response.js';
import { lockCharge, type ChargeRow } from './charges.queries.js';

@Injectable()
export class ChargeVoids {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly webhooks: Webhooks,
    private readonly modes: Modes,
    private readonly clock: BankClock,
  ) {}

  /** A repeat gets the same response. A paid slip throws `conflict`. */
  async void(account: SandboxAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await lockCharge(tx, { accountId: account.id, correlationId });
      if (!charge) throw new AppError('not_found');
      const statusNames = this.modes.current.chargeStatus;
      if (charge.status === 'Voided') return voidResponse(charge, statusNames);
      if (charge.type !== 'PIX_STATIC' && charge.status === 'Paid')
        throw conflict('charge_already_paid', 'The charge is already paid.');
      const at = this.clock.now();
      const change = { status: 'Voided', updatedAt: at } as const;
      await tx.update<ChargeRow>('charge', { id: charge.id }, change);
      const voided: ChargeRow = { ...charge, ...change };
      const status = chargeStatusName(voided.status, statusNames);
      const body = chargeVoidedBody(voided, account, status);
      this.webhooks.notify(tx, account, 'CHARGE_VOIDED', { body, at });
      this.webhooks.notify(tx, account, 'CHARGE_CANCELLED', { body, at });
      return voidResponse(voided, statusNames);
    });
  }
}

/** Every repeat gets the same response, also after payments. */
function voidResponse(
  { correlationId, status, amountCents, dueDate }: ChargeRow,
  statusNames: ChargeStatusNames,
) {
  return {
    correlationId,
    status: chargeStatusName(status, statusNames),
    ...(amountCents === null ? {} : { amount: amountCents }),
    ...(dueDate === null ? {} : { dueDate }),
  };
}
