// Journal entries: the chart of accounts, the mapping of money to its codes, and the entries of
// months for accountants.
import { Module } from '@nestjs/common';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ExportsModule } from '../exports/exports.module.js';
import { JournalSetup } from './journal-setup.service.js';
import { JournalController } from './journal.controller.js';
import { Journals } from './journals.service.js';

@Module({
  imports: [StatementModule, ExportsModule],
  controllers: [JournalController],
  providers: [JournalSetup, Journals],
  exports: [JournalSetup, Journals],
})
export class JournalModule {}
