// The export files of the account: a form for each, and its download. A download is recorded in the
// audit, because files hold personal data.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import {
  exportFormats,
  exportOpenBreaks,
  exportTransactions,
  getMonthReport,
  tableFormats,
} from '../../reporting/exports/exports.schema.js';
import type { OpenedFile } from '../../reporting/exports/file-streams.service.js';
import { MonthReports } from '../../reporting/exports/month-reports.service.js';
import { OpenItemFiles } from '../../reporting/exports/open-item-files.service.js';
import { TransactionFiles } from '../../reporting/exports/transaction-files.service.js';
import { AppError } from '../../platform/errors.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { Card } from '../kit/elements.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Field, Form, Message } from '../kit/frame.js';
import { Download, Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { accountOf, auditedWord, callerOf, isAllowedTo, pathTo } from '../visit.js';

const exported = '/console/accounts/:account/exports';
const needs = 'take files';
const action = 'take file';

@Controller()
export class ExportPages {
  constructor(
    private readonly files: TransactionFiles,
    private readonly openItems: OpenItemFiles,
    private readonly reports: MonthReports,
    private readonly bankTime: BankTime,
  ) {}

  @ConsolePage({
    path: exported,
    needs: 'view',
    menu: { title: 'exports.title', section: 'files', place: 51 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({
    path: `${exported}/statement`,
    needs,
    audit: {
      action,
      subject: (visit) =>
        `file statement ${['format', 'from', 'to'].map((name) => auditedWord(visit, name)).join(' ')}`,
    },
  })
  async statement(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.files.open(callerOf(visit), given(visit, exportTransactions.query)),
    );
  }

  @ConsoleAction({
    path: `${exported}/breaks`,
    needs,
    audit: { action, subject: (visit) => `file breaks ${auditedWord(visit, 'format')}` },
  })
  async breaks(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.openItems.openBreaks(callerOf(visit), given(visit, exportOpenBreaks.query)),
    );
  }

  @ConsoleAction({
    path: `${exported}/overdue`,
    needs,
    audit: { action, subject: (visit) => `file overdue ${auditedWord(visit, 'format')}` },
  })
  async overdue(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.openItems.openOverduePayments(callerOf(visit), given(visit, exportOpenBreaks.query)),
    );
  }

  @ConsoleAction({
    path: `${exported}/month`,
    needs,
    audit: { action, subject: (visit) => `file month ${auditedWord(visit, 'month')}` },
  })
  async month(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, async () => {
      const { month } = given(visit, getMonthReport.params);
      const page = await this.reports.page(accountOf(visit).id, month);
      return {
        name: `concilia-${accountOf(visit).slug}-${month}.html`,
        contentType: 'text/html; charset=utf-8',
        body: Readable.from([page]),
      };
    });
  }

  /** What prevents the file is shown on the page. */
  private async download(visit: Visit, open: () => Promise<OpenedFile>): Promise<PageAnswer> {
    try {
      const { body, name, contentType } = await open();
      return new Download(body, name, contentType);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return this.page(visit, problemKey(error, 'exports.problem'));
    }
  }

  private async page(visit: Visit, problem: TextKey | null = null): Promise<Shown> {
    const { t } = visit;
    const today = await this.bankTime.today(accountOf(visit).id);
    const body = (
      <>
        {problem && <Message kind="bad">{t(problem)}</Message>}
        {isAllowedTo(visit, needs) ? (
          <ExportForms visit={visit} today={today} />
        ) : (
          <p class="muted">{t('exports.forAnalysts')}</p>
        )}
      </>
    );
    return new Shown(t('exports.title'), body, { status: problem ? 422 : 200 });
  }
}

/** The fields of the form as the API reads its query. Throws `validation_failed`. */
function given<Schema extends z.ZodType>({ form }: Visit, schema: Schema): z.output<Schema> {
  const fields = Object.fromEntries([...form].filter(([, value]) => value.trim() !== ''));
  const parsed = schema.safeParse(fields);
  if (!parsed.success) throw new AppError('validation_failed');
  return parsed.data;
}

function ExportForms({ visit, today }: { visit: Visit; today: string }) {
  const { t } = visit;
  const month = today.slice(0, 7);
  return (
    <>
      <p>{t('exports.intro')}</p>
      <div class="cards">
        <ExportForm
          visit={visit}
          name="statement"
          title="exports.statement"
          why="exports.statementWhy"
        >
          <Select visit={visit} name="format" options={exportFormats} />
          <Field label={t('exports.from')} name="from" type="date" value={`${month}-01`} required />
          <Field label={t('exports.to')} name="to" type="date" value={today} required />
          <Select visit={visit} name="delimiter" options={['semicolon', 'comma']} />
          <p class="hint">{t('exports.numbered')}</p>
        </ExportForm>
        <ExportForm visit={visit} name="breaks" title="exports.breaks" why="exports.breaksWhy">
          <Select visit={visit} name="format" options={tableFormats} />
          <Select visit={visit} name="delimiter" options={['semicolon', 'comma']} />
        </ExportForm>
        <ExportForm visit={visit} name="overdue" title="exports.overdue" why="exports.overdueWhy">
          <Select visit={visit} name="format" options={tableFormats} />
          <Select visit={visit} name="delimiter" options={['semicolon', 'comma']} />
        </ExportForm>
        <ExportForm visit={visit} name="month" title="exports.month" why="exports.monthWhy">
          <Field label={t('exports.monthOf')} name="month" type="month" value={month} required />
        </ExportForm>
        <Card title={t('exports.audit')}>
          <p>{t('exports.auditWhy')}</p>
          <a href={pathTo(visit, 'audit')}>{t('exports.auditLink')}</a>
        </Card>
      </div>
    </>
  );
}

function ExportForm({
  visit,
  name,
  title,
  why,
  children,
}: {
  visit: Visit;
  name: string;
  title: TextKey;
  why: TextKey;
  children: ComponentChildren;
}) {
  const { t } = visit;
  return (
    <Card title={t(title)}>
      <p>{t(why)}</p>
      <Form visit={visit} action={pathTo(visit, `exports/${name}`)}>
        {children}
        <button>{t('exports.download')}</button>
      </Form>
    </Card>
  );
}

type Options = readonly ((typeof exportFormats)[number] | 'semicolon' | 'comma')[];

function Select({
  visit: { t },
  name,
  options,
}: {
  visit: Visit;
  name: 'format' | 'delimiter';
  options: Options;
}) {
  return (
    <label>
      {t(`exports.${name}`)}
      <select name={name}>
        {options.map((option) => (
          <option value={option}>{t(`exports.${name}.${option}` as TextKey)}</option>
        ))}
      </select>
    </label>
  );
}
