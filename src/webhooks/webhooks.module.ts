import { Module, type OnModuleInit } from '@nestjs/common';
import { Timers } from '../platform/timers.js';
import { StatementModule } from '../statement/statement.module.js';
import { SyncIntervalAdjuster } from './sync-interval-adjuster.service.js';
import { WebhookHealthController } from './webhook-health.controller.js';
import { WebhookHealth } from './webhook-health.service.js';
import { WebhookInbox } from './webhook-inbox.service.js';
import { WebhookRegistrar } from './webhook-registrar.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

const sweepEveryMs = 1_000;
const registerEveryMs = 300_000;
const adjustEveryMs = 60_000;

@Module({
  imports: [StatementModule],
  controllers: [WebhooksController, WebhookHealthController],
  providers: [WebhookInbox, WebhooksService, WebhookRegistrar, WebhookHealth, SyncIntervalAdjuster],
  exports: [WebhookRegistrar],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly webhooks: WebhooksService,
    private readonly registrar: WebhookRegistrar,
    private readonly adjuster: SyncIntervalAdjuster,
  ) {}

  onModuleInit(): void {
    this.timers.every('webhooks', sweepEveryMs, () => this.webhooks.enqueueSyncs());
    this.timers.every('webhook-registrations', registerEveryMs, () => this.registrar.enqueueAll());
    this.timers.every('sync-intervals', adjustEveryMs, () => this.adjuster.adjust());
  }
}
