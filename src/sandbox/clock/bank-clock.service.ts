// The bank's clock: the source of every time in the sandbox. Tests advance or freeze it. It never
// moves backwards, and it survives a restart.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { z } from 'zod';
import type { PlainDate } from '../../brazil/calendar.js';
import { integer } from '../../bank-contract/wire.js';
import { SandboxSettings } from '../sandbox-database.service.js';
import { BankSettings, SerialQueue } from '../bank-settings.service.js';
import { ruleBroken } from '../../platform/errors.js';

/** The upper limit of the clock: calendars and bar codes are valid until then. */
export const latestInstant = Date.parse('2049-01-01T00:00:00Z');

const clockState = z.object({
  /** The bank's time minus the machine's time, in milliseconds. */
  offsetMs: integer,
  /** The frozen time in epoch milliseconds; null while the clock runs. */
  frozenAtMs: integer.nullable(),
});
type ClockState = z.output<typeof clockState>;

/**
 * A change of the clock. `to` computes the new time from the current time. The new time must not be
 * earlier.
 */
export interface ClockChange {
  to?: (now: Date) => Date;
  isFrozen?: boolean;
}

@Injectable()
export class BankClock {
  private state: ClockState;
  private lastReportedMs = 0;
  private readonly changes = new SerialQueue();
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly settings: BankSettings,
    private readonly sandbox: SandboxSettings,
  ) {
    this.state = this.firstState();
  }

  /** Loads the stored state. Runs before the clock is first read. */
  async load(): Promise<void> {
    const stored = await this.settings.find('clock');
    if (stored !== null) this.state = z.decode(clockState, stored as never);
  }

  now(): Date {
    // The machine's clock may be set back; the bank's times must still ascend.
    const reportedMs = this.state.frozenAtMs ?? Date.now() + this.state.offsetMs;
    this.lastReportedMs = Math.max(this.lastReportedMs, reportedMs);
    return new Date(this.lastReportedMs);
  }

  /** The day in São Paulo. Due dates and discounts use it. */
  today(): PlainDate {
    return saoPauloDay(this.now());
  }

  get isFrozen(): boolean {
    return this.state.frozenAtMs !== null;
  }

  /**
   * Throws `rule_broken` with the reason `clock_cannot_move_backwards`. Changes run one after
   * another: of two changes that start from the same time, one would be lost.
   */
  change({ to, isFrozen }: ClockChange): Promise<void> {
    return this.changes.run(async () => {
      const now = this.now();
      const target = to?.(now) ?? now;
      if (target < now)
        throw ruleBroken(
          'clock_cannot_move_backwards',
          `The new time must not be before the bank's time, ${now.toISOString()}.`,
        );
      await this.store({
        offsetMs: target.getTime() - Date.now(),
        frozenAtMs: (isFrozen ?? this.isFrozen) ? target.getTime() : null,
      });
    });
  }

  /** The time that the clock shows after a reset. */
  timeAfterReset(): Date {
    const { offsetMs, frozenAtMs } = this.firstState();
    return new Date(frozenAtMs ?? Date.now() + offsetMs);
  }

  /**
   * Returns to the bank's first time, or the machine's, when the bank is reset. Only here may the
   * clock move backwards. The reset has already deleted the stored setting.
   */
  reset(): void {
    this.lastReportedMs = 0;
    this.set(this.firstState());
  }

  /** `listener` runs after each change: tasks may have become due. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private firstState(): ClockState {
    const { startsAt, isFrozen } = this.sandbox.limits;
    const nowMs = Date.now();
    const startMs = startsAt?.getTime() ?? nowMs;
    return { offsetMs: startMs - nowMs, frozenAtMs: isFrozen ? startMs : null };
  }

  private async store(state: ClockState): Promise<void> {
    await this.settings.store('clock', z.encode(clockState, state));
    this.set(state);
  }

  private set(state: ClockState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
