import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../platform/queue/queues.js';
import { ProcessWebhooksProcessor } from './inbox/process-webhooks.processor.js';
import { HandleNoticesProcessor } from './processing/handle-notices.processor.js';
import { RegisterWebhooksProcessor } from './registration/register-webhooks.processor.js';
import { RelayWebhooksProcessor } from './relays/relay-webhooks.processor.js';
import { Module } from '@nestjs/common';
import { CustomersModule } from '../outbound/customers/customers.module.js';
import { DisputesModule } from '../statement/disputes/disputes.module.js';
import { EventsModule } from '../events/events.module.js';
import { OperationsModule } from '../outbound/operations/operations.module.js';
import { StatementModule } from '../statement/lines/statement.module.js';
import { Notices } from './processing/notices.service.js';
import { ReceivedWebhooks } from './received/received-webhooks.service.js';
import { RelayDeliveries } from './relays/relay-deliveries.service.js';
import { RelaysController } from './relays/relays.controller.js';
import { Relays } from './relays/relays.service.js';
import { WebhookHealthController } from './health/webhook-health.controller.js';
import { WebhookHealth } from './health/webhook-health.service.js';
import { WebhookInbox } from './inbox/webhook-inbox.service.js';
import { WebhookMetrics } from './health/webhook-metrics.service.js';
import { WebhookQuota } from './inbox/webhook-quota.service.js';
import { WebhookRegistrar } from './registration/webhook-registrar.service.js';
import { WebhookRetention } from './inbox/webhook-retention.service.js';
import { WebhooksController } from './inbox/webhooks.controller.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.processWebhooks.name },
      { name: jobs.handleNotices.name },
      { name: jobs.registerWebhooks.name },
      { name: jobs.relayWebhooks.name },
      { name: jobs.syncStatement.name },
      { name: jobs.checkTransferStatuses.name },
      { name: jobs.checkChargeStatuses.name },
      { name: jobs.reconcile.name },
    ),
    StatementModule,
    CustomersModule,
    DisputesModule,
    EventsModule,
    OperationsModule,
  ],
  controllers: [WebhooksController, WebhookHealthController, RelaysController],
  providers: [
    ProcessWebhooksProcessor,
    HandleNoticesProcessor,
    RegisterWebhooksProcessor,
    RelayWebhooksProcessor,
    WebhookInbox,
    Notices,
    ReceivedWebhooks,
    Relays,
    RelayDeliveries,
    WebhookQuota,
    WebhookRegistrar,
    WebhookHealth,
    WebhookRetention,
    WebhookMetrics,
  ],
  exports: [WebhookRegistrar, WebhookHealth, ReceivedWebhooks],
})
export class WebhooksModule {}
