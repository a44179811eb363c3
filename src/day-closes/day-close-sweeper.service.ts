// Finds in PostgreSQL the accounts of which a day waits for its certificate or for an amendment. That the statement is
// closed over a day which waits for it is its own sweeper's.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { WakeUps } from '../platform/wake-ups.js';
import { listReady } from './day-closes.queries.js';

@Injectable()
export class DayCloseSweeper {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  async wakeWaiting(): Promise<void> {
    for (const account of await listReady(this.database.prisma))
      await this.wakeUps.wake('closeDays', account);
  }
}
