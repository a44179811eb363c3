// What a certificate states, and whether it holds.
import type { CheckedDay } from '../../reporting/day-closes/day-check.service.js';
import type { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import { exportFormats } from '../../reporting/exports/exports.schema.js';
import { Amount, Card, Empty, FactList } from '../kit/elements.js';
import { formatAmount, formatCount, formatDay, formatTime } from '../formats.js';
import { DataTable, Form, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { outcomeRows } from './day-outcomes.js';
import { CertificateState } from './days-list.js';

type Day = Awaited<ReturnType<DayCloses['get']>>;

interface Props {
  visit: Visit;
  day: Day;
  /** Lines whose outcome changed before this certificate. */
  changes: readonly { nsu: bigint }[];
  /** Null unless the person asked for it. */
  checked: CheckedDay | null;
  neighbours: { before: string; after: string };
}

export function CertifiedDay({ visit, day, changes, checked, neighbours }: Props) {
  const { t, language, path } = visit;
  return (
    <>
      <nav class="pager" aria-label={t('days.title')}>
        <a href={pathTo(visit, `days/${neighbours.before}`)}>
          {`${t('days.previous')}: ${formatDay(neighbours.before, language)}`}
        </a>
        <a href={pathTo(visit, `days/${neighbours.after}`)}>
          {`${t('days.next')}: ${formatDay(neighbours.after, language)}`}
        </a>
      </nav>
      <p>
        <CertificateState visit={visit} revision={day.revision} />
      </p>
      {checked && <Checked visit={visit} checked={checked} />}
      <div class="cards">
        <Figures visit={visit} day={day} />
        <Chain visit={visit} day={day} />
      </div>
      <Outcomes visit={visit} day={day} />
      {day.reconcilingItems.length > 0 && <Items visit={visit} day={day} />}
      <Changes visit={visit} changes={changes} />
      {isAllowedTo(visit, 'take files') && <DayFileForms visit={visit} day={day} />}
      <Card title={t('days.certificate')}>
        <p class="row">
          <a class="button" href={`${path}?check=1`}>
            {t('days.check')}
          </a>
          <a href={`${path}/certificate`}>{t('days.json')}</a>
        </p>
        <p class="hint">{t('days.checkHint')}</p>
        {day.revisions.length > 1 && <Revisions visit={visit} day={day} />}
      </Card>
    </>
  );
}

function Checked({ visit: { t }, checked }: { visit: Visit; checked: CheckedDay }) {
  const { difference, lines } = checked;
  if (difference) {
    const { field, expected, found } = difference;
    return <Message kind="bad">{t('days.differsFrom', { field, expected, found })}</Message>;
  }
  return (
    <Message kind="good">
      {lines === null ? t('days.checkedChain') : t('days.checked', { lines: formatCount(lines) })}
    </Message>
  );
}

function Figures({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const none = visit.t('app.none');
  return (
    <FactList
      visit={visit}
      title="days.figures"
      facts={[
        ['days.opening', formatAmount(day.opening)],
        ['days.credits', formatAmount(day.credits)],
        ['days.debits', formatAmount(day.debits)],
        ['days.closing', formatAmount(day.closing)],
        [
          'days.lines',
          <a href={pathTo(visit, `statement?day=${day.date}`)}>{formatCount(day.counts.lines)}</a>,
        ],
        ['days.firstNsu', day.firstNsu?.toString() ?? none],
        ['days.lastNsu', day.lastNsu?.toString() ?? none],
      ]}
    />
  );
}

function Chain({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const { t, language } = visit;
  const hashes: readonly (readonly [TextKey, string])[] = [
    ['days.hash', day.hash],
    ['days.previousHash', day.previousHash],
    ['days.linesRoot', day.linesRoot],
  ];
  return (
    <Card title={t('days.chain')}>
      <dl>
        <dt>{t('days.sequence')}</dt>
        <dd>{formatCount(day.sequence)}</dd>
        <dt>{t('days.revision')}</dt>
        <dd>{formatCount(day.revision)}</dd>
        <dt>{t('days.madeAt')}</dt>
        <dd>{formatTime(day.createdAt, language)}</dd>
      </dl>
      {hashes.map(([name, hash]) => (
        <p>
          <span class="muted">{t(name)}</span>
          <br />
          <code>{hash}</code>
        </p>
      ))}
    </Card>
  );
}

function Outcomes({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const { t } = visit;
  const rows = outcomeRows(day.sums, t);
  return (
    <Card title={t('days.outcomes')}>
      <DataTable
        empty={t('days.noLines')}
        visit={visit}
        name={t('days.outcomes')}
        columns={['days.outcome', 'days.lines', 'days.credits', 'days.debits']}
        numbers={['days.lines', 'days.credits', 'days.debits']}
      >
        {rows.map(({ name, state, count, credits, debits }) => (
          <tr>
            <td>
              <a href={pathTo(visit, `statement?day=${day.date}&state=${state}`)}>{name}</a>
            </td>
            <td class="number">{formatCount(count)}</td>
            <td class="number">
              <Amount cents={credits} />
            </td>
            <td class="number">
              <Amount cents={debits} />
            </td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

/** What explains that the balances of the day differ from the sum of its lines. */
function Items({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const { t, language } = visit;
  return (
    <Card title={t('days.items')}>
      <DataTable
        visit={visit}
        name={t('days.items')}
        columns={['days.kind', 'days.nsu', 'days.at', 'days.amount', 'app.reason']}
        numbers={['days.amount']}
      >
        {day.reconcilingItems.map(({ kind, nsu, occurredAt, amount, breakId, reason }) => (
          <tr>
            <td>
              {breakId === null ? (
                t(`days.item.${kind}`)
              ) : (
                <a href={pathTo(visit, `breaks/${breakId}`)}>{t(`days.item.${kind}`)}</a>
              )}
            </td>
            <td>
              <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
            </td>
            <td>{formatTime(new Date(occurredAt), language)}</td>
            <td class="number">
              <Amount cents={amount} />
            </td>
            <td class="wide">{reason ?? t('app.none')}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Changes({ visit, changes }: Pick<Props, 'visit' | 'changes'>) {
  const { t } = visit;
  return (
    <Card title={t('days.changes')}>
      <p class="hint">{t('days.changesHint')}</p>
      {changes.length === 0 ? (
        <Empty>{t('days.noChanges')}</Empty>
      ) : (
        <p class="row">
          {changes.map(({ nsu }) => (
            <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
          ))}
        </p>
      )}
    </Card>
  );
}

/** The statement of the day in each format, and the report of its month. */
function DayFileForms({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const { t } = visit;
  return (
    <Card title={t('days.files')}>
      <div class="row">
        <Form visit={visit} action={pathTo(visit, 'days/files')}>
          <input type="hidden" name="from" value={day.date} />
          <input type="hidden" name="to" value={day.date} />
          <div class="row">
            {exportFormats.map((format) => (
              <button class="plain" name="format" value={format}>
                {t(`days.format.${format}`)}
              </button>
            ))}
          </div>
        </Form>
        <Form visit={visit} action={pathTo(visit, 'days/report')}>
          <input type="hidden" name="month" value={day.date.slice(0, 7)} />
          <button class="plain">{t('days.report')}</button>
        </Form>
      </div>
    </Card>
  );
}

function Revisions({ visit, day }: Pick<Props, 'visit' | 'day'>) {
  const { t, language, path } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('days.revisions')}
      columns={['days.revision', 'days.sequence', 'days.madeAt', 'days.hash']}
    >
      {[...day.revisions].reverse().map(({ revision, sequence, createdAt, hash }) => (
        <tr>
          <td>
            <a href={`${path}/certificate?revision=${revision}`}>{formatCount(revision)}</a>
          </td>
          <td>{formatCount(sequence)}</td>
          <td>{formatTime(createdAt, language)}</td>
          <td class="wide">
            <code>{hash}</code>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
