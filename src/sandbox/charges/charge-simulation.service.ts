// The contract's routes that simulate the payment and the expiry of a charge.
import { Injectable } from '@nestjs/common';
import { addBusinessDays } from '../../brazil/calendar.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { ChargeCredits } from './charge-credits.service.js';
import { amountDueOn } from './charge-parts.js';
import { chargeStatusName } from './charge-response.js';
import { lockCharge, sumChargePayments, type ChargeRow } from './charges.queries.js';
import { OverdueCharges } from './overdue-charges.service.js';

@Injectable()
export class ChargeSimulation {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly credits: ChargeCredits,
    private readonly overdue: OverdueCharges,
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /**
   * Pays the amount due today, by Pix if there is a QR code. Throws `conflict` when the slip is
   * paid. Overdue and voided slips can be paid.
   */
  async pay(account: SandboxAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lockUnpaid(tx, account, correlationId);
      const amountCents =
        amountDueOn(charge, this.clock.today()) ?? this.modes.current.freeAmountPayment;
      const { status, line } =
        charge.type === 'BANKSLIP'
          ? await this.credits.creditSlip(tx, account, charge, amountCents)
          : await this.credits.creditPix(tx, account, charge, { amountCents, payer: {} });
      return {
        correlationId,
        status: chargeStatusName(status, this.modes.current.chargeStatus),
        amount: amountCents,
        nsu: line.nsu,
        endToEndId: line.endToEndId ?? null,
        createdAt: line.createdAt.toISOString(),
      };
    });
  }

  /**
   * Moves the due date to the last business day before today. A due date on a weekend would move to
   * the next business day. An expired slip can still be paid, as at a real bank.
   */
  async expire(account: SandboxAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lockUnpaid(tx, account, correlationId);
      if (charge.dueDate === null || charge.amountCents === null)
        throw ruleBroken(
          'charge_without_due_date',
          'A static QR code has no due date and cannot expire.',
        );
      if (charge.status === 'Voided') throw conflict('charge_voided', 'The charge is voided.');
      const dueDate = addBusinessDays(this.clock.today(), -1);
      if (charge.status !== 'Expired' || charge.dueDate !== dueDate)
        await this.overdue.expire(tx, account, charge, dueDate);
      const status = chargeStatusName('Expired', this.modes.current.chargeStatus);
      return { correlationId, status, amount: charge.amountCents, dueDate };
    });
  }

  private async lockUnpaid(
    tx: SandboxTx,
    account: SandboxAccount,
    correlationId: string,
  ): Promise<ChargeRow> {
    const charge = await lockCharge(tx, { accountId: account.id, correlationId });
    if (!charge) throw new AppError('not_found');
    if (charge.type !== 'PIX_STATIC' && (await this.isPaid(tx, charge)))
      throw conflict('charge_already_paid', 'The charge is already paid.');
    return charge;
  }

  /** The status of a voided slip does not change when it is paid, so its payments are summed. */
  private async isPaid(tx: SandboxTx, charge: ChargeRow): Promise<boolean> {
    if (charge.status !== 'Voided') return charge.status === 'Paid';
    return (await sumChargePayments(tx, charge)) > 0n;
  }
}
