// The list of certified days, with what the next one waits for.
import type { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import type { WaitingDay } from '../../reporting/day-closes/waiting-days.service.js';
import { exportFormats } from '../../reporting/exports/exports.schema.js';
import { Amount, Badge, Card, Empty, Filters, Pager } from '../kit/elements.js';
import { formatCount, formatDay } from '../formats.js';
import { DataTable, Field, Form, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { linkOfWaiting } from './day-outcomes.js';

type Listed = Awaited<ReturnType<DayCloses['list']>>;
export type ListedDay = Listed['data'] extends Iterable<infer Day> ? Day : never;

interface Props {
  visit: Visit;
  charts: typeof import('../kit/day-charts.js');
  dayCloses: readonly ListedDay[];
  next: string | null;
  waiting: WaitingDay;
  wrong: readonly string[];
  problem: TextKey | null;
}

export function DaysList({ visit, charts, dayCloses, next, waiting, wrong, problem }: Props) {
  const { t, query } = visit;
  const { BalanceChart } = charts;
  const oldestFirst = [...dayCloses]
    .reverse()
    .map(({ date: day, closing: closingCents }) => ({ day, closingCents }));
  return (
    <>
      {problem && <Message kind="bad">{t(problem)}</Message>}
      {query.has('started') && <Message kind="good">{t('days.runStarted')}</Message>}
      <DaysWaiting visit={visit} waiting={waiting} />
      <Filters
        visit={visit}
        wrong={wrong}
        fields={[
          { name: 'from', label: 'days.from', type: 'date' },
          { name: 'to', label: 'days.to', type: 'date' },
        ]}
      />
      {dayCloses.length > 1 && (
        <div class="card">
          <BalanceChart visit={visit} days={oldestFirst} />
        </div>
      )}
      <Card title={t('days.certified')}>
        {dayCloses.length === 0 ? (
          <Empty>{t('days.empty')}</Empty>
        ) : (
          <DaysTable visit={visit} dayCloses={dayCloses} />
        )}
        <Pager visit={visit} next={next} />
      </Card>
      <div class="cards">
        {isAllowedTo(visit, 'take files') && <Files visit={visit} />}
        {isAllowedTo(visit, 'resolve breaks') && <Run visit={visit} />}
      </div>
    </>
  );
}

/** What the next day waits for, with a link to what is in the way. */
export function DaysWaiting({ visit, waiting }: { visit: Visit; waiting: WaitingDay }) {
  const { t, language } = visit;
  const { date, reason, isAmendment, days } = waiting;
  const link = linkOfWaiting(reason, waiting);
  const kind = reason === 'not_over' ? 'good' : reason === 'differs' ? 'bad' : 'warn';
  return (
    <Message kind={kind}>
      {isAmendment && `${t('days.waiting.amendment')} `}
      {t(`days.waiting.${reason}`, { day: date ? formatDay(date, language) : '' })}
      {days > 1 && ` ${t('days.waiting.count', { count: formatCount(days) })}`}
      {link && (
        <>
          {' '}
          <a href={pathTo(visit, link.page)}>{t(link.text)}</a>
        </>
      )}
    </Message>
  );
}

const columns: readonly TextKey[] = [
  ...(['days.day', 'days.certificate', 'days.opening', 'days.credits', 'days.debits'] as const),
  ...(['days.closing', 'days.lines', 'days.inBreak', 'days.differences'] as const),
];

function DaysTable({ visit, dayCloses }: Pick<Props, 'visit' | 'dayCloses'>) {
  const { t, language } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('days.certified')}
      columns={columns}
      numbers={columns.slice(2)}
    >
      {dayCloses.map((day) => (
        <tr>
          <td>
            <a href={pathTo(visit, `days/${day.date}`)}>{formatDay(day.date, language)}</a>
          </td>
          <td>
            <CertificateState visit={visit} revision={day.revision} />
          </td>
          {[day.opening, day.credits, day.debits, day.closing].map((cents) => (
            <td class="number">
              <Amount cents={cents} />
            </td>
          ))}
          <td class="number">{formatCount(day.counts.lines)}</td>
          <td class="number">
            {formatCount(Object.values(day.counts.inBreak).reduce((sum, one) => sum + one, 0))}
          </td>
          <td class="number">{formatCount(day.reconcilingItems.length)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

export function CertificateState({ visit: { t }, revision }: { visit: Visit; revision: number }) {
  if (revision === 1) return <Badge tone="good" text={t('days.state.certified')} />;
  return <Badge tone="warn" text={t('days.state.amended', { revision })} />;
}

function Files({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('days.files')}>
      <Form visit={visit} action={pathTo(visit, 'days/files')}>
        <Field label={t('days.from')} type="date" name="from" />
        <Field label={t('days.to')} type="date" name="to" />
        <label>
          {t('days.format')}
          <select name="format">
            {exportFormats.map((format) => (
              <option value={format}>{t(`days.format.${format}`)}</option>
            ))}
          </select>
        </label>
        <button>{t('days.download')}</button>
      </Form>
      <h2 class="later">{t('days.report')}</h2>
      <Form visit={visit} action={pathTo(visit, 'days/report')}>
        <div class="row">
          <Field label={t('days.month')} type="month" name="month" required />
          <button>{t('days.download')}</button>
        </div>
      </Form>
    </Card>
  );
}

function Run({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('days.run')}>
      <p class="muted">{t('days.runHint')}</p>
      <Form visit={visit} action={pathTo(visit, 'days/run')}>
        <Field label={t('app.reason')} name="reason" required maxLength={500} />
        <button>{t('days.run')}</button>
      </Form>
    </Card>
  );
}
