// Changes the due date of slips. A registered slip has the due date that the bank stores; its bar
// code does not change.
import { Injectable } from '@nestjs/common';
import type { changeDueDate } from '../../bank-contract/charges.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { AppError, conflict, invalidField, ruleBroken } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { chargeStatusName } from './charge-response.js';
import { lockCharge, type ChargeRow } from './charges.queries.js';
import { OverdueCharges } from './overdue-charges.service.js';

@Injectable()
export class ChargeDueDates {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly overdue: OverdueCharges,
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /** An overdue slip is pending again. A repeat gets the same response. */
  async change(
    account: SandboxAccount,
    { params: { correlationId }, body: { dueDate } }: RouteInput<typeof changeDueDate>,
  ) {
    if (dueDate < this.clock.today()) throw invalidField('$.dueDate', 'Must not be in the past.');
    return this.database.transaction(async (tx) => {
      const charge = await lockCharge(tx, { accountId: account.id, correlationId });
      if (!charge) throw new AppError('not_found');
      if (charge.dueDate === null || charge.amountCents === null)
        throw ruleBroken('charge_without_due_date', 'A static QR code has no due date.');
      if (charge.status === 'Paid')
        throw conflict('charge_already_paid', 'The charge is already paid.');
      if (charge.status === 'Voided') throw conflict('charge_voided', 'The charge is voided.');
      const status = charge.type === 'BANKSLIP' ? 'Pending' : 'Created';
      const change = { status, dueDate, updatedAt: this.clock.now() } as const;
      await tx.update<ChargeRow>('charge', { id: charge.id }, change);
      await this.overdue.schedule(tx, { id: charge.id, dueDate });
      const name = chargeStatusName(status, this.modes.current.chargeStatus);
      return { correlationId, status: name, amount: charge.amountCents, dueDate };
    });
  }
}
