import { Module } from '@nestjs/common';
import { MonthsModule } from '../../reporting/months/months.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { MonthPage } from './month.controller.js';
import { MonthsPages } from './months.controller.js';

/** The months: what is missing, who signed, what changed after the close. */
@Module({
  imports: [ConsoleFrameModule, MonthsModule],
  controllers: [MonthsPages, MonthPage],
})
export class MonthsPagesModule {}
