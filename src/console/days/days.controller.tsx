// The days of the statement: their certificates, what the next one waits for, and files.
import { Controller } from '@nestjs/common';
import { parsePlainDate } from '../../brazil/calendar.js';
import { listDayCloses } from '../../reporting/day-closes/day-closes.schema.js';
import { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import { WaitingDays } from '../../reporting/day-closes/waiting-days.service.js';
import type { OpenedFile } from '../../reporting/exports/file-streams.service.js';
import { AppError } from '../../platform/errors.js';
import { RunsService } from '../../reconciliation/runs/runs.service.js';
import { exportFormats, exportTransactions } from '../../reporting/exports/exports.schema.js';
import { formatDay } from '../formats.js';
import { BalanceNotice } from '../kit/balances.js';
import { Pager, Message, Cards } from '../kit/elements.js';
import { Filters } from '../kit/filters.js';
import { FormCard, reasonField, type FormField, type FormFields } from '../kit/form.js';
import { ListCard } from '../kit/list-page.js';
import { type ListColumns, TableCard } from '../kit/table.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { readFilters } from '../list-query.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Download, Redirect, Shown, type PageAnswer } from '../page.js';
import {
  accountOf,
  auditedWord,
  callerOf,
  requireReason,
  typed,
  useVisit,
  type Visit,
} from '../visit.js';
import { typedDay } from '../typed-day.js';
import { CertificateState, DaysWaiting, Explained } from './day-elements.js';
import { DayFiles } from './day-files.service.js';

/** The days of a page: a month fits. */
const pageSize = 31;
const dates = {
  from: { label: 'word.from', is: 'date' },
  to: { label: 'word.to', is: 'date' },
} as const satisfies FormFields;

@Controller()
export class DaysPages {
  constructor(
    private readonly dayCloses: DayCloses,
    private readonly waiting: WaitingDays,
    private readonly files: DayFiles,
    private readonly runs: RunsService,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('days', 'view', { title: 'days.title', section: 'statement', place: 42 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const { id } = accountOf(visit);
    const { filters, wrong } = readFilters(listDayCloses.query, query);
    const [{ data, next }, waiting, balances, { StepChart }] = await Promise.all([
      this.dayCloses.list(id, { ...filters, limit: pageSize }),
      this.waiting.find(id),
      this.money.findBalances(id),
      import('../kit/day-charts.js'),
    ]);
    const unexplained = await this.dayCloses.countUnexplained(
      id,
      data.map(({ date }) => date),
    );
    const oldestFirst = data.map(({ date: day, closing: cents }) => ({ day, cents })).reverse();
    const body = (
      <>
        {query.has('started') && <Message kind="good">{t('days.runStarted')}</Message>}
        <BalanceNotice balances={balances} />
        <DaysWaiting waiting={waiting} isFirst={data.length === 0 && query.size === 0} />
        <Filters
          wrong={wrong}
          fields={[
            { name: 'from', label: 'word.from', type: 'date' },
            { name: 'to', label: 'word.to', type: 'date' },
          ]}
        />
        {data.length > 1 && (
          <ListCard>
            <StepChart title="chart.balance" days={oldestFirst} />
          </ListCard>
        )}
        <TableCard
          {...{ rows: data, title: 'days.certified', empty: 'days.empty' }}
          columns={columnsOf(visit, unexplained)}
        >
          <Pager next={next} />
        </TableCard>
        <Forms />
      </>
    );
    return new Shown(t('days.title'), body);
  }
  @ConsoleAction('days/run', 'resolve breaks', 'start reconciliation', 'account :account')
  @ShownAgainBy('list')
  async run(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    requireReason(visit);
    await this.runs.request(accountId, actor);
    return new Redirect(`${visit.to('days')}?started=1`);
  }

  @ConsoleAction(
    'days/files',
    'take files',
    'take file',
    (visit) =>
      `file statement ${['format', 'from', 'to'].map((name) => auditedWord(visit, name)).join(' ')}`,
  )
  async download(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.orProblem(visit, async () => {
      const { filters, wrong } = readFilters(exportTransactions.query, visit.form);
      if (wrong.length > 0) throw new AppError('validation_failed');
      return this.files.openStatement(callerOf(visit), filters);
    });
  }

  @ConsoleAction(
    'days/report',
    'take files',
    'take file',
    (visit) => `file month ${auditedWord(visit, 'month')}`,
  )
  async report(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.orProblem(visit, () => {
      const month = typedDay(typed(visit, 'month'));
      if (parsePlainDate(`${month}-01`) === null) throw new AppError('validation_failed');
      return this.files.openReport(accountOf(visit), month);
    });
  }

  /** The file; where there is none, the page says why. */
  private async orProblem(visit: Visit, open: () => Promise<OpenedFile>): Promise<PageAnswer> {
    try {
      const { body, name, contentType } = await open();
      return new Download(body, name, contentType);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      // The words of its reason say more than those of a field.
      const reason = error.details.reason ?? error.code;
      visit.problem = new AppError(error.code, { reason });
      return this.list(visit);
    }
  }
}

type Listed = Awaited<ReturnType<DayCloses['list']>>;
type ListedDay = Listed['data'][number];

function columnsOf(visit: Visit, unexplained: ReadonlyMap<string, bigint>): ListColumns<ListedDay> {
  const { language } = visit;
  return {
    'word.day': {
      isLead: true,
      href: ({ date }) => visit.to(`days/${date}`),
      wide: ({ date }) => formatDay(date, language),
    },
    'days.certificate': ({ revision }) => <CertificateState revision={revision} />,
    'days.explained': ({ date }) => <Explained lines={unexplained.get(date)} />,
    'days.opening': { isDetail: true, cents: ({ opening }) => opening },
    'chart.in': { isDetail: true, cents: ({ credits }) => credits },
    'chart.out': { isDetail: true, cents: ({ debits }) => debits },
    'days.closing': { cents: ({ closing }) => closing },
    'word.lines': { isDetail: true, count: ({ counts }) => counts.lines },
    'line.state.in_break': {
      isDetail: true,
      count: ({ counts: { inBreak } }) => Object.values(inBreak).reduce((sum, one) => sum + one, 0),
    },
    'days.differences': {
      isDetail: true,
      count: ({ reconcilingItems }) => reconcilingItems.length,
    },
  };
}

/** The files that a person may take, and what starts a reconciliation. */
function Forms() {
  const visit = useVisit();
  const format: FormField = {
    label: 'word.format',
    is: 'choice',
    options: exportFormats.map((one) => [one, visit.t(`days.format.${one}`)]),
  };
  const month = { label: 'word.month', is: 'month', required: true } as const;
  return (
    <Cards>
      {visit.may('take files') && (
        <>
          <FormCard
            {...{ action: visit.to('days/files'), fields: { ...dates, format } }}
            title="days.files"
            area="exports.problem"
            button="word.download"
          />
          <FormCard
            {...{ action: visit.to('days/report'), fields: { month } }}
            title="days.report"
            area="exports.problem"
            button="word.download"
          />
        </>
      )}
      {visit.may('resolve breaks') && (
        <FormCard
          {...{ action: visit.to('days/run'), fields: reasonField }}
          title="days.run"
          intro="days.runHint"
          button="days.run"
        />
      )}
    </Cards>
  );
}
