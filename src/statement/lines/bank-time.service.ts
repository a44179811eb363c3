// The bank's current time and day.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import { readBankTime } from './bank-clock.queries.js';

@Injectable()
export class BankTime {
  constructor(private readonly database: Database) {}

  /** The day in São Paulo at the account's bank, yyyy-mm-dd. */
  async today(accountId: number): Promise<string> {
    return saoPauloDay(await this.now(accountId));
  }

  /** The time at the account's bank. */
  async now(accountId: number): Promise<Date> {
    return readBankTime(this.database.prisma, accountId);
  }
}
