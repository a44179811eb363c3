// The bank's clock: every time that the sandbox tells or judges by comes from here. Tests move it on or stop it; it
// never goes back, and a restart finds it where it was.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { AppError } from '../../platform/errors.js';
import { BankSettings, SerialQueue } from '../bank-settings.service.js';

/** Far enough for any test, near enough for every calendar and bar code of the bank. */
export const lastInstant = Date.parse('2049-01-01T00:00:00Z');

interface ClockState {
  /** How far the bank's time is ahead of the machine's, in milliseconds. */
  offsetMs: number;
  /** Where it stands still, in epoch milliseconds; null while it runs. */
  frozenAtMs: number | null;
}

/** What moves the clock; `to` tells the new time from the old, and is not before it. */
export interface ClockChange {
  to?: (now: Date) => Date;
  isFrozen?: boolean;
}

@Injectable()
export class BankClock {
  private state: ClockState = { offsetMs: 0, frozenAtMs: null };
  private lastReportedMs = 0;
  private readonly changes = new SerialQueue();
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly settings: BankSettings) {}

  /** Reads where the clock was left; before anything is timed. */
  async load(): Promise<void> {
    const kept = await this.settings.find('clock');
    if (kept !== null) this.state = JSON.parse(kept) as ClockState;
  }

  now(): Date {
    // The machine's clock may be set back; lines must still be told in the order in which they happened.
    const reportedMs = this.state.frozenAtMs ?? Date.now() + this.state.offsetMs;
    this.lastReportedMs = Math.max(this.lastReportedMs, reportedMs);
    return new Date(this.lastReportedMs);
  }

  /** The day in São Paulo, by which due dates and discounts count. */
  today(): PlainDate {
    return saoPauloDay(this.now());
  }

  get isFrozen(): boolean {
    return this.state.frozenAtMs !== null;
  }

  /**
   * Throws `rule_broken` with the reason `clock_never_goes_back`. One change after another, since two that went out
   * from one time would undo each other.
   */
  change({ to, isFrozen }: ClockChange): Promise<void> {
    return this.changes.run(async () => {
      const now = this.now();
      const target = to?.(now) ?? now;
      if (target < now)
        throw new AppError('rule_broken', {
          public: `The bank's clock never goes back; it is ${now.toISOString()}.`,
          reason: 'clock_never_goes_back',
        });
      await this.keep({
        offsetMs: target.getTime() - Date.now(),
        frozenAtMs: (isFrozen ?? this.isFrozen) ? target.getTime() : null,
      });
    });
  }

  /** What a clock that begins anew tells. */
  timeOfRestart(): Date {
    return new Date();
  }

  /**
   * The machine's time again, for a bank that begins anew: the one time that the clock goes back. Its setting went
   * with the old bank.
   */
  restart(): void {
    this.lastReportedMs = 0;
    this.set({ offsetMs: 0, frozenAtMs: null });
  }

  /** `listener` runs after each change: what is due may have become so. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private async keep(state: ClockState): Promise<void> {
    await this.settings.keep('clock', JSON.stringify(state));
    this.set(state);
  }

  private set(state: ClockState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
