// The lines of a certified day by outcome, as rows of a table, and what a day waits for in words.
import type { Cents } from '../../brazil/cents.js';
import { findTextKey, type TextKey, type Translate } from '../texts.js';
import type { WaitingReason } from '../../reporting/day-closes/waiting-days.service.js';

export interface Sum {
  count: number;
  credits: Cents;
  debits: Cents;
}

export interface OutcomeRow extends Sum {
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
    { name: t('days.matched'), state: 'matched', ...matched },
    ...Object.entries(classified).map(([category, sum]) => ({
      ...{ name: nameOf(t, `days.category.${category}`, category), ...sum },
      state: 'classified' as const,
    })),
    ...Object.entries(inBreak).map(([kind, sum]) => ({
      ...{ name: t('days.breakOf', { kind: nameOf(t, `break.${kind}`, kind) }), ...sum },
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

export interface WaitingLink {
  text: TextKey;
  /** Below the account's pages. */
  page: string;
}

/** The page that shows what a day waits for; null where it waits for time alone. */
export function linkOfWaiting(
  reason: WaitingReason,
  { date, breakId }: { date: string | null; breakId: string | null },
): WaitingLink | null {
  switch (reason) {
    case 'differs':
      return { text: 'days.showBreak', page: breakId ? `breaks/${breakId}` : 'breaks?state=open' };
    case 'undecided':
      return { text: 'days.showPending', page: `statement?state=pending&day=${date ?? ''}` };
    case 'not_closed':
      return { text: 'days.showStatement', page: `statement?day=${date ?? ''}` };
    case 'not_started':
    case 'not_over':
    case 'due':
      return null;
  }
}
