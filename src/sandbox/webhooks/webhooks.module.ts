import { Global, Module } from '@nestjs/common';
import { RegistrationsController } from './registrations.controller.js';
import { Registrations } from './registrations.service.js';
import { WebhookSender } from './webhook-sender.service.js';
import { Webhooks } from './webhooks.service.js';

// Global: each chapter sends webhooks.
@Global()
@Module({
  controllers: [RegistrationsController],
  providers: [Webhooks, WebhookSender, Registrations],
  exports: [Webhooks],
})
export class SandboxWebhooksModule {}
