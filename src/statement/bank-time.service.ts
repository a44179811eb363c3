// The bank's current time and day, from the clock offset that the last completed sync stored.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../brazil/statement-day.js';
import { Database } from '../database.service.js';
import { Clock } from '../platform/timers.js';

@Injectable()
export class BankTime {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The day in São Paulo at the account's bank, yyyy-mm-dd. */
  async today(accountId: number): Promise<string> {
    return saoPauloDay(await this.now(accountId));
  }

  /** The time at the account's bank. */
  async now(accountId: number): Promise<Date> {
    const state = await this.database.prisma.statementState.findUnique({
      where: { accountId },
      select: { clockOffsetMs: true },
    });
    return new Date(this.clock.now().getTime() + Number(state?.clockOffsetMs ?? 0n));
  }
}
