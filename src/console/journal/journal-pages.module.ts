import { Module } from '@nestjs/common';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { JournalModule } from '../../reporting/journal/journal.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { ChartPage } from './chart.controller.js';
import { JournalPages } from './journal.controller.js';
import { ReasonCodesPage } from './reason-codes.controller.js';

/** The chart of accounts, the mapping of money to it, and the codes of decisions. */
@Module({
  imports: [ConsoleFrameModule, StatementModule, JournalModule, BreaksModule],
  controllers: [JournalPages, ChartPage, ReasonCodesPage],
})
export class JournalPagesModule {}
