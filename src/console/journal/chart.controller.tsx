// The chart of accounts, and its next version from a CSV file.
import { randomUUID } from 'node:crypto';
import { Controller } from '@nestjs/common';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { textOf } from '../../outbound/bulk/upload-text.js';
import { invalidField } from '../../platform/errors.js';
import { withReceivedFile } from '../../platform/files/received-file.js';
import { readUuid } from '../../platform/http/listing.js';
import { JournalSetup } from '../../reporting/journal/journal-setup.service.js';
import {
  changeChart,
  maxChartBytes,
  type getChart,
} from '../../reporting/journal/journal.schema.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';
import { ActorNames } from '../actor-names.service.js';
import { formatCount } from '../formats.js';
import { Card, Message, Muted } from '../kit/elements.js';
import { Filters } from '../kit/filters.js';
import {
  Fields,
  Form,
  FormProblem,
  Hidden,
  readBody,
  reasonField,
  type FormFields,
} from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { fieldErrorIn } from '../problems.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  TakesFile,
  Visiting,
} from '../serving/console-page.decorator.js';
import { callerOf, typed, useVisit, type Visit } from '../visit.js';

type Chart = RouteOutput<typeof getChart>['chart'];

const needs = 'manage rules';
const shownRows = 500;
const fields = {
  ...reasonField,
  csv: { label: 'chart.file', is: 'file', required: true, accept: '.csv' },
} as const satisfies FormFields;

@Controller()
export class ChartPage {
  constructor(
    private readonly setup: JournalSetup,
    private readonly idempotency: IdempotencyService,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('journal/chart', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, time } = visit;
    const { chart } = await this.setup.getChart(visit.accountId);
    const nameOf = await this.names.find(visit, [chart?.actor ?? null]);
    const body = (
      <>
        <p>
          <a href={visit.to('journal')}>{t('journal.title')}</a>
        </p>
        {visit.query.has('saved') && <Message kind="good">{t('chart.saved')}</Message>}
        {visit.may(needs) && <ImportForm />}
        {chart && (
          <Muted>
            {t('chart.by', {
              ...{ version: chart.version, who: nameOf(chart.actor) },
              ...{ when: time(chart.at), reason: chart.reason },
            })}
          </Muted>
        )}
        <Accounts chart={chart} />
      </>
    );
    return new Shown(t('chart.title'), body);
  }

  @ConsoleAction(
    'journal/chart',
    needs,
    'change chart of accounts',
    (visit) => `account ${visit.accountId}`,
  )
  @TakesFile(maxChartBytes)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const csv = await fileText(visit);
    const body = readBody(changeChart.body, { csv, reason: typed(visit, 'reason') });
    const idempotencyKey = readUuid(typed(visit, 'key'));
    const request = { params: {}, query: {}, body, idempotencyKey };
    await this.idempotency.runOnce({ accountId, route: changeChart, request }, () =>
      this.setup.changeChart(accountId, body, actor),
    );
    return new Redirect(`${visit.to('journal/chart')}?saved=1`);
  }
}

async function fileText({ file }: Visit): Promise<string> {
  if (!file?.name) throw invalidField('$.csv', fieldError('required'));
  return withReceivedFile(file.body, maxChartBytes, async (received) => {
    let text = '';
    for await (const piece of textOf(received.chunks())) text += piece;
    return text;
  });
}

/** With all that is wrong with the file that was sent. */
function ImportForm() {
  const { t, to, problem, language } = useVisit();
  const wrong = Object.entries(problem?.details.errors ?? {}).flatMap(([path, errors]) =>
    errors.map((error) => {
      const said = fieldErrorIn(language, error);
      return path === '$.reason' ? `${t('app.reason')}: ${said}` : said;
    }),
  );
  return (
    <Card title={t('chart.import')}>
      <Muted>{t('chart.importHint')}</Muted>
      <Muted>{t('chart.columns')}</Muted>
      {wrong.length === 0 ? (
        <FormProblem />
      ) : (
        <Message kind="bad">
          {t('chart.refused')}
          <ul>
            {wrong.map((one) => (
              <li>{one}</li>
            ))}
          </ul>
        </Message>
      )}
      <Form action={to('journal/chart')} hasFile>
        <Hidden values={{ key: randomUUID() }} />
        <Fields fields={fields} problem={null} />
        <button>{t('chart.import')}</button>
      </Form>
    </Card>
  );
}

function Accounts({ chart }: { chart: Chart }) {
  const { t, query } = useVisit();
  const asked = normalizeText(query.get('q') ?? '');
  const found = (chart?.accounts ?? []).filter(({ code, name }) =>
    normalizeText(`${code} ${name}`).includes(asked),
  );
  const rest = found.length - shownRows;
  return (
    <>
      {chart && <Filters fields={[{ name: 'q', label: 'chart.search', type: 'search' }]} />}
      <TableCard
        {...{ rows: found.slice(0, shownRows), title: 'chart.accounts' }}
        empty={chart ? 'chart.notFound' : 'chart.none'}
        columns={{
          'word.code': ({ code }) => <code>{code}</code>,
          'word.name': { wide: ({ name }) => name },
          'word.kind': ({ kind }) => t(`chart.kind.${kind}`),
          'chart.postable': ({ isPostable }) => t(isPostable ? 'app.yes' : 'app.no'),
        }}
      >
        {rest > 0 && <Muted>{t('chart.more', { count: formatCount(rest) })}</Muted>}
      </TableCard>
    </>
  );
}
