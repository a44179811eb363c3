// The contract's routes that pay and expire a charge, for tests of integrations.
import { Injectable } from '@nestjs/common';
import { addDays } from '../../brazil/calendar.js';
import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/bank-account.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, type Tx } from '../sandbox-database.service.js';
import { chargeOverdueBody } from '../webhooks/webhook-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { ChargeCredits } from './charge-credits.service.js';
import { askedAmount } from './charge-parts.js';
import { lockCharge, updateCharge, type ChargeRow } from './charges.queries.js';

@Injectable()
export class ChargeSimulation {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly credits: ChargeCredits,
    private readonly webhooks: Webhooks,
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /** Pays what is owed today: by Pix where there is a QR code. A slip is paid once (409), late or not. */
  async pay(account: BankAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lock(tx, account, correlationId);
      const amountCents =
        askedAmount(charge, this.clock.today()) ?? this.modes.current.freeAmountPayment;
      const { status, line } =
        charge.type === 'BANKSLIP'
          ? await this.credits.creditSlip(tx, account, charge, amountCents)
          : await this.credits.creditPix(tx, account, charge, { amountCents, payer: {} });
      return {
        correlationId,
        status,
        amount: amountCents,
        nsu: line.nsu,
        endToEndId: line.endToEndId ?? null,
        createdAt: line.createdAt.toISOString(),
      };
    });
  }

  /** Moves the due date to yesterday. It can still be paid, as a real slip can. */
  async expire(account: BankAccount, correlationId: string) {
    return this.database.transaction(async (tx) => {
      const charge = await this.lock(tx, account, correlationId);
      if (charge.dueDate === null || charge.amountCents === null)
        throw new AppError('rule_broken', {
          public: 'A static QR code has no due date.',
          reason: 'charge_without_due_date',
        });
      const status = this.modes.current.chargeStatus.expired;
      const dueDate = addDays(this.clock.today(), -1);
      const answer = { correlationId, status, amount: charge.amountCents, dueDate };
      if (charge.status === status && charge.dueDate === dueDate) return answer;
      const at = this.clock.now();
      await updateCharge(tx, charge.id, { status, dueDate, at });
      const body = chargeOverdueBody({ ...answer, amountCents: answer.amount, updatedAt: at });
      await this.webhooks.notify(tx, account, 'CHARGE_OVERDUE', { body, at });
      return answer;
    });
  }

  private async lock(tx: Tx, account: BankAccount, correlationId: string): Promise<ChargeRow> {
    const charge = await lockCharge(tx, account.id, correlationId);
    if (!charge) throw new AppError('not_found');
    if (charge.type !== 'PIX_STATIC' && charge.status === this.modes.current.chargeStatus.paid)
      throw new AppError('conflict', {
        public: 'The charge is paid already.',
        reason: 'charge_already_paid',
      });
    return charge;
  }
}
