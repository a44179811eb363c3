// Tariffs: the price lists that were agreed with the bank, and the fees that it charged. The breaks
// of what differs are opened by the module reconciliation.
import { Module } from '@nestjs/common';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ExportsModule } from '../exports/exports.module.js';
import { FeeChecks } from './fee-checks.service.js';
import { PriceLists } from './price-lists.service.js';
import { TariffsController } from './tariffs.controller.js';

@Module({
  imports: [StatementModule, ExportsModule],
  controllers: [TariffsController],
  providers: [FeeChecks, PriceLists],
  exports: [FeeChecks, PriceLists],
})
export class TariffsModule {}
