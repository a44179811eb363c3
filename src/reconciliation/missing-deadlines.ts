// By when what was expected should have shown on the statement. What was not seen by then is missing.
import { addDays, nextBusinessDay, rollToBusinessDay, type PlainDate } from '../brazil/calendar.js';

/** Money sent is debited at once; an hour is more than any bank has taken to show it. */
const sentMoneyMs = 3_600_000;

/**
 * The first day on which a charge of this due date is missing. It may be paid until its due date, moved to a business
 * day; and a slip that was paid on its last day is credited on the next business day.
 */
export function missingFrom(dueDate: PlainDate): PlainDate {
  return addDays(nextBusinessDay(rollToBusinessDay(dueDate)), 1);
}

/** The last due date of which a payment that has not come is missing on `today`. */
export function lastMissingDueDate(today: PlainDate): PlainDate {
  let dueDate = addDays(today, -2);
  while (missingFrom(dueDate) > today) dueDate = addDays(dueDate, -1);
  return dueDate;
}

/** How long after it was accepted, or was to take effect, a debit is missing. */
export function debitMissingAfterMs(visibilityBoundMs: number | null): number {
  return Math.max(sentMoneyMs, visibilityBoundMs ?? 0);
}
