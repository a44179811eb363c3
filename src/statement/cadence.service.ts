// How often each account's statement is polled: as the settings say, or as the health of its webhooks asks for.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { WakeUps } from '../platform/wake-ups.js';
import * as queries from './statement.queries.js';

/** Rounds of a timer come a little late or early. */
const slackMs = 50;

@Injectable()
export class Cadence {
  /** When this process woke each account last: a bank that does not answer is not asked the more often. */
  private readonly wokenAt = new Map<number, number>();

  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /** From now on the account is polled so often, in milliseconds; null: as the settings say. */
  async set(accountId: number, intervalMs: number | null): Promise<void> {
    await queries.setCadence(this.database.prisma, accountId, intervalMs);
  }

  /** Wakes a poll of every account whose interval has passed. */
  async wakeDue(usualMs: number, now = performance.now()): Promise<void> {
    for (const { accountId, intervalMs } of await queries.listCadences(this.database.prisma)) {
      const last = this.wokenAt.get(accountId) ?? -Infinity;
      if (now - last < (intervalMs ?? usualMs) - slackMs) continue;
      this.wokenAt.set(accountId, now);
      await this.wakeUps.wake('syncStatement', { accountId });
    }
  }
}
