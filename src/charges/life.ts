// What becomes of a charge that is not paid: withdrawn, or past its day. The bank's words for it are open; its own
// record, read by id, is believed, a webhook never.
import { addBusinessDays, addDays, rollToBusinessDay, type PlainDate } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';

export type BankWord = 'cancelled' | 'expired' | 'paid' | 'other';

const words: [BankWord, RegExp][] = [
  ['cancelled', /^(?:void|voided|cancel|cancelled|canceled|written_?off)$/i],
  ['expired', /^(?:expired|overdue)$/i],
  ['paid', /^(?:paid|settled)$/i],
];

export function readStatus(status: string): BankWord {
  return words.find(([, pattern]) => pattern.test(status.trim()))?.[0] ?? 'other';
}

/** A due date that is no business day moves to the next one: until then it is paid in time. */
export function isPastDue(dueDate: PlainDate | null, today: PlainDate): boolean {
  return dueDate !== null && rollToBusinessDay(dueDate) < today;
}

/**
 * When it is time to see what became of an unpaid charge, by the bank's clock. A bank that can be asked knows on the day
 * after; with another, a slip that was paid on its last day is credited on the next business day.
 */
export function endOfLife(dueDate: PlainDate, canBeAsked: boolean): Date {
  const lastDay = rollToBusinessDay(dueDate);
  return statementDayStart(addDays(canBeAsked ? lastDay : addBusinessDays(lastDay, 1), 1));
}

const pausesMs = [1_000, 5_000, 15_000, 60_000, 300_000, 3_600_000];
/** A bank that tells of a change may show it a moment later. */
const looksAfterNews = 4;

/** When to look again after the nth look that ended nothing; null for never. */
export function nextLook(
  looks: number,
  now: Date,
  dueDate: PlainDate | null,
  isAnswered: boolean,
): Date | null {
  const pauseMs = pausesMs[Math.min(looks, pausesMs.length) - 1] ?? 1_000;
  const soon = new Date(now.getTime() + pauseMs);
  if (!isAnswered || looks < looksAfterNews) return soon;
  if (dueDate === null) return null;
  const end = endOfLife(dueDate, true);
  return end > now ? end : soon;
}

export interface LookedAt {
  word: BankWord;
  /** The bank's, where it tells one. */
  dueDate: PlainDate | null;
}

/** What a look at the bank's record says of a charge. */
export function decideCharge({ word, dueDate }: LookedAt, today: PlainDate, isPaid: boolean) {
  if (word === 'cancelled') return 'cancelled';
  if (word === 'paid' || isPaid) return 'paid';
  return word === 'expired' || isPastDue(dueDate, today) ? 'expired' : 'alive';
}
