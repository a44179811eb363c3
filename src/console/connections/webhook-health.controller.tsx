// How reliably the bank's webhooks report the lines of the statement, and how they are registered
// at the bank. The registrations are read at the bank, and only on a page of their own.
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { AppError } from '../../platform/errors.js';
import type { LineTypeHealth } from '../../webhooks/health/notification-counts.queries.js';
import type { RegisteredEventType } from '../../webhooks/registration/registration.js';
import { WebhookHealth } from '../../webhooks/health/webhook-health.service.js';
import { WebhookRegistrar } from '../../webhooks/registration/webhook-registrar.service.js';
import { formatCount, formatDuration } from '../formats.js';
import {
  badgeOf,
  Card,
  Empty,
  FactList,
  Movement,
  Message,
  Cards,
  Hint,
  Muted,
  Row,
} from '../kit/elements.js';
import { FormCard } from '../kit/form.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable, type ListColumns, TableCard } from '../kit/table.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { readFilters } from '../list-query.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, useVisit, type Visit } from '../visit.js';
import { nameOfType } from '../search/statement-elements.js';
import { ConnectionDone, doneAt } from './connection-elements.js';

const needs = 'view';
const manage = 'manage connections';
const shownLines = 20;
const shownDays = 30;
const offeredDays = [1, 7, 30] as const;

const periodQuery = z.object({ days: z.coerce.number().int().min(1).max(30).default(1) });

@Controller()
export class WebhookHealthPages {
  constructor(
    private readonly webhookHealth: WebhookHealth,
    private readonly registrar: WebhookRegistrar,
  ) {}

  @ConsolePage('webhook-health', needs, {
    title: 'health.title',
    section: 'connections',
    place: 65,
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { id } = accountOf(visit);
    const { days } = readFilters(periodQuery, visit.query).filters;
    const page = { beforeNsu: null, limit: shownLines + 1 };
    const [measured, byDay, lost, failure] = await Promise.all([
      this.webhookHealth.measure(id, {}, days),
      this.webhookHealth.measureDays(id, shownDays),
      this.webhookHealth.listUnnotifiedLines(id, {}, page, days),
      this.webhookHealth.findRegistrationFailure(id),
    ]);
    const total = measured.types.find(({ type }) => type === null) ?? null;
    const body = (
      <>
        {failure !== null && (
          <Message kind="bad">
            {t('health.registrations.failed')} <code>{failure}</code>
          </Message>
        )}
        <Sentence total={total} />
        <Periods days={days} />
        <Cards>
          <Figures total={total} syncIntervalMs={measured.syncIntervalMs} />
          <Card title={t('health.meaning')}>
            <p>{t('health.meaning.text')}</p>
          </Card>
        </Cards>
        <Types rows={measured.types.filter(({ type }) => type !== null)} />
        {byDay.length > 0 && <Days rows={byDay} />}
        {measured.events.length > 0 && <EventTypes rows={measured.events} />}
        <LostLines rows={lost} />
      </>
    );
    return new Shown(t('health.title'), body);
  }

  @ConsolePage('webhook-health/registrations', needs)
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const rows = await answerOf(() => this.registrar.list(visit.accountId));
    return registrationsPage(visit, rows);
  }

  @ConsoleAction('webhook-health/registrations', manage, 'register webhooks', 'registrations all')
  async register(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const isDone = await answerOf(async () => {
      await this.registrar.register({ accountId });
      return true;
    });
    if (!isDone) return registrationsPage(visit, null);
    return new Redirect(doneAt(visit, 'webhook-health/registrations', 'registered'));
  }
}

/** Null if the bank does not answer. */
async function answerOf<Value>(ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError && error.status >= 500) return null;
    throw error;
  }
}

const RegistrationState = badgeOf('health.registration', {
  ...{ registered: 'good', outdated: 'warn', foreign: 'warn', missing: 'bad' },
});

/** Without rows where the bank does not answer. */
function registrationsPage(visit: Visit, rows: RegisteredEventType[] | null): Shown {
  const { t } = visit;
  const body = (
    <>
      <ConnectionDone />
      <Muted>{t('health.registrations.intro')}</Muted>
      {rows === null && <Message kind="bad">{t('health.registrations.noAnswer')}</Message>}
      <ListCard>
        {rows === null ? (
          <Empty>{t('health.registrations.unknown')}</Empty>
        ) : (
          <ListTable
            {...{ rows, name: 'health.registrations' }}
            columns={{
              'word.type': { wide: ({ eventType }) => <code>{eventType}</code> },
              'word.status': ({ state }) => <RegistrationState state={state} />,
              'endpoints.host': { wide: ({ host }) => host },
            }}
          />
        )}
      </ListCard>
      {visit.may(manage) && (
        <FormCard
          fields={{}}
          title="health.register"
          intro="health.register.hint"
          action={visit.to('webhook-health/registrations')}
          button="health.register"
        />
      )}
      <p>
        <a href={visit.to('webhook-health')}>{t('app.back')}</a>
      </p>
    </>
  );
  return new Shown(t('health.registrations'), body, rows === null ? { status: 502 } : {});
}

interface TotalProps {
  total: LineTypeHealth | null;
}

