import { Module } from '@nestjs/common';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { WebhooksModule } from '../../webhooks/webhooks.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { TodayFactsReader } from './today-facts.service.js';
import { TodayPage } from './today.controller.js';
import { TodayStreams } from './today-streams.service.js';

/** The first page of an account. */
@Module({
  imports: [ConsoleFrameModule, AlertsModule, BreaksModule, WebhooksModule],
  controllers: [TodayPage],
  providers: [TodayFactsReader, TodayStreams],
})
export class TodayPagesModule {}
