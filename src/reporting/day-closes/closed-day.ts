// When a statement day can be certified, and which lines its certificate covers.
import { addDays } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import type { Certificate } from './certificate.js';

/** Whether no line of the day can be missing. */
export function isCovered(date: string, { closedFrom, closedUntil }: ClosedPeriod): boolean {
  if (!closedFrom || !closedUntil) return false;
  const end = statementDayStart(addDays(date, 1));
  return closedFrom <= statementDayStart(date) && closedUntil >= end;
}

/** Whether the day is over at the bank, and the closed period covers all of it. */
export function isClosed(date: string, closed: ClosedPeriod, bankTime: Date): boolean {
  return statementDayStart(addDays(date, 1)) <= bankTime && isCovered(date, closed);
}

type SpannedCertificate = Pick<
  Certificate,
  'accountId' | 'date' | 'lastArrival' | 'outcomeSequence'
>;

/** The lines of the certificate's day and their outcomes, as they were when it was made. */
export function spanOf({ accountId, date, lastArrival, outcomeSequence }: SpannedCertificate) {
  return {
    accountId,
    from: statementDayStart(date),
    until: statementDayStart(addDays(date, 1)),
    lastArrival: BigInt(lastArrival),
    outcomeSequence: BigInt(outcomeSequence),
  };
}
