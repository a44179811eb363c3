// Where the bank's webhooks are received and stored, without the service around it.
import { serviceReference } from '../../src/app/app.module.js';
import { AccountsService } from '../../src/access/accounts/accounts.service.js';
import { loadSettings, Settings } from '../../src/platform/settings/config.js';
import { Database } from '../../src/platform/postgres/database.service.js';
import { createHttpApplication } from '../../src/platform/http/http.js';
import { Health } from '../../src/platform/http/health.js';
import { HttpMetrics } from '../../src/platform/http/http-metrics.js';
import { createLog, Log } from '../../src/platform/log.js';
import { AuthenticationFailures } from '../../src/platform/limits/authentication-failures.service.js';
import { RateLimits } from '../../src/platform/limits/rate-limits.service.js';
import { WebhookInbox } from '../../src/webhooks/inbox/webhook-inbox.service.js';
import { WebhookQuota } from '../../src/webhooks/inbox/webhook-quota.service.js';
import { WebhooksController } from '../../src/webhooks/inbox/webhooks.controller.js';
import { recordedQueues, type QueueOf } from './recorded-queues.js';

type Accounts = Record<'recentWebhookSecret' | 'findWebhookSecret', (slug: string) => unknown>;

class WebhooksApplication {}

export function webhookInboxOf(
  database: Database,
  settings = loadSettings({}),
  queueOf: QueueOf = recordedQueues(),
): WebhookInbox {
  return new WebhookInbox(
    database,
    queueOf('processWebhooks'),
    queueOf('syncStatement'),
    queueOf('checkTransferStatuses'),
    queueOf('checkChargeStatuses'),
    queueOf('handleNotices'),
    new WebhookQuota(settings, database),
  );
}

export async function webhooksApplication(
  database: Database,
  accounts: Accounts,
  environment: Record<string, string> = {},
) {
  const settings = loadSettings(environment);
  const log = createLog('silent', 'webhooks');
  const module = {
    module: WebhooksApplication,
    controllers: [WebhooksController],
    providers: [
      ...[HttpMetrics, Health],
      { provide: Settings, useValue: settings },
      { provide: Log, useValue: log },
      { provide: Database, useValue: database },
      { provide: AccountsService, useValue: accounts },
      { provide: WebhookInbox, useValue: webhookInboxOf(database, settings) },
      { provide: RateLimits, useValue: new RateLimits(settings, database, log) },
      { provide: AuthenticationFailures, useValue: new AuthenticationFailures(log) },
    ],
  };
  const application = await createHttpApplication(module, { log, reference: serviceReference });
  await application.listen(0, '127.0.0.1');
  return { application, url: `${await application.getUrl()}/webhooks/bank/main/PIX_RECEIVED` };
}

/** The bodies as the bank sent them. */
export async function storedBodies({ prisma }: Database): Promise<string[]> {
  const events = await prisma.webhookEvent.findMany();
  return events.map(({ body }) => Buffer.from(body!).toString());
}
