// The days of the statement: their certificates, what the next one waits for, and files.
import { Controller } from '@nestjs/common';
import { parsePlainDate } from '../../brazil/calendar.js';
import { listDayCloses } from '../../reporting/day-closes/day-closes.schema.js';
import { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import { WaitingDays } from '../../reporting/day-closes/waiting-days.service.js';
import { exportTransactions } from '../../reporting/exports/exports.schema.js';
import type { OpenedFile } from '../../reporting/exports/file-streams.service.js';
import { AppError } from '../../platform/errors.js';
import { RunsService } from '../../reconciliation/runs/runs.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { readFilters } from '../list-query.js';
import { Download, Redirect, Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { accountOf, auditedWord, callerOf, pathTo, requireReason, typed } from '../visit.js';
import { DayFiles } from './day-files.service.js';
import { DaysList } from './days-list.js';

const days = '/console/accounts/:account/days';
/** The days of a page: a month fits. */
const pageSize = 31;

@Controller()
export class DaysPages {
  constructor(
    private readonly dayCloses: DayCloses,
    private readonly waiting: WaitingDays,
    private readonly files: DayFiles,
    private readonly runs: RunsService,
  ) {}

  @ConsolePage({
    path: days,
    needs: 'view',
    menu: { title: 'days.title', section: 'statement', place: 42 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({
    path: `${days}/run`,
    needs: 'resolve breaks',
    audit: {
      action: 'start reconciliation',
      subject: (visit) => `account ${accountOf(visit).slug}`,
    },
  })
  async run(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const { accountId, actor } = callerOf(visit);
    await this.runs.request(accountId, actor);
    return new Redirect(`${pathTo(visit, 'days')}?started=1`);
  }

  @ConsoleAction({
    path: `${days}/files`,
    needs: 'take files',
    audit: {
      action: 'take file',
      subject: (visit) =>
        `file statement ${['format', 'from', 'to'].map((name) => auditedWord(visit, name)).join(' ')}`,
    },
  })
  async download(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.orProblem(visit, async () => {
      const { filters, wrong } = readFilters(exportTransactions.query, visit.form);
      if (wrong.length > 0) throw new AppError('validation_failed');
      return this.files.openStatement(callerOf(visit), filters);
    });
  }

  @ConsoleAction({
    path: `${days}/report`,
    needs: 'take files',
    audit: {
      action: 'take file',
      subject: (visit) => `file month ${auditedWord(visit, 'month')}`,
    },
  })
  async report(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.orProblem(visit, () => {
      const month = typed(visit, 'month');
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
      return this.page(visit, {
        key: problemKey(error, 'exports.problem'),
        status: error.status,
      });
    }
  }

  private async page(
    visit: Visit,
    problem: { key: TextKey; status: number } | null = null,
  ): Promise<Shown> {
    const { t, query } = visit;
    const { id } = accountOf(visit);
    const { filters, wrong } = readFilters(listDayCloses.query, query);
    const [{ data, next }, waiting, charts] = await Promise.all([
      this.dayCloses.list(id, { ...filters, limit: pageSize }),
      this.waiting.find(id),
      import('../kit/day-charts.js'),
    ]);
    const props = { visit, charts, next, waiting, wrong, problem: problem?.key ?? null };
    const body = <DaysList {...props} dayCloses={[...data]} />;
    return new Shown(t('days.title'), body, problem ? { status: problem.status } : {});
  }
}
