// Months: their checklist, the two who sign, the report of a close, and what changes later.
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ExportsModule } from '../exports/exports.module.js';
import { JournalModule } from '../journal/journal.module.js';
import { MonthAmendments } from './month-amendments.service.js';
import { MonthClosing } from './month-closing.service.js';
import { MonthParts } from './month-parts.service.js';
import { MonthReader } from './month-reader.service.js';
import { MonthSweeper } from './month-sweeper.service.js';
import { MonthsController } from './months.controller.js';

@Module({
  imports: [EventsModule, StatementModule, ExportsModule, JournalModule],
  controllers: [MonthsController],
  providers: [MonthAmendments, MonthClosing, MonthParts, MonthReader, MonthSweeper],
  exports: [MonthClosing, MonthReader],
})
export class MonthsModule {}
