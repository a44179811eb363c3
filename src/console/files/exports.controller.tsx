// The export files of the account: a form for each, and its download. A download is recorded in the
// audit, because files hold personal data.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import {
  exportFormats,
  exportOpenBreaks,
  exportTransactions,
  getMonthReport,
  tableFormats,
} from '../../reporting/exports/exports.schema.js';
import { MonthBundles } from '../../reporting/bundle/month-bundles.service.js';
import type { OpenedFile } from '../../reporting/exports/file-streams.service.js';
import { MonthReports } from '../../reporting/exports/month-reports.service.js';
import { OpenItemFiles } from '../../reporting/exports/open-item-files.service.js';
import { TransactionFiles } from '../../reporting/exports/transaction-files.service.js';
import { AppError } from '../../platform/errors.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { Card, Message, Cards, Muted } from '../kit/elements.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { FormCard, readBody, typedBody, type FormField, type FormFields } from '../kit/form.js';
import { Download, Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import { accountOf, auditedWord, callerOf, useVisit, type Visit } from '../visit.js';

const needs = 'take files';
const action = 'take file';

@Controller()
export class ExportPages {
  constructor(
    private readonly files: TransactionFiles,
    private readonly openItems: OpenItemFiles,
    private readonly reports: MonthReports,
    private readonly bundles: MonthBundles,
    private readonly bankTime: BankTime,
  ) {}

  @ConsolePage('exports', 'view', { title: 'exports.title', section: 'files', place: 51 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction(
    'exports/statement',
    needs,
    action,
    (visit) =>
      `file statement ${['format', 'from', 'to'].map((name) => auditedWord(visit, name)).join(' ')}`,
  )
  async statement(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.files.open(
        callerOf(visit),
        readBody(exportTransactions.query, typedBody(visit, fieldsOf(visit).statement)),
      ),
    );
  }

  @ConsoleAction(
    'exports/breaks',
    needs,
    action,
    (visit) => `file breaks ${auditedWord(visit, 'format')}`,
  )
  async breaks(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.openItems.openBreaks(callerOf(visit), openItemsOf(visit)),
    );
  }

  @ConsoleAction(
    'exports/overdue',
    needs,
    action,
    (visit) => `file overdue ${auditedWord(visit, 'format')}`,
  )
  async overdue(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () =>
      this.openItems.openOverduePayments(callerOf(visit), openItemsOf(visit)),
    );
  }

  @ConsoleAction(
    'exports/month',
    needs,
    action,
    (visit) => `file month ${auditedWord(visit, 'month')}`,
  )
  async month(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, async () => {
      const { month } = readBody(getMonthReport.params, typedBody(visit, fieldsOf(visit).month));
      const page = await this.reports.page(visit.accountId, month);
      return {
        name: `concilia-${accountOf(visit).slug}-${month}.html`,
        contentType: 'text/html; charset=utf-8',
        body: Readable.from([page]),
      };
    });
  }

  @ConsoleAction(
    'exports/bundle',
    needs,
    action,
    (visit) => `file bundle ${auditedWord(visit, 'month')}`,
  )
  async bundle(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.download(visit, () => {
      const { month } = readBody(getMonthReport.params, typedBody(visit, fieldsOf(visit).bundle));
      return this.bundles.open(callerOf(visit), month);
    });
  }

  /** What prevents the file is shown on the page. */
  private async download(visit: Visit, open: () => Promise<OpenedFile>): Promise<PageAnswer> {
    try {
      const { body, name, contentType } = await open();
      return new Download(body, name, contentType);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return this.page(visit, error);
    }
  }

  private async page(visit: Visit, problem: AppError | null = null): Promise<Shown> {
    const { t } = visit;
    const today = await this.bankTime.today(visit.accountId);
    const body = (
      <>
        {problem && <Message kind="bad">{t(problemKey(problem, 'exports.problem'))}</Message>}
        {visit.may(needs) ? (
          <ExportForms today={today} />
        ) : (
          <Muted>{t('exports.forAnalysts')}</Muted>
        )}
      </>
    );
    return new Shown(t('exports.title'), body, { status: problem ? 422 : 200 });
  }
}

const names = ['bundle', 'month', 'statement', 'breaks', 'overdue'] as const;

function fieldsOf({ t }: Visit): Record<(typeof names)[number], FormFields> {
  const format = (formats: readonly (typeof exportFormats)[number][]): FormField => ({
    ...{ label: 'word.format', is: 'choice' },
    options: formats.map((one) => [one, t(`exports.format.${one}`)]),
  });
  const delimiter: FormField = {
    ...{ label: 'exports.delimiter', is: 'choice' },
    options: (['semicolon', 'comma'] as const).map((one) => [one, t(`exports.delimiter.${one}`)]),
  };
  const openItems = { format: format(tableFormats), delimiter };
  const month = { month: { label: 'word.month', is: 'month', required: true } } as const;
  return {
    bundle: month,
    month,
    statement: {
      format: { ...format(exportFormats), hint: 'exports.numbered' },
      from: { label: 'word.from', is: 'date', required: true },
      to: { label: 'word.to', is: 'date', required: true },
      delimiter,
    },
    breaks: openItems,
    overdue: openItems,
  };
}

const openItemsOf = (visit: Visit) =>
  readBody(exportOpenBreaks.query, typedBody(visit, fieldsOf(visit).breaks));

function ExportForms({ today }: { today: string }) {
  const visit = useVisit();
  const { t } = visit;
  const month = today.slice(0, 7);
  const fields = fieldsOf(visit);
  return (
    <>
      <p>{t('exports.intro')}</p>
      <Cards>
        {names.map((name) => (
          <FormCard
            action={visit.to(`exports/${name}`)}
            fields={fields[name]}
            values={{ from: `${month}-01`, to: today, month }}
            title={`exports.${name}`}
            intro={`exports.${name}Why`}
            button="word.download"
          />
        ))}
        <Card title={t('audit.title')}>
          <p>{t('exports.auditWhy')}</p>
          <a href={visit.to('audit')}>{t('exports.auditLink')}</a>
        </Card>
      </Cards>
    </>
  );
}
