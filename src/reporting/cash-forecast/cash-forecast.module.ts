// The cash forecast: what is expected in and out per day, and how it came.
import { Module } from '@nestjs/common';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { CashForecastController } from './cash-forecast.controller.js';
import { CashForecasts } from './cash-forecast.service.js';

@Module({
  imports: [StatementModule],
  controllers: [CashForecastController],
  providers: [CashForecasts],
  exports: [CashForecasts],
})
export class CashForecastModule {}
