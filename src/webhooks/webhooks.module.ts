import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers/customers.module.js';
import { DisputesModule } from '../disputes/disputes.module.js';
import { EventsModule } from '../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { DirectWebhooks } from './direct-webhooks.service.js';
import { Notices } from './notices.service.js';
import { ReceivedWebhooks } from './received-webhooks.service.js';
import { RelayDeliveries } from './relay-deliveries.service.js';
import { RelaysController } from './relays.controller.js';
import { Relays } from './relays.service.js';
import { WebhookHealthController } from './webhook-health.controller.js';
import { WebhookHealth } from './webhook-health.service.js';
import { WebhookInbox } from './webhook-inbox.service.js';
import { WebhookMetrics } from './webhook-metrics.service.js';
import { WebhookQuota } from './webhook-quota.service.js';
import { WebhookRegistrar } from './webhook-registrar.service.js';
import { WebhookRetention } from './webhook-retention.service.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [StatementModule, CustomersModule, DisputesModule, EventsModule, OperationsModule],
  controllers: [WebhooksController, WebhookHealthController, RelaysController],
  providers: [
    WebhookInbox,
    Notices,
    ReceivedWebhooks,
    Relays,
    RelayDeliveries,
    DirectWebhooks,
    WebhookQuota,
    WebhookRegistrar,
    WebhookHealth,
    WebhookRetention,
    WebhookMetrics,
  ],
  exports: [WebhookRegistrar, WebhookHealth, ReceivedWebhooks],
})
export class WebhooksModule {}
