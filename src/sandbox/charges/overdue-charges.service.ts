// Marks slips as overdue by the bank's clock, at the start of the first day after the due date. A
// slip sends `CHARGE_OVERDUE` once, whether the clock or a test expires it.
import { Injectable } from '@nestjs/common';
import { addDays, rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Modes } from '../modes/modes.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { chargeOverdueBody } from './charge-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { chargeStatusName } from './charge-response.js';
import { lockCharge, type ChargeRow } from './charges.queries.js';

@Injectable()
export class OverdueCharges {
  constructor(
    private readonly dueWork: DueWork,
    private readonly webhooks: Webhooks,
    private readonly modes: Modes,
    private readonly clock: BankClock,
  ) {
    dueWork.handle('charge-overdue', (tx, subject) => this.becomeOverdue(tx, BigInt(subject)));
  }

  /** A charge without due date is never overdue. */
  async schedule(tx: SandboxTx, { id, dueDate }: Pick<ChargeRow, 'id' | 'dueDate'>): Promise<void> {
    if (dueDate === null) return;
    const firstLateDay = addDays(rollToBusinessDay(dueDate), 1);
    await this.dueWork.schedule(tx, {
      kind: 'charge-overdue',
      subject: String(id),
      dueAt: statementDayStart(firstLateDay),
    });
  }

  /**
   * Marks a locked slip as expired with a due date. Sends `CHARGE_OVERDUE` unless it was already
   * expired.
   */
  async expire(
    tx: SandboxTx,
    account: SandboxAccount,
    charge: ChargeRow,
    dueDate: PlainDate,
  ): Promise<void> {
    const at = this.clock.now();
    const change = { status: 'Expired', dueDate, updatedAt: at } as const;
    await tx.update<ChargeRow>('charge', { id: charge.id }, change);
    if (charge.status === 'Expired') return;
    const status = chargeStatusName('Expired', this.modes.current.chargeStatus);
    const body = chargeOverdueBody(charge, { dueDate, status, at });
    this.webhooks.notify(tx, account, 'CHARGE_OVERDUE', { body, at });
  }

  private async becomeOverdue(tx: SandboxTx, id: bigint): Promise<void> {
    const charge = await lockCharge(tx, { id });
    if (!charge?.dueDate || ['Paid', 'Expired', 'Voided'].includes(charge.status)) return;
    // The due date was changed: a later task is about the new one.
    if (rollToBusinessDay(charge.dueDate) >= this.clock.today()) return;
    const account = await findAccountById(tx, charge.accountId);
    invariant(account, 'a charge belongs to a customer');
    await this.expire(tx, account, charge, charge.dueDate);
  }
}
