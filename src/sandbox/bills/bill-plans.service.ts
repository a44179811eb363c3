// Says when a payment goes through: at once in the hours of the bank, else when they next begin; and sees to it then.
import { Injectable } from '@nestjs/common';
import { nextBusinessHour, parseRequestedTime, saoPauloInstant } from '../../brazil/business-hours.js';
import { AppError, invariant } from '../../platform/errors.js';
import { BankClock, lastInstant } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Modes } from '../modes/modes.service.js';
import type { Tx } from '../sandbox-database.service.js';
import type { BillPaymentRow } from './bill-payments.queries.js';

export const scheduledPaymentKind = 'scheduled-bill-payment';

export interface BillPlan {
  now: Date;
  payAt: Date;
  isImmediate: boolean;
}

@Injectable()
export class BillPlans {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly dueWork: DueWork,
  ) {}

  /** Throws `validation_failed` on `$.payAt` when what is asked lies in the past. */
  plan(asked: string | null): BillPlan {
    const now = this.clock.now();
    const from = asked === null ? now : this.askedFrom(asked, now);
    const payAt = nextBusinessHour(from, this.modes.current.billPaymentHours);
    return { now, payAt, isImmediate: payAt <= now };
  }

  /** Pays at its time what is scheduled. */
  async follow(tx: Tx, { id, payAt }: BillPaymentRow): Promise<void> {
    await this.dueWork.schedule(tx, { kind: scheduledPaymentKind, subject: id, dueAt: payAt });
  }

  private askedFrom(text: string, now: Date): Date {
    const asked = parseRequestedTime(text);
    invariant(asked, 'the route takes only what can be read');
    // Of today, any hour will do: those that are past are not meant.
    if ('day' in asked && asked.day === this.clock.today()) return now;
    const instant = 'day' in asked ? saoPauloInstant(asked.day, 0) : asked.instant;
    if (instant < now) throw refused('Is in the past.');
    if (instant.getTime() > lastInstant) throw refused('Is beyond the year 2048.');
    return instant;
  }
}

function refused(message: string): AppError {
  return new AppError('validation_failed', { errors: { '$.payAt': [message] } });
}
