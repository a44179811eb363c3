// The story of a payment as a timeline. It shows what `storyOf` returns, on any page.
import type { JSX } from 'preact';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { Card, Timeline, Hint } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import type { StoryEntry, StoryValue } from './story.js';

export function Story({
  entries,
  omitted = [],
  awaited = null,
  nameOf,
}: {
  entries: readonly StoryEntry[];
  /** What of the story is left out. */
  omitted?: readonly TextKey[];
  /** What comes next. */
  awaited?: TextKey | null;
  nameOf: NameOfActor;
}) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <Card title={t('payment.story')}>
      <Timeline
        entries={[
          ...entries.map((entry) => ({
            at: entry.at,
            tone: entry.tone,
            title: t(entry.text, shownValues(visit, entry.values)),
            detail: <Detail entry={entry} nameOf={nameOf} />,
          })),
          ...(awaited === null ? [] : [{ at: null, tone: 'warn' as const, title: t(awaited) }]),
        ]}
      />
      {omitted.map((key) => (
        <Hint isBlock>{t(key)}</Hint>
      ))}
    </Card>
  );
}

function Detail({
  entry: { bankAt, detail, actor, reason, page },
  nameOf,
}: {
  entry: StoryEntry;
  nameOf: NameOfActor;
}) {
  const visit = useVisit();
  const { t, time } = visit;
  return (
    <>
      {detail !== null && <div>{detailOf(visit, detail)}</div>}
      {actor !== null && <div>{t('payment.by', { name: nameOf(actor) })}</div>}
      {reason !== null && reason !== '' && <div>{t('word.because', { reason })}</div>}
      {bankAt && <Hint isBlock>{t('payment.atBank', { time: time(bankAt) })}</Hint>}
      {page !== null && visit.to(page) !== visit.path && (
        <a href={visit.to(page)}>{t(labelOf(page))}</a>
      )}
    </>
  );
}

const labels: Record<string, TextKey> = {
  operations: 'payment.see.operation',
  statement: 'payment.see.line',
  breaks: 'payment.see.break',
  refunds: 'payment.see.refund',
  approvals: 'payment.see.approval',
  endpoints: 'payment.see.endpoint',
  webhooks: 'payment.see.webhook',
};

function labelOf(page: string): TextKey {
  return labels[page.split('/')[0] ?? ''] ?? 'payment.see.more';
}

function shownValues(visit: Visit, values: StoryEntry['values']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, shownValue(visit, value)]),
  );
}

/** A code is shown as one. */
function detailOf(visit: Visit, value: StoryValue): JSX.Element | string {
  const isCode = typeof value === 'object' && 'code' in value;
  return isCode ? <code>{value.code}</code> : shownValue(visit, value);
}

/** A value in the person's language. */
export function shownValue({ t, time }: Visit, value: StoryValue): string {
  if (typeof value === 'string') return value;
  if ('text' in value) return t(value.text);
  if ('code' in value) return value.code;
  if ('cents' in value) return formatAmount(value.cents);
  return time(value.time);
}
