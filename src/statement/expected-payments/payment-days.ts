// When the payment that a line shows may have been made.
import {
  addBusinessDays,
  addDays,
  isBusinessDay,
  rollToBusinessDay,
  type PlainDate,
} from '../../brazil/calendar.js';
import { parseEndToEndId } from '../../brazil/end-to-end-id.js';
import { saoPauloDay, statementDayStart } from '../../brazil/statement-day.js';
import { isPix, type CreditedLine } from './credit-days.js';

/** A day on which a payment may have been made, and the part of it in which it may. */
export interface PossibleDay {
  day: PlainDate;
  from: Date;
  until: Date;
}

/** A Pix that is sent shortly before midnight may be credited on the next day. */
const pixUnderWayMs = 10 * 60_000;

/**
 * The days on which a line may have been paid, the latest first. A Pix has its own day. Where the
 * bank shows the payment day, a payment on another day than a business day may count on the next
 * one. Otherwise they are all days from the credit back through the credit days, with the days
 * before them on which no bank works.
 */
export function possiblePaymentDays(line: CreditedLine): PossibleDay[] {
  const { occurredAt, paidOn, creditDays } = line;
  const creditedOn = saoPauloDay(occurredAt);
  if (isPix(line)) return possibleTimesOfPix(line, creditedOn);
  if (paidOn !== null && paidOn <= creditedOn) {
    const last = rollToBusinessDay(paidOn);
    return daysBetween(paidOn, last < creditedOn ? last : creditedOn, occurredAt);
  }
  let first = addBusinessDays(creditedOn, -creditDays.slip);
  while (!isBusinessDay(addDays(first, -1))) first = addDays(first, -1);
  return daysBetween(first, creditedOn, occurredAt);
}

function possibleTimesOfPix(
  { occurredAt, endToEndId }: CreditedLine,
  creditedOn: PlainDate,
): PossibleDay[] {
  const own = { day: creditedOn, from: occurredAt, until: occurredAt };
  const madeAt = parseEndToEndId(endToEndId ?? '')?.at;
  const underWayMs = madeAt ? occurredAt.getTime() - madeAt.getTime() : 0;
  // The id has whole minutes.
  if (!madeAt || underWayMs <= 0 || underWayMs >= pixUnderWayMs + 60_000) return [own];
  const madeOn = saoPauloDay(madeAt);
  if (madeOn === creditedOn) return [own];
  return [own, { day: madeOn, from: madeAt, until: statementDayStart(creditedOn) }];
}

function daysBetween(first: PlainDate, last: PlainDate, creditedAt: Date): PossibleDay[] {
  const days: PossibleDay[] = [];
  for (let day = last; day >= first; day = addDays(day, -1)) {
    const end = statementDayStart(addDays(day, 1));
    const until = end < creditedAt ? end : creditedAt;
    days.push({ day, from: statementDayStart(day), until });
  }
  return days;
}
