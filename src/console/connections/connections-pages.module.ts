import { Module } from '@nestjs/common';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { EventsModule } from '../../events/events.module.js';
import { WebhooksModule } from '../../webhooks/webhooks.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { AlertChannelPages } from './alert-channels.controller.js';
import { AlertRulePages } from './alert-rules.controller.js';
import { AlertPages } from './alerts.controller.js';
import { ConnectionsHome } from './connections-home.controller.js';
import { DeliveryPages } from './deliveries.controller.js';
import { EndpointPages } from './endpoints.controller.js';
import { WebhookHealthPages } from './webhook-health.controller.js';
import { WebhookPages } from './webhooks.controller.js';

/** The bank's webhooks, events to business systems, and alerts to people. */
@Module({
  imports: [ConsoleFrameModule, WebhooksModule, EventsModule, AlertsModule],
  controllers: [
    ConnectionsHome,
    WebhookPages,
    WebhookHealthPages,
    EndpointPages,
    DeliveryPages,
    AlertPages,
    AlertRulePages,
    AlertChannelPages,
  ],
})
export class ConnectionsPagesModule {}
