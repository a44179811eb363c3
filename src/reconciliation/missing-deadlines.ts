// The deadlines after which an expected payment without a line is missing.
import { addDays, nextBusinessDay, rollToBusinessDay, type PlainDate } from '../brazil/calendar.js';

/** Sent money is debited at once; no bank has taken more than an hour to show it. */
const sentMoneyMs = 3_600_000;

/**
 * The first day on which a charge of this due date is missing. A due date that is no business day
 * moves to the next one; a slip paid on its last day is credited on the next business day.
 */
export function missingFrom(dueDate: PlainDate): PlainDate {
  return addDays(nextBusinessDay(rollToBusinessDay(dueDate)), 1);
}

/** The last due date whose unpaid charges are missing on `today`. */
export function lastMissingDueDate(today: PlainDate): PlainDate {
  let dueDate = addDays(today, -2);
  while (missingFrom(dueDate) > today) dueDate = addDays(dueDate, -1);
  return dueDate;
}

/** How long after its acceptance or effective time a debit without a line is missing. */
export function debitMissingAfterMs(visibilityBoundMs: number | null): number {
  return Math.max(sentMoneyMs, visibilityBoundMs ?? 0);
}
