import { Module, type OnModuleInit } from '@nestjs/common';
import { Timers } from '../platform/timers.js';
import { RegisterWebhooksProcessor } from './register-webhooks.processor.js';
import { SettleWebhooksProcessor } from './settle-webhooks.processor.js';
import { WebhookInbox } from './webhook-inbox.service.js';
import { WebhookRegistrar } from './webhook-registrar.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

const sweepEveryMs = 1_000;
const registerEveryMs = 300_000;

@Module({
  controllers: [WebhooksController],
  providers: [
    WebhookInbox,
    WebhooksService,
    WebhookRegistrar,
    SettleWebhooksProcessor,
    RegisterWebhooksProcessor,
  ],
  exports: [WebhookRegistrar],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly webhooks: WebhooksService,
    private readonly registrar: WebhookRegistrar,
  ) {}

  onModuleInit(): void {
    this.timers.every('webhooks', sweepEveryMs, () => this.webhooks.wakeWaiting());
    this.timers.every('webhook-registrations', registerEveryMs, () => this.registrar.wakeAll());
  }
}
