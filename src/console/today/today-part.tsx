// The part of *Today* that follows what changes. Pages of one account, language and role show the
// same.
import { chartDaysOf, type ChartDay } from '../kit/chart-days.js';
import {
  Amount,
  Card,
  Empty,
  NamedValues,
  FactList,
  Message,
  Cards,
  Hint,
  Muted,
} from '../kit/elements.js';
import { formatAmount, formatClock, formatCount, formatDay } from '../formats.js';
import { ListTable, TableCard } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { type TextKey, wordOf } from '../texts.js';
import type { TodayReading } from './today-facts.service.js';
import {
  chartDays,
  findProblems,
  listWork,
  maxOverdue,
  type Problem,
  type WorkItem,
} from './today.js';

type Charts = typeof import('../kit/day-charts.js');
interface Props {
  reading: TodayReading;
}

export function TodayPart({ reading, charts }: Props & { charts: Charts }) {
  const { t, language } = useVisit();
  return (
    <>
      <State reading={reading} />
      {reading.summary.total === 0n && (
        <p>
          <Figure page="first-steps">{t('firstSteps.link')}</Figure>
        </p>
      )}
      <Work reading={reading} />
      <Cards is="four">
        <Statement reading={reading} />
        <Breaks reading={reading} />
        <Lines reading={reading} />
      </Cards>
      <Movements reading={reading} charts={charts} />
      <Muted>{t('app.updated', { time: formatClock(reading.now, language) })}</Muted>
    </>
  );
}

/** A figure that leads to its list. Its id lets the focus stay where the part is replaced. */
function Figure({
  page,
  at = 'figure',
  children,
}: {
  page: string;
  /** Distinguishes the ids of two links to one page. */
  at?: string;
  children: string;
}) {
  const visit = useVisit();
  return (
    <a id={`${at}-${page.replace(/[^a-z0-9]+/gi, '-')}`} href={visit.to(page)}>
      {children}
    </a>
  );
}

const countLink = (page: string, count: bigint | number) => (
  <Figure page={page}>{formatCount(count)}</Figure>
);

function State({ reading }: Props) {
  const { t, time } = useVisit();
  const { summary, balances, pending } = reading;
  const balanceAgrees = balances.bank?.agrees ?? null;
  const problems = findProblems({
    ...{ ...summary, now: reading.now, pending, balanceAgrees },
    notGuardedSince: reading.notGuardedSince,
  });
  const [first, ...others] = problems;
  const write = ({ key, count, since, page }: Problem) => (
    <Figure page={page} at="problem">
      {t(key, {
        ...(count === null ? {} : { count: formatCount(count) }),
        ...(since === null ? {} : { time: time(since) }),
      })}
    </Figure>
  );
  return (
    <>
      {summary.mode !== 'live' && (
        <Message kind="warn">
          {t('today.stopped', { reason: summary.modeReason ?? t(`today.mode.${summary.mode}`) })}
        </Message>
      )}
      <Message kind={first ? 'bad' : 'good'} is="state">
        {first ? write(first) : t(summary.total > 0n ? 'today.explained' : 'today.noLines')}
        {others.length > 0 && (
          <ul>
            {others.map((problem) => (
              <li>{write(problem)}</li>
            ))}
          </ul>
        )}
      </Message>
    </>
  );
}

/** What a person can take up now, with its money and where it is done. */
function Work({ reading: { work, firingAlerts } }: Props) {
  const { t } = useVisit();
  const items = listWork(work, firingAlerts);
  if (items.length === 0) return null;
  const overdue = work
    .filter(({ topic }) => topic === 'overdue')
    .reduce((sum, { count }) => sum + count, 0n);
  const name = ({ breakKind, label }: WorkItem) =>
    breakKind === null ? t(label) : wordOf(t, 'break', breakKind);
  return (
    <TableCard
      {...{ title: 'today.work', rows: items }}
      columns={{
        'word.what': {
          wide: (item) => (
            <Figure page={item.page} at={`work-${item.label.replace('.', '-')}`}>
              {name(item)}
            </Figure>
          ),
        },
        'word.count': { count: ({ count }) => count },
        'today.inReais': {
          is: 'number',
          cell: ({ cents, count, withoutAmount }) => (
            <>
              {cents === null ? (
                t('app.none')
              ) : withoutAmount === count ? (
                t('breaks.unknownAmount')
              ) : (
                <Amount cents={cents} />
              )}
              {withoutAmount > 0n && withoutAmount < count && (
                <Hint isBlock>
                  {t('today.withoutAmount', { count: formatCount(withoutAmount) })}
                </Hint>
              )}
            </>
          ),
        },
      }}
    >
      {overdue >= BigInt(maxOverdue) && (
        <Hint isBlock>{t('today.overdueAtMost', { count: formatCount(maxOverdue) })}</Hint>
      )}
    </TableCard>
  );
}

/** By whether the bank's balance is that of the newest line. */
const agreementKeys = {
  true: 'today.agrees',
  false: 'today.differs',
  null: 'today.unknownAgreement',
} as const;