function Sentence({ total }: TotalProps) {
  const { t } = useVisit();
  if (!total || total.expected + total.waiting === 0)
    return <Message kind="good">{t('health.nothing')}</Message>;
  const { lost, expected } = total;
  if (lost === 0) return <Message kind="good">{t('health.allArrived')}</Message>;
  const values = { lost: formatCount(lost), expected: formatCount(expected) };
  return <Message kind="bad">{t('health.someLost', values)}</Message>;
}

function Periods({ days }: { days: number }) {
  const { t, path, to } = useVisit();
  return (
    <Row is="top">
      {offeredDays.map((one) =>
        one === days ? (
          <strong>{t(`health.days.${one}`)}</strong>
        ) : (
          <a href={`${path}?days=${one}`}>{t(`health.days.${one}`)}</a>
        ),
      )}
      <a href={to('webhook-health/registrations')}>{t('health.registrations')}</a>
    </Row>
  );
}

const percentOf = (part: number, whole: number): string =>
  whole === 0 ? '—' : `${((part / whole) * 100).toFixed(1).replace('.', ',')} %`;
const durationOf = (ms: number | null): string => (ms === null ? '—' : formatDuration(ms));
const lostOf = ({ lost, expected }: Pick<LineTypeHealth, 'lost' | 'expected'>): string =>
  `${formatCount(lost)} (${percentOf(lost, expected)})`;

function Figures({ total, syncIntervalMs }: TotalProps & { syncIntervalMs: number | null }) {
  const { t } = useVisit();
  const { expected = 0, lost = 0, waiting = 0 } = total ?? {};
  const interval = syncIntervalMs === null ? null : formatDuration(syncIntervalMs);
  return (
    <FactList
      title="health.figures"
      facts={[
        ['health.expected', formatCount(expected)],
        ['health.lost', lostOf({ lost, expected })],
        ['health.waiting', formatCount(waiting)],
        ['health.p50', durationOf(total?.p50 ?? null)],
        ['health.p99', durationOf(total?.p99 ?? null)],
        ['health.max', durationOf(total?.max ?? null)],
        ['health.interval', interval ?? t('health.interval.usual')],
      ]}
    />
  );
}

type Measured = Awaited<ReturnType<WebhookHealth['measure']>>;
interface RowsOf<Row> {
  rows: readonly Row[];
}

const counted = <Name extends string>(name: Name) => ({
  count: (row: Record<Name, number | bigint>) => row[name],
});

const delays: ListColumns<Record<'p50' | 'p99', number | null>> = {
  'health.p50': { is: 'number', cell: ({ p50 }) => durationOf(p50) },
  'health.p99': { is: 'number', cell: ({ p99 }) => durationOf(p99) },
};

function Types({ rows }: RowsOf<LineTypeHealth>) {
  const visit = useVisit();
  return (
    <TableCard
      {...{ rows, title: 'health.byType', empty: 'health.noLines' }}
      columns={{
        'word.line': ({ type }) => {
          const typeName = type ?? '';
          return nameOfType(visit, { typeName, isCredit: !typeName.startsWith('DEBIT') });
        },
        'health.expected': counted('expected'),
        'health.lost': { is: 'number', cell: lostOf },
        ...delays,
      }}
    />
  );
}

type DayRow = Awaited<ReturnType<WebhookHealth['measureDays']>>[number];

function Days({ rows }: RowsOf<DayRow>) {
  const { t, time } = useVisit();
  return (
    <TableCard
      {...{ rows, title: 'health.byDay' }}
      columns={{
        'word.day': ({ startsAt }) => time(startsAt).slice(0, 10),
        'word.lines': counted('lines'),
        'health.reported': ({ lines, notified }) => (
          <>
            <meter min={0} max={lines} value={notified} aria-label={t('health.reported')} />{' '}
            {percentOf(notified, lines)}
          </>
        ),
        ...delays,
      }}
    />
  );
}

function EventTypes({ rows }: RowsOf<Measured['events'][number]>) {
  const { to } = useVisit();
  return (
    <TableCard
      {...{ rows, title: 'health.events' }}
      columns={{
        'word.type': {
          wide: ({ eventType }) => (
            <a href={`${to('webhooks')}?eventType=${encodeURIComponent(eventType)}`}>
              <code>{eventType}</code>
            </a>
          ),
        },
        'health.received': counted('received'),
        'webhooks.copies': counted('copies'),
        'webhooks.state.quarantined': counted('quarantined'),
      }}
    />
  );
}

type LostRow = Awaited<ReturnType<WebhookHealth['listUnnotifiedLines']>>[number];

function LostLines({ rows }: RowsOf<LostRow>) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <TableCard
      {...{ rows: rows.slice(0, shownLines), title: 'health.lostLines' }}
      empty="health.lostLines.none"
      columns={{
        'word.nsu': ({ nsu }) => <a href={visit.to(`statement/${nsu}`)}>{nsu.toString()}</a>,
        'word.line': (line) => nameOfType(visit, line),
        'word.amount': { is: 'number', cell: (line) => <Movement of={line} /> },
        'webhooks.occurredAt': { at: ({ occurredAt }) => occurredAt },
      }}
    >
      {rows.length > shownLines && <Hint>{t('health.lostLines.more')}</Hint>}
    </TableCard>
  );
}
