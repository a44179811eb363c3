// The page of the finance director: the money of the account on one screen of a telephone.
import { Controller } from '@nestjs/common';
import { addDays } from '../../brazil/calendar.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import type { getCashForecast } from '../../reporting/cash-forecast/cash-forecast.schema.js';
import { CashForecasts } from '../../reporting/cash-forecast/cash-forecast.service.js';
import { formatAmount, formatCount, formatDay } from '../formats.js';
import {
  Amount,
  Card,
  KeyFigures,
  Message,
  Folded,
  Muted,
  type KeyFigure,
} from '../kit/elements.js';
import { BalanceNotice } from '../kit/balances.js';
import { ListTable } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import { accountOf, type Visit } from '../visit.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import type { TextKey } from '../texts.js';
import { listBreakSpans } from './open-work.queries.js';
import { expectedWithin, unexplainedByDay } from './overview.js';
import { TodayFactsReader, type TodayReading } from './today-facts.service.js';

/** Today, and the 30 days before it. */
const trendDays = 31;
const horizons = [7, 30] as const;

type Forecast = RouteOutput<typeof getCashForecast>;
type Trend = ReturnType<typeof unexplainedByDay>;

@Controller()
export class OverviewPage {
  constructor(
    private readonly facts: TodayFactsReader,
    private readonly forecasts: CashForecasts,
    private readonly database: Database,
  ) {}

  @ConsolePage('overview', 'view', { title: 'overview.title', section: 'today', place: 11 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, language, time } = visit;
    const { id } = accountOf(visit);
    const [reading, forecast] = await Promise.all([this.facts.read(id), this.findForecast(id)]);
    const from = addDays(reading.today, 1 - trendDays);
    const [spans, { StepChart }] = await Promise.all([
      listBreakSpans(this.database.prisma, id, from),
      import('../kit/day-charts.js'),
    ]);
    const trend = unexplainedByDay(spans, reading.today, trendDays);
    const figures = [
      ...cashFigures(visit, reading),
      ...(forecast instanceof AppError ? [] : expectedFigures(visit, forecast)),
      ...openFigures(visit, reading, trend),
    ];
    const body = (
      <>
        {!reading.summary.complete && reading.summary.total > 0n && (
          <Message kind="bad">{t('today.incomplete')}</Message>
        )}
        <BalanceNotice balances={reading.balances} isDoubtOnly />
        <KeyFigures figures={figures} />
        {forecast instanceof AppError && <Message kind="warn">{t(problemKey(forecast))}</Message>}
        <Muted>{t('overview.synced', { time: time(reading.summary.syncedAt) })}</Muted>
        <Card>
          <StepChart title="overview.trend" days={trend} />
          <Folded title={t('today.figures')}>
            <ListTable
              {...{ name: 'overview.trend', rows: [...trend].reverse() }}
              columns={{
                'word.day': ({ day }) => formatDay(day, language),
                'overview.unexplained': { cents: ({ cents }) => cents },
              }}
            />
          </Folded>
        </Card>
      </>
    );
    return new Shown(t('overview.title'), body);
  }

  /** Where too much is open for a forecast, the page says so and shows the rest. */
  private async findForecast(accountId: number): Promise<Forecast | AppError> {
    try {
      return await this.forecasts.read(accountId, {});
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }
}

/** What the account has, and what moved today. */
function cashFigures(visit: Visit, { balances, totals, today }: TodayReading) {
  const { statement: newest, bank: liveBalance } = balances;
  const { t, time } = visit;
  const ofToday = totals.filter(({ day }) => day === today);
  const sumOf = (of: (total: (typeof totals)[number]) => bigint) =>
    ofToday.reduce((sum, total) => sum + of(total), 0n);
  const agreement = liveBalance?.agrees ? t('overview.agrees', { at: time(liveBalance.at) }) : '';
  const at = newest.at && t('today.balanceAt', { at: time(newest.at) });
  const figures: KeyFigure[] = [
    {
      name: t('overview.cash'),
      value: newest.cents === null ? t('app.none') : <Amount cents={newest.cents} />,
      hint: [at, agreement].filter(Boolean).join(' '),
      isWide: true,
    },
    {
      name: t('overview.inToday'),
      value: <Amount cents={sumOf(({ creditCents }) => creditCents)} />,
    },
    {
      name: t('overview.outToday'),
      value: <Amount cents={sumOf(({ debitCents }) => debitCents)} />,
    },
  ];
  return figures;
}

function expectedFigures({ t }: Visit, { days, today, overdue }: Forecast): KeyFigure[] {
  return horizons.flatMap((count) => {
    const expected = expectedWithin(days, today, count);
    const late = (cents: bigint) =>
      cents > 0n ? t('overview.overdue', { amount: formatAmount(cents) }) : null;
    const figure = (name: TextKey, side: 'in' | 'out'): KeyFigure => ({
      name: t(name, { count }),
      value: <Amount cents={expected[side]} />,
      // Beside the nearer sum: what is late is in neither.
      hint: count === horizons[0] ? late(overdue[side]) : null,
    });
    return [figure('overview.expectedIn', 'in'), figure('overview.expectedOut', 'out')];
  });
}

/** What nobody has explained or approved yet. */
function openFigures(visit: Visit, { work }: TodayReading, trend: Trend): KeyFigure[] {
  const { t } = visit;
  const sumOf = (found: TodayReading['work']) => ({
    cents: found.reduce((sum, { cents }) => sum + cents, 0n),
    count: found.reduce((sum, { count }) => sum + count, 0n),
  });
  const breaks = sumOf(work.filter(({ topic }) => topic === 'break'));
  const approvals = sumOf(work.filter(({ name }) => name === 'awaiting_approval'));
  return [
    {
      name: t('overview.unexplained'),
      value: (
        <a href={visit.to('breaks?state=open')}>
          <Amount cents={breaks.cents} />
        </a>
      ),
      hint: t('overview.breaks', {
        count: formatCount(breaks.count),
        before: formatAmount(trend[0]?.cents ?? 0n),
      }),
      isWide: true,
    },
    {
      name: t('overview.approvals'),
      value: (
        <a href={visit.to('approvals')}>
          <Amount cents={approvals.cents} />
        </a>
      ),
      hint: t('overview.payments', { count: formatCount(approvals.count) }),
      isWide: true,
    },
  ];
}
