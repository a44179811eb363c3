// The contract's routes that pay and expire a charge, for tests of integrations.
import { Injectable } from '@nestjs/common';
import { addBusinessDays } from '../../brazil/calendar.js';
import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, type Tx } from '../sandbox-database.service.js';
import { ChargeCredits } from './charge-credits.service.js';
import { askedAmount } from './charge-parts.js';
import { reportStatus } from './charge-answer.js';
import { lockCharge, sumPaid, type ChargeRow } from './charges.queries.js';
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

  /** Pays what is owed today: by Pix where there is a QR code. A slip is paid once (409), late, void or not. */
  async pay(account: BankAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lockUnpaid(tx, account, correlationId);
      const amountCents =
        askedAmount(charge, this.clock.today()) ?? this.modes.current.freeAmountPayment;
      const { status, line } =
        charge.type === 'BANKSLIP'
          ? await this.credits.creditSlip(tx, account, charge, amountCents)
          : await this.credits.creditPix(tx, account, charge, { amountCents, payer: {} });
      return {
        correlationId,
        status: reportStatus(status, this.modes.current.chargeStatus),
        amount: amountCents,
        nsu: line.nsu,
        endToEndId: line.endToEndId ?? null,
        createdAt: line.createdAt.toISOString(),
      };
    });
  }

  /**
   * Moves the due date to the last business day before today: on any later one, a slip due on a weekend could still be
   * paid in time. It can be paid all the same, as a real slip can.
   */
  async expire(account: BankAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lockUnpaid(tx, account, correlationId);
      if (charge.dueDate === null || charge.amountCents === null)
        throw new AppError('rule_broken', {
          public: 'A static QR code has no due date.',
          reason: 'charge_without_due_date',
        });
      if (charge.status === 'Voided')
        throw new AppError('conflict', {
          public: 'The charge is void.',
          reason: 'charge_voided',
        });
      const dueDate = addBusinessDays(this.clock.today(), -1);
      if (charge.status !== 'Expired' || charge.dueDate !== dueDate)
        await this.overdue.expire(tx, account, charge, dueDate);
      const status = reportStatus('Expired', this.modes.current.chargeStatus);
      return { correlationId, status, amount: charge.amountCents, dueDate };
    });
  }

  private async lockUnpaid(
    tx: Tx,
    account: BankAccount,
    correlationId: string,
  ): Promise<ChargeRow> {
    const charge = await lockCharge(tx, account.id, correlationId);
    if (!charge) throw new AppError('not_found');
    if (charge.type !== 'PIX_STATIC' && (await this.isPaid(tx, charge)))
      throw new AppError('conflict', {
        public: 'The charge is paid already.',
        reason: 'charge_already_paid',
      });
    return charge;
  }

  /** A void slip keeps its status when it is paid: only its credits tell. */
  private async isPaid(tx: Tx, charge: ChargeRow): Promise<boolean> {
    if (charge.status !== 'Voided') return charge.status === 'Paid';
    return (await sumPaid(tx, charge)) > 0n;
  }
}
