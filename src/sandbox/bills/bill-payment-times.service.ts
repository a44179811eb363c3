// Decides when a bill is paid: immediately in business hours, otherwise when they next begin.
// Schedules later payments.
import { Injectable } from '@nestjs/common';
import {
  nextBusinessHour,
  parseRequestedTime,
  saoPauloInstant,
} from '../../brazil/business-hours.js';
import { AppError, invariant } from '../../platform/errors.js';
import { BankClock, latestInstant } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { Modes } from '../modes/modes.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import type { BillPaymentRow } from './bill-payments.queries.js';

export const scheduledPaymentKind = 'scheduled-bill-payment';

export interface BillPaymentTime {
  now: Date;
  payAt: Date;
  isImmediate: boolean;
}

@Injectable()
export class BillPaymentTimes {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly dueWork: DueWork,
  ) {}

  /**
   * Throws `validation_failed` on `$.payAt` when the requested time is past or after the latest
   * time.
   */
  plan(requested: string | null): BillPaymentTime {
    const now = this.clock.now();
    const from = requested === null ? now : this.earliestTime(requested, now);
    const payAt = nextBusinessHour(from, this.modes.current.billPaymentHours);
    return { now, payAt, isImmediate: payAt <= now };
  }

  /** Schedules the task that pays at `payAt`. */
  async schedule(tx: SandboxTx, { id, payAt }: BillPaymentRow): Promise<void> {
    await this.dueWork.schedule(tx, { kind: scheduledPaymentKind, subject: id, dueAt: payAt });
  }

  private earliestTime(text: string, now: Date): Date {
    const requested = parseRequestedTime(text);
    invariant(requested, 'the route accepts only valid times');
    // Today without a time means any remaining hour of today.
    if ('day' in requested && requested.day === this.clock.today()) return now;
    const instant = 'day' in requested ? saoPauloInstant(requested.day, 0) : requested.instant;
    if (instant < now) throw payAtError('Must not be in the past.');
    if (instant.getTime() > latestInstant) throw payAtError('Must be before the year 2049.');
    return instant;
  }
}

function payAtError(message: string): AppError {
  return new AppError('validation_failed', { errors: { '$.payAt': [message] } });
}
