// The cash forecast as figures, a chart and a table of its days.
import type { getCashForecast } from '../../reporting/cash-forecast/cash-forecast.schema.js';
import { printDay } from '../../brazil/printed-text.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Amount, Badge, Card, FactList, Cards, Hint } from '../kit/elements.js';
import { formatAmount, formatCount } from '../formats.js';
import { type ListColumn, TableCard } from '../kit/table.js';
import { useVisit } from '../visit.js';

type ForecastView = RouteOutput<typeof getCashForecast>;
type ForecastDay = ForecastView['days'][number];

interface ForecastProps {
  forecast: ForecastView;
}

export function Forecast(
  props: ForecastProps & { StepChart: (typeof import('../kit/day-charts.js'))['StepChart'] },
) {
  const { forecast, StepChart } = props;
  const { t, time } = useVisit();
  const days = forecast.days.map(({ date: day, closingBalance: cents, isProjected }) => ({
    ...{ day, cents, isProjected },
  }));
  const balances = days.map(({ cents }) => cents).sort((one, other) => (one < other ? -1 : 1));
  return (
    <>
      <Cards>
        <Balance {...props} />
        <Apart title="forecast.overdue" apart={forecast.overdue} />
        <Apart title="forecast.undated" apart={forecast.undated} />
      </Cards>
      <Card>
        <StepChart
          {...{ days, title: 'forecast.chart', today: forecast.today }}
          label={t('forecast.chartLabel', {
            from: printDay(forecast.from),
            to: printDay(forecast.to),
            least: formatAmount(balances[0] ?? 0n),
            greatest: formatAmount(balances.at(-1) ?? 0n),
          })}
        />
      </Card>
      <TableCard
        title="forecast.days"
        rows={forecast.days.filter(hasMovement(forecast.today))}
        columns={{
          'word.day': ({ date }) => (
            <>
              {printDay(date)}{' '}
              {date === forecast.today && <Badge tone="plain" text={t('section.today')} />}
            </>
          ),
          'forecast.expectedIn': moved(({ expectedIn }) => expectedIn),
          'forecast.expectedOut': moved(({ expectedOut }) => expectedOut),
          'forecast.lineIn': moved(({ statement }) => statement?.in),
          'forecast.lineOut': moved(({ statement }) => statement?.out),
          'forecast.closing': {
            is: 'number',
            cell: ({ closingBalance, isProjected }) => (
              <>
                <Amount cents={closingBalance} />
                {isProjected && <Hint isBlock>{t('forecast.projected')}</Hint>}
              </>
            ),
          },
        }}
      >
        <Hint isBlock>
          {t('forecast.daysWithout')} {t('forecast.synced', { time: time(forecast.syncedAt) })}
        </Hint>
      </TableCard>
    </>
  );
}

function Balance({ forecast: { days } }: ForecastProps) {
  const { t } = useVisit();
  const least = days.reduce<ForecastDay | null>(
    (lowest, day) => (lowest === null || day.closingBalance < lowest.closingBalance ? day : lowest),
    null,
  );
  const last = days.at(-1);
  const onDay = (day: ForecastDay | null | undefined, of: 'openingBalance' | 'closingBalance') =>
    day
      ? t('forecast.onDay', { amount: formatAmount(day[of]), day: printDay(day.date) })
      : t('app.none');
  return (
    <FactList
      title="forecast.balance"
      facts={[
        ['forecast.opening', onDay(days[0], 'openingBalance')],
        ['forecast.least', onDay(least, 'closingBalance')],
        ['forecast.last', onDay(last, 'closingBalance')],
      ]}
    />
  );
}

function Apart({
  title,
  apart,
}: {
  title: 'forecast.overdue' | 'forecast.undated';
  apart: ForecastView['overdue'];
}) {
  const { to } = useVisit();
  const state = title === 'forecast.overdue' ? 'overdue' : 'open';
  return (
    <FactList
      title={title}
      facts={[
        ['expectedPayment.credit', formatAmount(apart.in)],
        ['expectedPayment.debit', formatAmount(apart.out)],
        [
          'word.payments',
          <a href={to(`expected-payments?state=${state}`)}>{formatCount(apart.count)}</a>,
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

/** Nothing stands where nothing moved. */
function moved(of: (day: ForecastDay) => bigint | undefined): ListColumn<ForecastDay> {
  const cell = (day: ForecastDay) => {
    const cents = of(day) ?? 0n;
    return cents !== 0n && <Amount cents={cents} />;
  };
  return { is: 'number', cell };
}
