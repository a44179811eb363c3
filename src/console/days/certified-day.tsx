// What a certificate states, and whether it holds.
import type { CheckedDay } from '../../reporting/day-closes/day-check.service.js';
import type { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import { exportFormats } from '../../reporting/exports/exports.schema.js';
import {
  Card,
  Empty,
  FactList,
  NamedValues,
  PageLinks,
  Button,
  ButtonLink,
  Cards,
  Hint,
  Muted,
  Row,
  Message,
} from '../kit/elements.js';
import { Hidden, Step, Form } from '../kit/form.js';
import { ListTable, TableCard } from '../kit/table.js';
import { formatAmount, formatCount, formatDay } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import { CertificateState, Explained, outcomeRows } from './day-elements.js';

type Day = Awaited<ReturnType<DayCloses['get']>>;

interface Props {
  day: Day;
  /** Lines whose outcome changed before this certificate. */
  changes: readonly { nsu: bigint }[];
  /** Null unless the person asked for it. */
  checked: CheckedDay | null;
  neighbours: { before: string; after: string };
  /** Of its lines at present. */
  unexplained: bigint | undefined;
}

export function CertifiedDay({ day, changes, checked, neighbours, unexplained }: Props) {
  const { t, language, path, to, may } = useVisit();
  return (
    <>
      <PageLinks label={t('days.title')}>
        <a href={to(`days/${neighbours.before}`)}>
          {`${t('days.previous')}: ${formatDay(neighbours.before, language)}`}
        </a>
        <a href={to(`days/${neighbours.after}`)}>
          {`${t('days.next')}: ${formatDay(neighbours.after, language)}`}
        </a>
      </PageLinks>
      <p>
        <CertificateState revision={day.revision} /> <Explained lines={unexplained} />
      </p>
      {checked && <Checked checked={checked} />}
      <Cards>
        <Figures day={day} />
        <Chain day={day} />
      </Cards>
      <Outcomes day={day} />
      {day.reconcilingItems.length > 0 && <Items day={day} />}
      <Changes changes={changes} />
      {may('take files') && <DayFileForms day={day} />}
      <Card title={t('days.certificate')}>
        <Row is="top">
          <ButtonLink href={`${path}?check=1`}>{t('days.check')}</ButtonLink>
          <a href={`${path}/certificate`}>{t('days.json')}</a>
        </Row>
        <Muted>{t('days.checkHint')}</Muted>
        {day.revisions.length > 1 && <Revisions day={day} />}
      </Card>
    </>
  );
}

function Checked({ checked }: { checked: CheckedDay }) {
  const { t } = useVisit();
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

function Figures({ day }: Pick<Props, 'day'>) {
  const { to, t } = useVisit();
  const none = t('app.none');
  return (
    <FactList
      title="days.figures"
      facts={[
        ['days.opening', formatAmount(day.opening)],
        ['chart.in', formatAmount(day.credits)],
        ['chart.out', formatAmount(day.debits)],
        ['days.closing', formatAmount(day.closing)],
        [
          'word.lines',
          <a href={to(`statement?day=${day.date}`)}>{formatCount(day.counts.lines)}</a>,
        ],
        ['days.firstNsu', day.firstNsu?.toString() ?? none],
        ['word.lastNsu', day.lastNsu?.toString() ?? none],
      ]}
    />
  );
}

function Chain({ day }: Pick<Props, 'day'>) {
  const { t, time } = useVisit();
  const hashes = [
    ['days.hash', day.hash],
    ['days.previousHash', day.previousHash],
    ['days.linesRoot', day.linesRoot],
  ] as const;
  return (
    <Card title={t('days.chain')}>
      <NamedValues
        facts={[
          [t('days.sequence'), formatCount(day.sequence)],
          [t('days.revision'), formatCount(day.revision)],
          [t('days.madeAt'), time(day.createdAt)],
        ]}
      />
      {hashes.map(([name, hash]) => (
        <p>
          <Hint>{t(name)}</Hint>
          <br />
          <code>{hash}</code>
        </p>
      ))}
    </Card>
  );
}

function Outcomes({ day }: Pick<Props, 'day'>) {
  const { t, to } = useVisit();
  return (
    <TableCard
      {...{ title: 'days.outcomes', empty: 'days.noLines' }}
      rows={outcomeRows(day.sums, t)}
      columns={{
        'word.outcome': ({ name, state }) => (
          <a href={to(`statement?day=${day.date}&state=${state}`)}>{name}</a>
        ),
        'word.lines': { count: ({ count }) => count },
        'chart.in': { cents: ({ credits }) => credits },
        'chart.out': { cents: ({ debits }) => debits },
      }}
    />
  );
}

/** What explains that the balances of the day differ from the sum of its lines. */
function Items({ day }: Pick<Props, 'day'>) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <TableCard
      {...{ title: 'days.items', rows: day.reconcilingItems }}
      columns={{
        'word.kind': ({ kind, breakId }) =>
          breakId === null ? (
            t(`days.item.${kind}`)
          ) : (
            <a href={visit.to(`breaks/${breakId}`)}>{t(`days.item.${kind}`)}</a>
          ),
        'word.nsu': ({ nsu }) => lineLink(visit, nsu),
        'word.when': { at: ({ occurredAt }) => new Date(occurredAt) },
        'word.amount': { cents: ({ amount }) => amount },
        'app.reason': { wide: ({ reason }) => reason },
      }}
    />
  );
}

const lineLink = (visit: Visit, nsu: bigint | string) => (
  <a href={visit.to(`statement/${nsu}`)}>{String(nsu)}</a>
);

function Changes({ changes }: Pick<Props, 'changes'>) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <Card title={t('days.changes')}>
      <Muted>{t('days.changesHint')}</Muted>
      {changes.length === 0 && <Empty>{t('days.noChanges')}</Empty>}
      <Row>{changes.map(({ nsu }) => lineLink(visit, nsu))}</Row>
    </Card>
  );
}

/** The statement of the day in each format, and the report of its month. */
function DayFileForms({ day }: Pick<Props, 'day'>) {
  const { t, to } = useVisit();
  return (
    <Card title={t('days.files')}>
      <Row>
        <Form action={to('days/files')}>
          <Hidden values={{ from: day.date, to: day.date }} />
          <Row>
            {exportFormats.map((format) => (
              <Button is="plain" name="format" value={format}>
                {t(`days.format.${format}`)}
              </Button>
            ))}
          </Row>
        </Form>
        <Step
          {...{ action: to('days/report'), button: 'days.report' }}
          hidden={{ month: day.date.slice(0, 7) }}
        />
      </Row>
    </Card>
  );
}

function Revisions({ day }: Pick<Props, 'day'>) {
  const { path } = useVisit();
  return (
    <ListTable
      {...{ name: 'days.revisions', rows: [...day.revisions].reverse() }}
      columns={{
        'days.revision': ({ revision }) => (
          <a href={`${path}/certificate?revision=${revision}`}>{formatCount(revision)}</a>
        ),
        'days.sequence': ({ sequence }) => formatCount(sequence),
        'days.madeAt': { at: ({ createdAt }) => createdAt },
        'days.hash': { wide: ({ hash }) => <code>{hash}</code> },
      }}
    />
  );
}
