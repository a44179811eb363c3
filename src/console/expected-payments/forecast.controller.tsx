// The cash forecast of an account: what is expected on each day, and the balance that it makes.
import { Controller } from '@nestjs/common';
import { getCashForecast } from '../../reporting/cash-forecast/cash-forecast.schema.js';
import { CashForecasts } from '../../reporting/cash-forecast/cash-forecast.service.js';
import { AppError } from '../../platform/errors.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { BalanceNotice } from '../kit/balances.js';
import { Message } from '../kit/elements.js';
import { Filters, type FilterField } from '../kit/filters.js';
import { readFilters } from '../list-query.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import type { Visit } from '../visit.js';
import { Forecast } from './forecast.js';

const period: readonly FilterField[] = [
  { name: 'from', label: 'word.from', type: 'date' },
  { name: 'to', label: 'word.to', type: 'date' },
];

@Controller()
export class ForecastPage {
  constructor(
    private readonly forecasts: CashForecasts,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('forecast', 'view', { title: 'forecast.title', section: 'statement', place: 45 })
  async read(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { filters, wrong } = readFilters(getCashForecast.query, visit.query);
    try {
      const [forecast, balances, { StepChart }] = await Promise.all([
        this.forecasts.read(visit.accountId, filters),
        this.money.findBalances(visit.accountId),
        import('../kit/day-charts.js'),
      ]);
      const body = (
        <>
          <p>{visit.t('forecast.intro')}</p>
          <BalanceNotice balances={balances} />
          <Filters fields={period} wrong={wrong} />
          <Forecast {...{ forecast, StepChart }} />
        </>
      );
      return new Shown(visit.t('forecast.title'), body);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return refusedPage(visit, error);
    }
  }
}

/** A period that is wrong or too long is asked for again. */
function refusedPage(visit: Visit, error: AppError): Shown {
  const key = error.details.errors ? 'ruleTrial.wrongPeriod' : problemKey(error);
  const body = (
    <>
      <Message kind="bad">{visit.t(key)}</Message>
      <Filters fields={period} />
    </>
  );
  return new Shown(visit.t('forecast.title'), body, { status: error.status });
}
