// Charts over days, as SVG. This file is loaded with the first page that draws one, because its
// libraries need not load when the service starts. Colour is never the only difference: what goes
// out points down, and each outcome has a pattern. Each chart has its figures in a table as well.
// Every axis has zero. Places are in percent: a chart is as wide as its card, with all of its days.
import { scaleBand, scaleLinear, type ScaleBand, type ScaleLinear } from 'd3-scale';
import { curveStep, line, stack } from 'd3-shape';
import type { ComponentChildren, JSX } from 'preact';
import type { PlainDate } from '../../brazil/calendar.js';
import type { Cents } from '../../brazil/cents.js';
import { chartOutcomes, type ChartDay } from './chart-days.js';
import { formatAmount, formatCount, formatDayOfMonth } from '../formats.js';
import type { TextKey } from '../texts.js';
import { useVisit } from '../visit.js';

const height = 230;
const inner = { top: 12, bottom: 200 };
/** Of the drawing of a line, which is stretched to the width of the chart. */
const span = 1_000;

type Amounts = ScaleLinear<number, number>;
/** A scale without amounts has round values too. */
const leastCents = 100;

/** Money in above the line of zero, money out below it. */
export function MoneyChart({ days }: { days: readonly ChartDay[] }) {
  const most = Math.max(leastCents, ...days.map(({ creditCents }) => Number(creditCents)));
  const least = Math.min(0, ...days.map(({ debitCents }) => -Number(debitCents)));
  const amounts = scaleLinear([least, most], [inner.bottom, inner.top]).nice(4);
  const places = placesOf(days);
  return (
    <Chart
      name="money"
      title="chart.money"
      legend={moneyLegend}
      values={{ amounts, write: writeCents }}
    >
      <Axes {...{ days, amounts }} />
      {days.map(({ day, creditCents, debitCents }) => (
        <>
          <Bar
            places={places}
            amounts={amounts}
            day={day}
            from={0}
            to={Number(creditCents)}
            kind="in"
          />
          <Bar
            {...{ places, amounts, day }}
            from={-Number(debitCents)}
            to={0}
            kind="out"
            fill="url(#money-out)"
          />
        </>
      ))}
    </Chart>
  );
}

const moneyLegend = [
  ['in', 'chart.in'],
  ['out', 'chart.out'],
] as const;

/** The lines of each day by their outcome, one above the other. */
export function OutcomeChart({ days }: { days: readonly ChartDay[] }) {
  const layers = stack<ChartDay, (typeof chartOutcomes)[number]>()
    .keys(chartOutcomes)
    .value(({ lines }, outcome) => Number(lines[outcome]))([...days]);
  const most = Math.max(1, ...layers.flat().map(([, to]) => to));
  const amounts = scaleLinear([0, most], [inner.bottom, inner.top]).nice(4);
  const places = placesOf(days);
  return (
    <Chart
      name="outcomes"
      title="chart.outcomes"
      legend={outcomeLegend}
      values={{ amounts, isWhole: true, write: formatCount }}
    >
      <Axes {...{ days, amounts }} isWhole />
      {layers.map((layer) =>
        layer.map(([from, to], index) => (
          <Bar
            {...{ places, amounts, from, to }}
            day={days[index]?.day ?? ''}
            kind={layer.key}
            fill={`url(#outcomes-${layer.key})`}
          />
        )),
      )}
    </Chart>
  );
}

const outcomeLegend = chartOutcomes.map((outcome) => [outcome, `chart.${outcome}`] as const);

interface StepDay {
  day: PlainDate;
  /** At the end of the day. */
  cents: Cents;
  /** The day is not over. */
  isProjected?: boolean;
}

/** What has one value until it changes, such as a balance: each day is a step. */
export function StepChart({
  title,
  label,
  days,
  today,
}: {
  title: TextKey;
  /** What a reader of the screen hears; the title without it. */
  label?: string;
  days: readonly StepDay[];
  /** Where days after today are shown. */
  today?: PlainDate;
}) {
  const values = days.map(({ cents }) => Number(cents));
  const ends = [Math.min(0, ...values), Math.max(leastCents, ...values)];
  const amounts = scaleLinear(ends, [inner.bottom, inner.top]).nice(4);
  const places = placesOf(days);
  const middle = middleOf(places);
  const pathOf = line<StepDay>()
    .curve(curveStep)
    .x(({ day }) => round((middle(day) / 100) * span))
    .y(({ cents }) => round(amounts(Number(cents))));
  const found = days.findIndex(({ isProjected }) => isProjected === true);
  const projectedFrom = found === -1 ? days.length : found;
  const last = days[projectedFrom - 1];
  // The projected part begins at the last day that is over, so that the line has no gap.
  const projected = days.slice(Math.max(projectedFrom - 1, 0));
  return (
    <Chart
      {...{ name: 'steps', title, label, legend: [], hasFuture: today !== undefined }}
      hasPast={projectedFrom > 0}
      values={{ amounts, write: writeCents }}
    >
      <Axes {...{ days, amounts }} />
      {today !== undefined && places(today) !== undefined && (
        <line class="today" {...columnAt(middle(today))} y1="0" y2={inner.bottom} />
      )}
      <svg
        viewBox={`0 0 ${span} ${height}`}
        width="100%"
        {...{ height }}
        preserveAspectRatio="none"
      >
        <path class="balance" d={pathOf(days.slice(0, projectedFrom)) ?? ''} />
        {projectedFrom < days.length && (
          <path class="balance projected" d={pathOf(projected) ?? ''} />
        )}
      </svg>
      {last && (
        <circle
          class="balance"
          {...{ cx: `${middle(last.day)}%`, cy: round(amounts(Number(last.cents))), r: 3 }}
        />
      )}
    </Chart>
  );
}

