// The part of *Today* that follows what changes. Pages of one account, language and role show the
// same.
import type { JSX } from 'preact';
import { chartDaysOf, type ChartDay } from '../kit/chart-days.js';
import { Amount, Card, FactList } from '../kit/elements.js';
import {
  formatAmount,
  formatClock,
  formatCount,
  formatDay,
  formatDuration,
  formatTime,
} from '../formats.js';
import { DataTable, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { pathTo } from '../visit.js';
import type { TodayReading } from './today-facts.service.js';
import { chartDays, findProblems, findWork, type Problem } from './today.js';

type Charts = typeof import('../kit/day-charts.js');
interface Props {
  visit: Visit;
  reading: TodayReading;
}

export function TodayPart({ visit, reading, charts }: Props & { charts: Charts }): JSX.Element {
  const { t, language } = visit;
  return (
    <>
      <State visit={visit} reading={reading} />
      {reading.summary.total === 0n && (
        <p>
          <Figure visit={visit} page="first-steps">
            {t('firstSteps.link')}
          </Figure>
        </p>
      )}
      <div class="cards four">
        <Statement visit={visit} reading={reading} />
        <Breaks visit={visit} reading={reading} />
        <Kinds visit={visit} reading={reading} />
        <Lines visit={visit} reading={reading} />
      </div>
      <Movements visit={visit} reading={reading} charts={charts} />
      <div class="cards four">
        <Traffic visit={visit} reading={reading} />
      </div>
      <p class="hint">{t('app.updated', { time: formatClock(reading.now, language) })}</p>
    </>
  );
}

/** A figure that leads to its list. Its id lets the focus stay where the part is replaced. */
function Figure({
  visit,
  page,
  at = 'figure',
  children,
}: {
  visit: Visit;
  page: string;
  /** Distinguishes the ids of two links to one page. */
  at?: string;
  children: string;
}) {
  return (
    <a id={`${at}-${page.replace(/[^a-z0-9]+/gi, '-')}`} href={pathTo(visit, page)}>
      {children}
    </a>
  );
}

function State({ visit, reading }: Props) {
  const { t } = visit;
  const { summary, liveBalance, pending, firingAlerts } = reading;
  const facts = {
    ...{ ...summary, pending, firingAlerts },
    balanceAgrees: liveBalance?.agrees ?? null,
  };
  const problems = findProblems(facts);
  const [first, ...others] = problems;
  const write = ({ key, count, page }: Problem) => (
    <Figure visit={visit} page={page} at="problem">
      {t(key, count === null ? {} : { count: formatCount(count) })}
    </Figure>
  );
  return (
    <>
      {summary.mode !== 'live' && (
        <Message kind="warn">
          {t('today.stopped', { reason: summary.modeReason ?? t(`today.mode.${summary.mode}`) })}
        </Message>
      )}
      <div class={`notice state ${first ? 'bad' : 'good'}`} role="status">
        {first ? write(first) : t(summary.total > 0n ? 'today.explained' : 'today.noLines')}
        {others.length > 0 && (
          <ul>
            {others.map((problem) => (
              <li>{write(problem)}</li>
            ))}
          </ul>
        )}
      </div>
      {findWork(facts).map((work) => (
        <Message kind="warn">{write(work)}</Message>
      ))}
    </>
  );
}

/** By whether the bank's balance is that of the newest line. */
const agreementKeys = {
  true: 'today.agrees',
  false: 'today.differs',
  null: 'today.unknownAgreement',
} as const;

function Statement({ visit, reading: { summary, liveBalance } }: Props) {
  const { t, language } = visit;
  const none = t('app.none');
  const { balanceCents, lastNsu, closedUntil } = summary;
  return (
    <FactList
      visit={visit}
      title="today.statement"
      facts={[
        [
          'today.lastNsu',
          lastNsu === null ? (
            none
          ) : (
            <Figure visit={visit} page="statement">
              {lastNsu.toString()}
            </Figure>
          ),
        ],
        ['today.balance', balanceCents === null ? none : formatAmount(balanceCents)],
        [
          'today.bankBalance',
          liveBalance === null
            ? none
            : t(agreementKeys[String(liveBalance.agrees) as keyof typeof agreementKeys], {
                amount: formatAmount(liveBalance.amountCents),
                at: formatTime(liveBalance.at, language),
              }),
        ],
        [
          'today.closedUntil',
          <Figure visit={visit} page="days">
            {closedUntil === null ? t('days.title') : formatTime(closedUntil, language)}
          </Figure>,
        ],
        ['today.syncedAt', formatTime(summary.syncedAt, language)],
      ]}
    />
  );
}

function Lines({ visit, reading: { summary, pending } }: Props) {
  const count = (key: TextKey, page: string, value: bigint) =>
    [
      key,
      <Figure visit={visit} page={page}>
        {formatCount(value)}
      </Figure>,
    ] as const;
  return (
    <FactList
      visit={visit}
      title="today.lines"
      facts={[
        ['today.total', formatCount(summary.total)],
        count('today.matched', 'statement?state=matched', summary.matched),
        count('today.classified', 'statement?state=classified', summary.classified),
        count('today.inBreak', 'statement?state=in_break', summary.inBreak),
        count('today.pendingLines', 'statement?state=pending', pending),
        count('today.unreadable', 'breaks?kind=unreadable_line', summary.unreadableLines),
      ]}
    />
  );
}

/** Open breaks by severity, by age and by kind. */
function Breaks({ visit, reading: { summary, breaks } }: Props) {
  const { t } = visit;
  if (summary.openBreaks === 0n)
    return (
      <Card title={t('today.breaks')}>
        <p class="muted">{t('today.noBreaks')}</p>
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
      <dl>
        {rows.map(({ name, page, count }) => (
          <>
            <dt>{name}</dt>
            <dd>
              <Figure visit={visit} page={page}>
                {formatCount(count)}
              </Figure>
            </dd>
          </>
        ))}
      </dl>
    </Card>
  );
}

/** Open breaks by kind, the most frequent first. */
function Kinds({ visit, reading: { breaks } }: Props) {
  if (breaks.byKind.length === 0) return null;
  return (
    <Card title={visit.t('today.byKind')}>
      <dl>
        {breaks.byKind.map(({ kind, breaks: count }) => (
          <>
            <dt>{nameOfBreak(visit, kind)}</dt>
            <dd>
              <Figure visit={visit} page={`breaks?state=open&kind=${kind}`}>
                {formatCount(count)}
              </Figure>
            </dd>
          </>
        ))}
      </dl>
    </Card>
  );
}

function nameOfBreak({ t }: Visit, kind: string): string {
  const key = findTextKey(`break.${kind}`);
  return key ? t(key) : kind;
}

function Movements({ visit, reading, charts }: Props & { charts: Charts }) {
  const { t } = visit;
  const path = pathTo(visit, 'today');
  const { MoneyChart, OutcomeChart } = charts;
  const days = chartDaysOf(reading.totals, reading.today, chartDays);
  const filled = days.filter(({ lines }) => Object.values(lines).some((count) => count > 0n));
  return (
    <Card title={t('today.movements')}>
      {filled.length === 0 ? (
        <p class="muted">{t('today.noMovements')}</p>
      ) : (
        <>
          <div class="cards">
            <MoneyChart visit={visit} days={days} />
            <OutcomeChart visit={visit} days={days} />
          </div>
          <p>
            <a id="toggle-figures" href={hasTable(visit) ? path : `${path}?table=1#figures`}>
              {t(hasTable(visit) ? 'today.hideFigures' : 'today.figures')}
            </a>
          </p>
          <Figures visit={visit} days={[...filled].reverse()} />
        </>
      )}
    </Card>
  );
}

const figureColumns: readonly TextKey[] = [
  ...(['chart.day', 'chart.in', 'chart.out', 'chart.matched', 'chart.classified'] as const),
  ...(['chart.in_break', 'chart.pending'] as const),
];

/** Whether the figures of the charts are shown as a table. The address says so. */
function hasTable({ query }: Visit): boolean {
  return query.has('table');
}

/** The figures of the charts. Unless they are asked for, only readers of the screen have them. */
function Figures({ visit, days }: { visit: Visit; days: readonly ChartDay[] }) {
  const { t, language } = visit;
  const isShown = hasTable(visit);
  const rows = days.map(({ day, creditCents, debitCents, lines }) => (
    <tr>
      <td>
        {isShown ? (
          <Figure visit={visit} page={`statement?day=${day}`}>
            {formatDay(day, language)}
          </Figure>
        ) : (
          formatDay(day, language)
        )}
      </td>
      {[creditCents, debitCents].map((cents) => (
        <td class="number">
          <Amount cents={cents} />
        </td>
      ))}
      {[lines.matched, lines.classified, lines.in_break, lines.pending].map((count) => (
        <td class="number">{formatCount(count)}</td>
      ))}
    </tr>
  ));
  if (isShown)
    return (
      <div id="figures">
        <DataTable
          visit={visit}
          name={t('today.movements')}
          columns={figureColumns}
          numbers={figureColumns.slice(1)}
        >
          {rows}
        </DataTable>
      </div>
    );
  return (
    <div class="unseen">
      <table id="figures">
        <caption>{t('today.movements')}</caption>
        <thead>
          <tr>
            {figureColumns.map((key) => (
              <th scope="col">{t(key)}</th>
            ))}
          </tr>
        </thead>
        <tbody>{rows}</tbody>
      </table>
    </div>
  );
}

/** What passes between the bank, this service and the company's systems. */
function Traffic({ visit, reading: { summary, webhooks, queue } }: Props) {
  const none = visit.t('app.none');
  const link = (key: TextKey, page: string, text: string) =>
    [
      key,
      <Figure visit={visit} page={page}>
        {text}
      </Figure>,
    ] as const;
  const count = (key: TextKey, page: string, value: bigint) => link(key, page, formatCount(value));
  const median = webhooks?.p50 ?? null;
  return (
    <>
      <FactList
        visit={visit}
        title="today.operations"
        facts={[
          count('today.sending', 'operations?state=sending', summary.sending),
          count('today.unknownOperations', 'operations?state=unknown', summary.unknown),
          count('today.needsOperator', 'operations?state=needs_operator', summary.needsOperator),
          count('today.awaitingApproval', 'approvals', summary.awaitingApproval),
        ]}
      />
      <FactList
        visit={visit}
        title="today.webhooks"
        facts={[
          count('today.received', 'webhooks', summary.webhooksReceived),
          count('today.pendingWebhooks', 'webhooks?state=pending', summary.webhooksPending),
          count('today.quarantined', 'webhooks?state=quarantined', summary.webhooksQuarantined),
          link('today.lost', 'webhook-health', webhooks ? formatCount(webhooks.lost) : none),
          ['today.delay', median === null ? none : formatDuration(median)],
        ]}
      />
      <FactList
        visit={visit}
        title="today.deliveries"
        facts={[
          count('today.pendingDeliveries', 'deliveries?state=pending', summary.deliveriesPending),
          count('today.dead', 'deliveries?state=dead', summary.deliveriesDead),
        ]}
      />
      <FactList
        visit={visit}
        title="today.queue"
        facts={[
          ['today.queued', formatCount(queue.jobs)],
          ['today.oldest', queue.jobs === 0 ? none : formatDuration(queue.oldestSeconds * 1_000)],
        ]}
      />
    </>
  );
}
