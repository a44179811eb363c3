// Bounds how many webhooks an account may have that are not processed. The bank sends a refused one
// again, and until then the statement shows what it reports.
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { tooMany } from '../../platform/http/retry-after.js';
import { TokenLeases, type TokenLimit } from '../../platform/limits/token-leases.js';
import { countUnprocessedWebhooks } from '../processing/webhooks.queries.js';

interface WebhookLimit extends TokenLimit {
  accountId: number;
  isQuarantined: boolean;
}

/** The webhooks are counted again after this long, and the bank sends a refused one after it. */
const pauseMs = 5_000;

@Injectable()
export class WebhookQuota {
  private readonly limit: number;
  private readonly tokens = new TokenLeases<WebhookLimit>((limits) => this.lease(limits));

  constructor(
    settings: Settings,
    private readonly database: Database,
  ) {
    this.limit = settings.quotas.unprocessedWebhooks;
  }

  /** Whether a webhook may be stored without waiting for a count: this is no promise. */
  admitAtOnce(accountId: number, isQuarantined: boolean): boolean {
    return this.limit === 0 || this.tokens.takeHeld([this.limitOf(accountId, isQuarantined)]);
  }

  /**
   * Throws `rate_limited` if the account has too many pending webhooks, or too many quarantined
   * ones. They are counted apart, because nothing processes a quarantined webhook by itself.
   */
  async admit(accountId: number, isQuarantined: boolean): Promise<void> {
    if (this.limit === 0) return;
    const waitMs = await this.tokens.take([this.limitOf(accountId, isQuarantined)]);
    if (waitMs > 0)
      throw tooMany(
        `The account has ${this.limit} webhooks that are not processed.`,
        waitMs / 1_000,
        'unprocessed_webhook_limit',
      );
  }

  private limitOf(accountId: number, isQuarantined: boolean): WebhookLimit {
    const subject = subjectOf(accountId, isQuarantined);
    const batch = Math.ceil(this.limit / 10);
    return { subject, batch, pauseMs, accountId, isQuarantined };
  }

  private async lease(limits: readonly WebhookLimit[]): Promise<ReadonlyMap<string, number>> {
    const accountIds = [...new Set(limits.map(({ accountId }) => accountId))];
    const counts = await countUnprocessedWebhooks(this.database.prisma, accountIds);
    const stored = new Map(
      counts.flatMap(({ accountId, pending, quarantined }) => [
        [subjectOf(accountId, false), pending],
        [subjectOf(accountId, true), quarantined],
      ]),
    );
    return new Map(
      limits.map(({ subject, batch }) => {
        const free = this.limit - (stored.get(subject) ?? 0);
        return [subject, Math.min(batch, Math.max(0, free))];
      }),
    );
  }
}

function subjectOf(accountId: number, isQuarantined: boolean): string {
  return `${accountId} ${isQuarantined ? 'quarantined' : 'pending'}`;
}
