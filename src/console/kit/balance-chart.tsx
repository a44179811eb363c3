// The balance at the end of each day, as a line. The table beside it has the same figures.
import type { JSX } from 'preact';
import { printDay } from '../../brazil/printed-text.js';
import type { Cents } from '../../brazil/cents.js';
import { formatAmount } from '../formats.js';
import type { Visit } from '../requests.js';
import { balancePlane, plane, rangeOf } from './balance-path.js';

export function ForecastChart({
  visit: { t },
  days,
  today,
}: {
  visit: Visit;
  days: readonly { date: string; closingBalance: Cents; isProjected: boolean }[];
  today: string;
}): JSX.Element | null {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  const balances = days.map(({ closingBalance }) => closingBalance);
  const found = days.findIndex(({ isProjected }) => isProjected);
  const firstProjected = found === -1 ? days.length : found;
  const { past, projected, zeroY, points } = balancePlane(balances, firstProjected);
  const [least, greatest] = rangeOf(balances);
  const { width, height } = plane;
  const todayAt = points[days.findIndex(({ date }) => date === today)];
  return (
    <>
      <p class="legend">
        <span class="legend-past">{t('forecast.legendPast')}</span>{' '}
        <span class="legend-projected">{t('forecast.legendProjected')}</span>
      </p>
      <div class="ends">
        <span>{t('forecast.greatest', { amount: formatAmount(greatest) })}</span>
        <span>{t('forecast.leastShort', { amount: formatAmount(least) })}</span>
      </div>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={t('forecast.chartLabel', {
          from: printDay(first.date),
          to: printDay(last.date),
          least: formatAmount(least),
          greatest: formatAmount(greatest),
        })}
      >
        {zeroY !== null && <line class="zero" x1="0" x2={width} y1={zeroY} y2={zeroY} />}
        {todayAt && <line class="today" x1={todayAt.x} x2={todayAt.x} y1="0" y2={height} />}
        {past !== '' && <path class="balance" d={past} />}
        {projected !== '' && <path class="balance projected" d={projected} />}
      </svg>
      <div class="ends">
        <span>{printDay(first.date)}</span>
        <span>{printDay(last.date)}</span>
      </div>
    </>
  );
}
