// When the payment that a line shows may have been made.
import { addBusinessDays, addDays, type PlainDate } from '../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../brazil/statement-day.js';

/** What a line shows of when it was paid. */
export interface CreditedLine {
  /** When it was credited, at the bank. */
  occurredAt: Date;
}

/** A day on which a payment may have been made, and the part of it in which it may. */
export interface PossibleDay {
  day: PlainDate;
  from: Date;
  until: Date;
}

/**
 * A bank slip is credited up to this many business days after its payment. Its line does not show
 * the payment day.
 */
const creditDelayDays = 5;

/** The days on which a line may have been paid, the latest first. */
export function possiblePaymentDays({ occurredAt }: CreditedLine): PossibleDay[] {
  const creditedOn = saoPauloDay(occurredAt);
  return Array.from({ length: creditDelayDays + 1 }, (_, index) => {
    const day = addBusinessDays(creditedOn, -index);
    const end = statementDayStart(addDays(day, 1));
    const until = end < occurredAt ? end : occurredAt;
    return { day, from: statementDayStart(day), until };
  });
}
