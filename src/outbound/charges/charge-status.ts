// The status of a charge from the bank's record and its due date. Only the bank's record, read by
// id, decides the status; a webhook never does. The contract leaves the bank's status values open.
import {
  addBusinessDays,
  addDays,
  rollToBusinessDay,
  type PlainDate,
} from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';

/**
 * Webhooks that report a changed charge, and no payment. They only trigger a check: the status read
 * at the bank decides.
 */
export const chargeStatusEventTypes = [
  'CHARGE_OVERDUE',
  'CHARGE_CANCELLED',
  'CHARGE_VOIDED',
] as const;

export type ChargeBankStatus = 'cancelled' | 'expired' | 'paid' | 'other';

const statusPatterns: [ChargeBankStatus, RegExp][] = [
  ['cancelled', /^(?:void|voided|cancel|cancelled|canceled|written_?off)$/i],
  ['expired', /^(?:expired|overdue)$/i],
  ['paid', /^(?:paid|settled)$/i],
];

export function classifyBankStatus(status: string): ChargeBankStatus {
  return statusPatterns.find(([, pattern]) => pattern.test(status.trim()))?.[0] ?? 'other';
}

/**
 * A due date that is not a business day moves to the next business day. A payment up to that day is
 * in time, and is credited after the credit days.
 */
export function isPastDue(dueDate: PlainDate | null, today: PlainDate, creditDays = 0): boolean {
  return dueDate !== null && addBusinessDays(rollToBusinessDay(dueDate), creditDays) < today;
}

/** The last due date that is past: days without business are due on the next one. */
export function lastPastDue(today: PlainDate): PlainDate {
  let day = addDays(today, -1);
  while (!isPastDue(day, today)) day = addDays(day, -1);
  return day;
}

/**
 * When an unpaid charge is first checked, on the bank's clock: the day after its last payment day.
 * Without status by id only the statement shows a payment, so the check waits for the credit days
 * too.
 */
export function firstStatusCheckAt(dueDate: PlainDate, creditDays: number): Date {
  return statementDayStart(addDays(addBusinessDays(rollToBusinessDay(dueDate), creditDays), 1));
}

const retryDelaysMs = [1_000, 5_000, 15_000, 60_000, 300_000, 3_600_000];
/** The bank's record may show a change a moment after the webhook that reports it. */
const checksAfterWebhook = 4;

/**
 * From this check on, the bank is not waited for: the due date alone decides, as it does at a bank
 * without status by id. Until then the bank had more than a week to respond.
 */
export const unansweredChecks = 200;

/**
 * When to check again, after `checks` checks that did not end the charge. Null for no further
 * check. Checks repeat while the bank does not respond, `unansweredChecks` times. After that, the
 * next check is after the due date.
 */
export function nextStatusCheckAt(
  checks: number,
  now: Date,
  dueDate: PlainDate | null,
  { isAnswered, creditDays }: { isAnswered: boolean; creditDays: number },
): Date | null {
  const delayMs = retryDelaysMs[Math.min(checks, retryDelaysMs.length) - 1] ?? 1_000;
  const retryAt = new Date(now.getTime() + delayMs);
  if (checks < (isAnswered ? checksAfterWebhook : unansweredChecks)) return retryAt;
  if (dueDate === null) return null;
  const dueCheckAt = firstStatusCheckAt(dueDate, creditDays);
  return dueCheckAt > now ? dueCheckAt : retryAt;
}

export interface ChargeAtBank {
  status: ChargeBankStatus;
  /** The due date that the bank returns, or else the requested due date. */
  dueDate: PlainDate | null;
  /** Where the bank's record was not read, a payment in time may be credited so much later. */
  creditDays: number;
}

export function decideChargeStatus(
  { status, dueDate, creditDays }: ChargeAtBank,
  today: PlainDate,
  isPaid: boolean,
) {
  if (status === 'cancelled') return 'cancelled';
  if (status === 'paid' || isPaid) return 'paid';
  return status === 'expired' || isPastDue(dueDate, today, creditDays) ? 'expired' : 'open';
}
