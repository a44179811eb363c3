import { Module } from '@nestjs/common';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { TodayFactsReader } from './today-facts.service.js';
import { TodayPage } from './today.controller.js';
import { TodayStreams } from './today-streams.service.js';

/** The first page of an account. */
@Module({
  imports: [ConsoleFrameModule, AlertsModule, BreaksModule],
  controllers: [TodayPage],
  providers: [TodayFactsReader, TodayStreams],
})
export class TodayPagesModule {}
