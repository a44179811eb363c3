// The bank's clock: every time that the sandbox tells or judges by comes from here, and it never goes back.
import { Injectable } from '@nestjs/common';
import type { PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';

@Injectable()
export class BankClock {
  private lastToldMs = 0;

  now(): Date {
    // The machine's clock may be set back; lines must still be told in the order in which they happened.
    this.lastToldMs = Math.max(this.lastToldMs, Date.now());
    return new Date(this.lastToldMs);
  }

  /** The day in São Paulo, by which due dates and discounts count. */
  today(): PlainDate {
    return saoPauloDay(this.now());
  }
}
