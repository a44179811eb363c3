// What the pages of days share: the lines of a day by outcome, what a day waits for, and whether a
// certificate was amended.
import type { Cents } from '../../brazil/cents.js';
import type { WaitingDay } from '../../reporting/day-closes/waiting-days.service.js';
import { formatCount, formatDay } from '../formats.js';
import { Badge, Message } from '../kit/elements.js';
import { findTextKey, type Translate } from '../texts.js';
import { useVisit } from '../visit.js';

interface Sum {
  count: number;
  credits: Cents;
  debits: Cents;
}

interface OutcomeRow extends Sum {
  name: string;
  /** The filter of the lines that have this outcome today. */
  state: 'matched' | 'classified' | 'in_break';
}

interface Sums {
  matched: Sum;
  classified: Record<string, Sum>;
  inBreak: Record<string, Sum>;
}

/** Without outcomes that no line has. */
export function outcomeRows({ matched, classified, inBreak }: Sums, t: Translate): OutcomeRow[] {
  const rows: OutcomeRow[] = [
    { name: t('chart.matched'), state: 'matched', ...matched },
    ...Object.entries(classified).map(([category, sum]) => ({
      ...{ name: nameOf(t, `days.category.${category}`, category), ...sum },
      state: 'classified' as const,
    })),
    ...Object.entries(inBreak).map(([kind, sum]) => ({
      ...{ name: t('word.breakOf', { kind: nameOf(t, `break.${kind}`, kind) }), ...sum },
      state: 'in_break' as const,
    })),
  ];
  return rows.filter(({ count }) => count > 0);
}

/** A value of a later version is shown as it is stored. */
function nameOf(t: Translate, key: string, stored: string): string {
  const known = findTextKey(key);
  return known ? t(known) : stored;
}

/** The page that shows what a day waits for; null where it waits for time alone. */
function linkOfWaiting({ reason, date, breakId }: WaitingDay) {
  switch (reason) {
    case 'differs':
      return {
        text: 'days.showBreak',
        page: breakId ? `breaks/${breakId}` : 'breaks?state=open',
      } as const;
    case 'undecided':
      return {
        text: 'days.showPending',
        page: `statement?state=pending&day=${date ?? ''}`,
      } as const;
    case 'not_closed':
      return { text: 'days.showStatement', page: `statement?day=${date ?? ''}` } as const;
    case 'not_started':
    case 'not_over':
    case 'due':
      return null;
  }
}

/** What the next day waits for, with a link to what is in the way. `isFirst`: none is certified. */
export function DaysWaiting({
  waiting,
  isFirst = false,
}: {
  waiting: WaitingDay;
  isFirst?: boolean;
}) {
  const { t, language, to } = useVisit();
  const { date, reason, isAmendment, days } = waiting;
  const link = linkOfWaiting(waiting);
  const isEarly = isFirst && reason === 'not_over';
  const kind = isEarly
    ? 'plain'
    : reason === 'not_over'
      ? 'good'
      : reason === 'differs'
        ? 'bad'
        : 'warn';
  return (
    <Message kind={kind}>
      {isAmendment && `${t('days.waiting.amendment')} `}
      {t(`days.waiting.${isEarly ? 'first' : reason}`, {
        day: date ? formatDay(date, language) : '',
      })}
      {days > 1 && ` ${t('days.waiting.count', { count: formatCount(days) })}`}
      {link && (
        <>
          {' '}
          <a href={to(link.page)}>{t(link.text)}</a>
        </>
      )}
    </Message>
  );
}

/** A certificate proves what the bank showed; a line in a break is certified, and not explained. */
export function Explained({ lines = 0n }: { lines?: bigint | undefined }) {
  const { t } = useVisit();
  if (lines === 0n) return <Badge tone="good" text={t('days.explained')} />;
  return <Badge tone="warn" text={t('days.unexplained', { count: formatCount(lines) })} />;
}

export function CertificateState({ revision }: { revision: number }) {
  const { t } = useVisit();
  if (revision === 1) return <Badge tone="plain" text={t('days.state.certified')} />;
  return <Badge tone="warn" text={t('days.state.amended', { revision })} />;
}