/** Where the days stand, in percent. */
function placesOf(days: readonly { day: PlainDate }[]): ScaleBand<string> {
  const names = days.map(({ day }) => day);
  return scaleBand(names, [0, 100]).paddingInner(0.25);
}

const middleOf = (places: ScaleBand<string>) => (day: PlainDate) =>
  round((places(day) ?? 0) + places.bandwidth() / 2);

const columnAt = (percent: number) => ({ x1: `${percent}%`, x2: `${percent}%` });

/** Without the cents: the axis shows whole amounts. */
function writeCents(cents: number): string {
  return formatAmount(BigInt(Math.round(cents))).replace(/,00$/, '');
}

interface BarProps {
  places: ScaleBand<string>;
  amounts: Amounts;
  day: PlainDate;
  from: number;
  to: number;
  /** The class that gives the colour. */
  kind: string;
  /** A pattern, where the bar is not plain. */
  fill?: string;
}

function Bar({ places, amounts, day, from, to, kind, fill }: BarProps) {
  if (from === to) return null;
  // The smallest amount is visible too.
  const size = Math.max(1, amounts(from) - amounts(to));
  return (
    <rect
      class={`bar-${kind}`}
      {...(fill ? { fill } : {})}
      x={`${round(places(day) ?? 0)}%`}
      y={round(amounts(to))}
      width={`${round(places.bandwidth())}%`}
      height={round(size)}
    />
  );
}

const round = (length: number) => Math.round(length * 100) / 100;

const ticksOf = (amounts: Amounts, isWhole = false) =>
  amounts.ticks(4).filter((value) => !isWhole || Number.isInteger(value));

/** Lines at round values, and a date below each fifth day. */
function Axes({
  days,
  amounts,
  isWhole,
}: {
  days: readonly { day: PlainDate }[];
  amounts: Amounts;
  isWhole?: boolean;
}) {
  const { language } = useVisit();
  const middle = middleOf(placesOf(days));
  const step = Math.max(1, Math.ceil(days.length / 6));
  return (
    <>
      {ticksOf(amounts, isWhole).map((value) => (
        <line
          class={value === 0 ? 'zero' : 'grid'}
          {...{ x1: 0, x2: '100%' }}
          {...{ y1: round(amounts(value)), y2: round(amounts(value)) }}
        />
      ))}
      {days
        // The last day always has its date.
        .filter((_, index) => (days.length - 1 - index) % step === 0)
        .map(({ day }) => (
          <text x={`${middle(day)}%`} y={inner.bottom + 20} text-anchor="middle">
            {formatDayOfMonth(day, language)}
          </text>
        ))}
    </>
  );
}

interface ChartProps {
  name: string;
  title: TextKey;
  /** What a reader of the screen hears; the title without it. */
  label?: string | undefined;
  /** Whether days that are not over follow. */
  hasFuture?: boolean;
  /** Whether days that are over come before them. */
  hasPast?: boolean;
  legend: readonly (readonly [kind: string, text: TextKey])[];
  /** At the left, one for each line. */
  values: { amounts: Amounts; isWhole?: boolean; write: (value: number) => string };
  children: ComponentChildren;
}

function Chart(props: ChartProps) {
  const { name, title, label, hasFuture, hasPast, legend, values, children } = props;
  const { t } = useVisit();
  const { amounts, isWhole, write } = values;
  return (
    <figure class="chart">
      <figcaption>
        <strong>{t(title)}</strong>
        {hasFuture && (
          <>
            {hasPast && <span class="legend-past">{t('chart.past')}</span>}
            <span class="legend-projected">{t('chart.projected')}</span>
          </>
        )}
        {legend.map(([kind, text]) => (
          <span class="key">
            <svg width="14" height="14" aria-hidden="true">
              <rect
                class={`bar-${kind}`}
                {...(kind === 'in' ? {} : { fill: `url(#${name}-${kind})` })}
                width="14"
                height="14"
              />
            </svg>
            {t(text)}
          </span>
        ))}
      </figcaption>
      <div class="drawing">
        <svg class="values" {...{ height }} aria-hidden="true">
          {ticksOf(amounts, isWhole).map((value) => (
            <text x="100%" y={round(amounts(value)) + 4} text-anchor="end">
              {write(value)}
            </text>
          ))}
        </svg>
        <svg class="plot" {...{ height }} role="img" aria-label={label ?? t(title)}>
          <title>{t(title)}</title>
          <defs>
            {legend.map(([kind]) => (
              <Pattern id={`${name}-${kind}`} kind={kind} />
            ))}
          </defs>
          {children}
        </svg>
      </div>
    </figure>
  );
}

/** What distinguishes a bar without its colour. */
function Pattern({ id, kind }: { id: string; kind: string }) {
  const marks: Record<string, JSX.Element> = {
    out: <path class="mark" d="M0 6L6 0" />,
    classified: <path class="mark" d="M0 6L6 0" />,
    in_break: <path class="mark" d="M0 0L6 6M0 6L6 0" />,
    pending: <circle class="mark" cx="3" cy="3" r="1.2" />,
  };
  return (
    <pattern {...{ id, width: 6, height: 6 }} patternUnits="userSpaceOnUse">
      <rect class={`bar-${kind}`} width="6" height="6" />
      {marks[kind]}
    </pattern>
  );
}
