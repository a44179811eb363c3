// Refuses what is above a rate limit: of an address, before the request is read and its key is
// checked; and of a key and its account. All processes share the limits: their tokens are in
// PostgreSQL, and each process leases them in batches.
import { Injectable } from '@nestjs/common';
import { Settings } from '../settings/config.js';
import { Database } from '../postgres/database.service.js';
import { limitedAddressOf } from '../http/client-address.js';
import { tooMany } from '../http/retry-after.js';
import { Log } from '../log.js';
import { Every } from '../queue/timers.js';
import { TokenLeases, type TokenLimit } from './token-leases.js';
import type { AddressClass, RequestClass } from '../settings/request-limit-settings.js';
import { AddressSubjects } from './address-subjects.js';
import type { QueuedCaller } from './fair-queue.js';
import { deleteFullBuckets, takeTokens } from './shared-limits.queries.js';

interface RateLimit extends TokenLimit {
  perSecond: number;
}

/** Addresses whose limits a process keeps apart, of each minute. */
const maxAddresses = 20_000;
/** A process leases the tokens of this part of a second at once. */
const batchMs = 100;

@Injectable()
export class RateLimits {
  private readonly tokens = new TokenLeases<RateLimit>((limits) => this.lease(limits));
  private readonly addresses = new AddressSubjects(maxAddresses);

  constructor(
    private readonly settings: Settings,
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** Returns like `admitCaller`. */
  admitAddress(address: string, addressClass: AddressClass): Promise<void> | null {
    return this.admit(this.limitsOfAddress(address, addressClass), addressClass);
  }

  /**
   * Throws `rate_limited`. A refused request takes a token of neither limit. Most requests need not
   * wait for a lease, nor a promise: then it returns null.
   */
  admitCaller({
    accountId,
    actor,
    requestClass,
  }: Pick<QueuedCaller, 'accountId' | 'actor'> & {
    requestClass: RequestClass;
  }): Promise<void> | null {
    const { perKey, perAccount } = this.settings.requestLimits;
    const limits = rateLimits([
      [`key ${actor} ${requestClass}`, perKey[requestClass]],
      [`account ${accountId} ${requestClass}`, perAccount[requestClass]],
    ]);
    return this.admit(limits, requestClass);
  }

  @Every('rate-limits', 60)
  async deleteFull(): Promise<void> {
    await deleteFullBuckets(this.database.prisma);
  }

  private limitsOfAddress(address: string, addressClass: AddressClass): RateLimit[] {
    const perSecond = this.settings.requestLimits.perAddress[addressClass];
    const subject = this.addresses.subjectOf(limitedAddressOf(address), performance.now());
    return rateLimits([[`address ${subject} ${addressClass}`, perSecond]]);
  }

  private admit(limits: RateLimit[], limitedClass: string): Promise<void> | null {
    return this.tokens.takeHeld(limits) ? null : this.admitWithLease(limits, limitedClass);
  }

  private async admitWithLease(limits: RateLimit[], limitedClass: string): Promise<void> {
    const waitMs = await this.tokens.take(limits);
    if (waitMs === 0) return;
    this.log.warn({ class: limitedClass }, 'rate limit reached');
    throw tooMany(`Too many requests per second (${limitedClass}).`, waitMs / 1_000);
  }

  private async lease(limits: readonly RateLimit[]): Promise<ReadonlyMap<string, number>> {
    try {
      const granted = await takeTokens(this.database.prisma, limits);
      return new Map(granted.map((row) => [row.subject, row.granted]));
    } catch (error) {
      // The requests that are let through fail by themselves if they need PostgreSQL.
      this.log.warn({ err: error }, 'rate limits could not be read, requests are let through');
      return new Map(limits.map(({ subject, batch }) => [subject, batch]));
    }
  }
}

/** The limits that are set. */
function rateLimits(settings: readonly (readonly [subject: string, perSecond: number])[]) {
  return settings
    .filter(([, perSecond]) => perSecond > 0)
    .map(([subject, perSecond]): RateLimit => ({
      subject,
      perSecond,
      batch: Math.max(1, Math.ceil((perSecond * batchMs) / 1_000)),
      pauseMs: Math.max(batchMs, 1_000 / perSecond),
    }));
}