function Statement({ reading: { summary, balances } }: Props) {
  const { statement: newest, bank: liveBalance } = balances;
  const { t, time } = useVisit();
  const none = t('app.none');
  const { lastNsu, closedUntil } = summary;
  return (
    <FactList
      title="word.statement"
      facts={[
        [
          'word.lastNsu',
          lastNsu === null ? none : <Figure page="statement">{lastNsu.toString()}</Figure>,
        ],
        [
          'today.balance',
          newest.cents === null ? (
            none
          ) : (
            <>
              <Amount cents={newest.cents} />
              <Hint isBlock>
                {t('today.balanceAt', { at: time(newest.at) })}{' '}
                {!summary.complete && t('today.isIncomplete')}
              </Hint>
            </>
          ),
        ],
        [
          'today.bankBalance',
          liveBalance === null
            ? none
            : t(agreementKeys[String(liveBalance.agrees) as keyof typeof agreementKeys], {
                amount: formatAmount(liveBalance.amountCents),
                at: time(liveBalance.at),
              }),
        ],
        [
          'word.closedUntil',
          <Figure page="days">{closedUntil === null ? t('days.title') : time(closedUntil)}</Figure>,
        ],
        ['word.syncedAt', time(summary.syncedAt)],
      ]}
    />
  );
}

function Lines({ reading: { summary, pending } }: Props) {
  const count = (key: TextKey, page: string, value: bigint) =>
    [key, countLink(page, value)] as const;
  return (
    <FactList
      title="word.lines"
      facts={[
        ['today.total', formatCount(summary.total)],
        count('chart.matched', 'statement?state=matched', summary.matched),
        count('chart.classified', 'statement?state=classified', summary.classified),
        count('line.state.in_break', 'statement?state=in_break', summary.inBreak),
        count('line.state.pending', 'statement?state=pending', pending),
        count('today.unreadable', 'breaks?kind=unreadable_line', summary.unreadableLines),
      ]}
    />
  );
}

/** Open breaks by severity, by age and by kind. */
function Breaks({ reading: { summary, breaks } }: Props) {
  const { t } = useVisit();
  if (summary.openBreaks === 0n)
    return (
      <Card title={t('today.breaks')}>
        <Empty>{t('today.noBreaks')}</Empty>
      </Card>
    );
  const open = (filter: string) => `breaks?state=open&${filter}`;
  const rows = [
    ...breaks.bySeverity.map(({ severity, breaks: count }) => ({
      ...{ count, name: t(`today.severity.${severity}`), page: open(`severity=${severity}`) },
    })),
    ...breaks.byAge.map(({ ages, opened, breaks: count }) => ({
      ...{
        count,
        page: open(`${opened.from ? `openedFrom=${opened.from}&` : ''}openedTo=${opened.to}`),
      },
      name:
        ages.to === null
          ? t('today.olderThan', { days: ages.from - 1 })
          : t(ages.from === 0 ? 'today.youngest' : 'today.ageDays', {
              ...{ from: ages.from, to: ages.to },
            }),
    })),
  ];
  return (
    <Card title={t('today.breaks')}>
      <NamedValues facts={rows.map(({ name, page, count }) => [name, countLink(page, count)])} />
    </Card>
  );
}

function Movements({ reading, charts }: Props & { charts: Charts }) {
  const visit = useVisit();
  const { t } = visit;
  const path = visit.to('today');
  const { MoneyChart, OutcomeChart } = charts;
  const days = chartDaysOf(reading.totals, reading.today, chartDays);
  const filled = days.filter(({ lines }) => Object.values(lines).some((count) => count > 0n));
  return (
    <Card title={t('today.movements')}>
      {filled.length === 0 ? (
        <Empty>{t('today.noMovements')}</Empty>
      ) : (
        <>
          <Cards>
            <MoneyChart days={days} />
            <OutcomeChart days={days} />
          </Cards>
          <p>
            <a id="toggle-figures" href={hasTable(visit) ? path : `${path}?table=1#figures`}>
              {t(hasTable(visit) ? 'today.hideFigures' : 'today.figures')}
            </a>
          </p>
          <Figures days={[...filled].reverse()} />
        </>
      )}
    </Card>
  );
}

/** Whether the figures of the charts are shown as a table. The address says so. */
function hasTable({ query }: Visit): boolean {
  return query.has('table');
}

/** The figures of the charts. Unless they are asked for, only readers of the screen have them. */
function Figures({ days }: { days: readonly ChartDay[] }) {
  const visit = useVisit();
  const { language } = visit;
  const isShown = hasTable(visit);
  return (
    <ListTable
      {...{ id: 'figures', name: 'today.movements', rows: days, isUnseen: !isShown }}
      columns={{
        'word.day': ({ day }) =>
          isShown ? (
            <Figure page={`statement?day=${day}`}>{formatDay(day, language)}</Figure>
          ) : (
            formatDay(day, language)
          ),
        'chart.in': { cents: ({ creditCents }) => creditCents },
        'chart.out': { cents: ({ debitCents }) => debitCents },
        'chart.matched': { count: ({ lines }) => lines.matched },
        'chart.classified': { count: ({ lines }) => lines.classified },
        'line.state.in_break': { count: ({ lines }) => lines.in_break },
        'line.state.pending': { count: ({ lines }) => lines.pending },
      }}
    />
  );
}
