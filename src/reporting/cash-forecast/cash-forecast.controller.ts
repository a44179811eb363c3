import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { getCashForecast } from './cash-forecast.schema.js';
import { CashForecasts } from './cash-forecast.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class CashForecastController {
  constructor(private readonly forecasts: CashForecasts) {}

  @Responds({ status: 422, description: 'The period has too much in it; see `code`.' })
  @Handles(getCashForecast)
  async read(@FromCaller() { accountId, query }: CallerInput<typeof getCashForecast>) {
    return this.forecasts.read(accountId, query);
  }
}
