// The due dates of a payment. A due date may be changed: what is owed follows the one that was in
// force when the payment was made.
import type { PlainDate } from '../../brazil/calendar.js';

export interface DueDate {
  day: PlainDate;
  /** In bank time: from when it may be in force, and from when it certainly is. */
  possibleFrom: Date;
  from: Date;
}

export interface DueDates {
  /** The last one; null without a due date. */
  dueDate: PlainDate | null;
  /** All of them in their order, if it was ever changed. */
  dueDates: readonly DueDate[];
}

/** The due date that was certainly in force last at that time. */
export function dueDateAt({ dueDate, dueDates }: DueDates, at: Date): PlainDate | null {
  const inForce = dueDates.filter(({ from }, index) => index === 0 || from <= at).at(-1);
  return inForce?.day ?? dueDate;
}

/** The due dates that may have been in force at some time of that span, the latest first. */
export function dueDatesDuring(
  { dueDate, dueDates }: DueDates,
  span: { from: Date; until: Date },
): (PlainDate | null)[] {
  if (dueDates.length === 0) return [dueDate];
  const possible = dueDates.filter(({ possibleFrom }, index) => {
    const next = dueDates[index + 1];
    const hasBegun = index === 0 || possibleFrom <= span.until;
    return hasBegun && (next === undefined || next.from > span.from);
  });
  return [...new Set(possible.map(({ day }) => day))].reverse();
}
