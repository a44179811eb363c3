// The cash forecast as figures, a chart and a table of its days.
import type { JSX } from 'preact';
import type { getCashForecast } from '../../reporting/cash-forecast/cash-forecast.schema.js';
import { printDay } from '../../brazil/printed-text.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Amount, Badge, Card, FactList } from '../kit/elements.js';
import { formatAmount, formatCount, formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import { ForecastChart } from '../kit/balance-chart.js';

type ForecastView = RouteOutput<typeof getCashForecast>;
type ForecastDay = ForecastView['days'][number];

interface ForecastProps {
  visit: Visit;
  forecast: ForecastView;
}

export function Forecast(props: ForecastProps): JSX.Element {
  const { visit, forecast } = props;
  const { t, language } = visit;
  return (
    <>
      <div class="cards">
        <Balance {...props} />
        <Apart visit={visit} title="forecast.overdue" apart={forecast.overdue} />
        <Apart visit={visit} title="forecast.undated" apart={forecast.undated} />
      </div>
      <Card title={t('forecast.chart')}>
        <ForecastChart visit={visit} days={forecast.days} today={forecast.today} />
      </Card>
      <Card title={t('forecast.days')}>
        <DataTable
          visit={visit}
          name={t('forecast.days')}
          columns={[
            'forecast.day',
            'forecast.expectedIn',
            'forecast.expectedOut',
            'forecast.lineIn',
            'forecast.lineOut',
            'forecast.closing',
          ]}
          numbers={[
            'forecast.expectedIn',
            'forecast.expectedOut',
            'forecast.lineIn',
            'forecast.lineOut',
            'forecast.closing',
          ]}
        >
          {forecast.days.filter(hasMovement(forecast.today)).map((day) => (
            <DayRow visit={visit} day={day} today={forecast.today} />
          ))}
        </DataTable>
        <p class="hint">
          {t('forecast.daysWithout')}{' '}
          {t('forecast.synced', { time: formatTime(forecast.syncedAt, language) })}
        </p>
      </Card>
    </>
  );
}

function Balance({ visit, forecast: { days } }: ForecastProps) {
  const { t } = visit;
  const least = days.reduce<ForecastDay | null>(
    (lowest, day) => (lowest === null || day.closingBalance < lowest.closingBalance ? day : lowest),
    null,
  );
  const last = days.at(-1);
  const onDay = (day: ForecastDay | null | undefined) =>
    day
      ? t('forecast.onDay', { amount: formatAmount(day.closingBalance), day: printDay(day.date) })
      : t('app.none');
  return (
    <FactList
      visit={visit}
      title="forecast.balance"
      facts={[
        ['forecast.opening', days[0] ? formatAmount(days[0].openingBalance) : t('app.none')],
        ['forecast.least', onDay(least)],
        ['forecast.last', onDay(last)],
      ]}
    />
  );
}

function Apart({
  visit,
  title,
  apart,
}: {
  visit: Visit;
  title: 'forecast.overdue' | 'forecast.undated';
  apart: ForecastView['overdue'];
}) {
  const state = title === 'forecast.overdue' ? 'overdue' : 'open';
  return (
    <FactList
      visit={visit}
      title={title}
      facts={[
        ['forecast.in', formatAmount(apart.in)],
        ['forecast.out', formatAmount(apart.out)],
        [
          'forecast.count',
          <a href={pathTo(visit, `expected-payments?state=${state}`)}>
            {formatCount(apart.count)}
          </a>,
        ],
        ['forecast.withoutAmount', formatCount(apart.withoutAmount)],
      ]}
    />
  );
}

/** A day on which nothing is expected or came has the balance of the day before. */
function hasMovement(today: string) {
  return ({ date, expectedIn, expectedOut, statement }: ForecastDay) =>
    date === today ||
    [expectedIn, expectedOut, statement?.in ?? 0n, statement?.out ?? 0n].some((one) => one !== 0n);
}

function DayRow({ visit, day, today }: { visit: Visit; day: ForecastDay; today: string }) {
  const { t } = visit;
  const cell = (cents: bigint | undefined) => (
    <td class="number">{cents !== undefined && cents !== 0n && <Amount cents={cents} />}</td>
  );
  return (
    <tr>
      <th scope="row">
        {printDay(day.date)}{' '}
        {day.date === today && <Badge tone="plain" text={t('forecast.today')} />}
      </th>
      {cell(day.expectedIn)}
      {cell(day.expectedOut)}
      {cell(day.statement?.in)}
      {cell(day.statement?.out)}
      <td class="number">
        <Amount cents={day.closingBalance} />
        {day.isProjected && <div class="hint">{t('forecast.projected')}</div>}
      </td>
    </tr>
  );
}
