import { Module } from '@nestjs/common';
import { DayClosesModule } from '../../reporting/day-closes/day-closes.module.js';
import { ExportsModule } from '../../reporting/exports/exports.module.js';
import { RunsModule } from '../../reconciliation/runs/runs.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { DayFiles } from './day-files.service.js';
import { DayPage } from './day.controller.js';
import { DaysPages } from './days.controller.js';

/** The days of the statement and their certificates. */
@Module({
  imports: [ConsoleFrameModule, DayClosesModule, ExportsModule, RunsModule],
  controllers: [DaysPages, DayPage],
  providers: [DayFiles],
})
export class DaysPagesModule {}
