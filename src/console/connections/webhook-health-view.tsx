// How the health of webhooks looks: a sentence, figures by type and by day, and lost lines.
import type { JSX } from 'preact';
import type {
  DayHealth,
  LineTypeHealth,
  UnnotifiedLineRow,
} from '../../webhooks/health/notification-counts.queries.js';
import type { WebhookHealth } from '../../webhooks/health/webhook-health.service.js';
import { Amount, Card, FactList } from '../kit/elements.js';
import { formatCount, formatDuration, formatTime } from '../formats.js';
import { DataTable, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { nameOfType } from '../search/statement-elements.js';
import { pathTo } from '../visit.js';

type Measured = Awaited<ReturnType<WebhookHealth['measure']>>;

interface HealthProps {
  visit: Visit;
  days: number;
  measured: Measured;
  byDay: readonly DayHealth[];
  lost: readonly UnnotifiedLineRow[];
  hasMore: boolean;
  /** Why the webhooks are not registered at the bank; null where they are. */
  failure: string | null;
}

const offeredDays = [1, 7, 30] as const;

export function HealthView(props: HealthProps) {
  const { visit, days, measured, byDay, lost, hasMore, failure } = props;
  const { t, path } = visit;
  const total = measured.types.find(({ type }) => type === null) ?? null;
  return (
    <>
      {failure !== null && (
        <Message kind="bad">
          {t('health.registrations.failed')} <code>{failure}</code>
        </Message>
      )}
      <Sentence visit={visit} total={total} />
      <p class="row">
        {offeredDays.map((one) =>
          one === days ? (
            <strong>{t(`health.days.${one}`)}</strong>
          ) : (
            <a href={`${path}?days=${one}`}>{t(`health.days.${one}`)}</a>
          ),
        )}
        <a href={pathTo(visit, 'webhook-health/registrations')}>{t('health.registrations')}</a>
      </p>
      <div class="cards">
        <Figures visit={visit} total={total} syncIntervalMs={measured.syncIntervalMs} />
        <Card title={t('health.meaning')}>
          <p>{t('health.meaning.text')}</p>
        </Card>
      </div>
      <Types visit={visit} types={measured.types.filter(({ type }) => type !== null)} />
      <Days visit={visit} byDay={byDay} />
      <EventTypes visit={visit} events={measured.events} />
      <LostLines visit={visit} lost={lost} hasMore={hasMore} />
    </>
  );
}

function Sentence({ visit: { t }, total }: { visit: Visit; total: LineTypeHealth | null }) {
  if (!total || total.expected + total.waiting === 0)
    return <Message kind="good">{t('health.nothing')}</Message>;
  const { lost, expected } = total;
  if (lost === 0) return <Message kind="good">{t('health.allArrived')}</Message>;
  const values = { lost: formatCount(lost), expected: formatCount(expected) };
  return <Message kind="bad">{t('health.someLost', values)}</Message>;
}

const percentOf = (lost: number, expected: number): string =>
  expected === 0 ? '—' : `${((lost / expected) * 100).toFixed(1).replace('.', ',')} %`;
const durationOf = (ms: number | null): string => (ms === null ? '—' : formatDuration(ms));

function Figures({
  visit,
  total,
  syncIntervalMs,
}: {
  visit: Visit;
  total: LineTypeHealth | null;
  syncIntervalMs: number | null;
}): JSX.Element {
  const { t } = visit;
  const { expected = 0, lost = 0, waiting = 0 } = total ?? {};
  const interval = syncIntervalMs === null ? null : formatDuration(syncIntervalMs);
  return (
    <FactList
      visit={visit}
      title="health.figures"
      facts={[
        ['health.expected', formatCount(expected)],
        ['health.lost', `${formatCount(lost)} (${percentOf(lost, expected)})`],
        ['health.waiting', formatCount(waiting)],
        ['health.p50', durationOf(total?.p50 ?? null)],
        ['health.p99', durationOf(total?.p99 ?? null)],
        ['health.max', durationOf(total?.max ?? null)],
        ['health.interval', interval ?? t('health.interval.usual')],
      ]}
    />
  );
}

function Types({ visit, types }: { visit: Visit; types: readonly LineTypeHealth[] }) {
  const { t } = visit;
  return (
    <Card title={t('health.byType')}>
      <DataTable
        empty={t('health.noLines')}
        visit={visit}
        name={t('health.byType')}
        columns={['health.type', 'health.expected', 'health.lost', 'health.p50', 'health.p99']}
        numbers={['health.expected', 'health.lost', 'health.p50', 'health.p99']}
      >
        {types.map(({ type, expected, lost, p50, p99 }) => (
          <tr>
            <td>{nameOfType(visit, type ?? '')}</td>
            <td class="number">{formatCount(expected)}</td>
            <td class="number">{`${formatCount(lost)} (${percentOf(lost, expected)})`}</td>
            <td class="number">{durationOf(p50)}</td>
            <td class="number">{durationOf(p99)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Days({ visit, byDay }: { visit: Visit; byDay: readonly DayHealth[] }) {
  const { t, language } = visit;
  if (byDay.length === 0) return null;
  const share = (notified: number, lines: number) => percentOf(notified, lines);
  return (
    <Card title={t('health.byDay')}>
      <DataTable
        visit={visit}
        name={t('health.byDay')}
        columns={['health.day', 'health.lines', 'health.reported', 'health.p50', 'health.p99']}
        numbers={['health.lines', 'health.p50', 'health.p99']}
      >
        {byDay.map(({ startsAt, lines, notified, p50, p99 }) => (
          <tr>
            <td>{formatTime(startsAt, language).slice(0, 10)}</td>
            <td class="number">{formatCount(lines)}</td>
            <td>
              <meter min={0} max={lines} value={notified} aria-label={t('health.reported')} />{' '}
              {share(notified, lines)}
            </td>
            <td class="number">{durationOf(p50)}</td>
            <td class="number">{durationOf(p99)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function EventTypes({ visit, events }: { visit: Visit; events: Measured['events'] }) {
  const { t } = visit;
  if (events.length === 0) return null;
  return (
    <Card title={t('health.events')}>
      <DataTable
        visit={visit}
        name={t('health.events')}
        columns={['webhooks.type', 'health.received', 'webhooks.copies', 'health.quarantined']}
        numbers={['health.received', 'webhooks.copies', 'health.quarantined']}
      >
        {events.map(({ eventType, received, copies, quarantined }) => (
          <tr>
            <td class="wide">
              <a href={`${pathTo(visit, 'webhooks')}?eventType=${encodeURIComponent(eventType)}`}>
                <code>{eventType}</code>
              </a>
            </td>
            <td class="number">{formatCount(received)}</td>
            <td class="number">{formatCount(copies)}</td>
            <td class="number">{formatCount(quarantined)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function LostLines({
  visit,
  lost,
  hasMore,
}: {
  visit: Visit;
  lost: readonly UnnotifiedLineRow[];
  hasMore: boolean;
}) {
  const { t, language } = visit;
  return (
    <Card title={t('health.lostLines')}>
      <DataTable
        empty={t('health.lostLines.none')}
        visit={visit}
        name={t('health.lostLines')}
        columns={['webhooks.nsu', 'health.type', 'webhooks.amount', 'webhooks.occurredAt']}
        numbers={['webhooks.amount']}
      >
        {lost.map(({ nsu, typeName, isCredit, amountCents, occurredAt }) => (
          <tr>
            <td>
              <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
            </td>
            <td>{nameOfType(visit, typeName)}</td>
            <td class="number">
              <Amount cents={isCredit ? amountCents : -amountCents} />
            </td>
            <td>{formatTime(occurredAt, language)}</td>
          </tr>
        ))}
      </DataTable>
      {hasMore && <p class="hint">{t('health.lostLines.more')}</p>}
    </Card>
  );
}
