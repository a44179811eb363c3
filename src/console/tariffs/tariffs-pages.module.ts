import { Module } from '@nestjs/common';
import { TariffsModule } from '../../reporting/tariffs/tariffs.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { TariffPages } from './tariffs.controller.js';

/** The fees that the bank charged, and what was agreed. */
@Module({
  imports: [ConsoleFrameModule, StatementModule, TariffsModule],
  controllers: [TariffPages],
})
export class TariffsPagesModule {}
