import { Module } from '@nestjs/common';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { CashForecastModule } from '../../reporting/cash-forecast/cash-forecast.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { OverviewPage } from './overview.controller.js';
import { TodayFactsReader } from './today-facts.service.js';
import { TodayPage } from './today.controller.js';
import { TodayStreams } from './today-streams.service.js';

/** The first page of an account, and that of its finance director. */
@Module({
  imports: [ConsoleFrameModule, AlertsModule, BreaksModule, CashForecastModule],
  controllers: [TodayPage, OverviewPage],
  providers: [TodayFactsReader, TodayStreams],
})
export class TodayPagesModule {}
