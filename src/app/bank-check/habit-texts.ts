// What the report says of each habit: how it is observed, and what the service does while it is
// unknown.
import type { BankHabits, HabitName } from '../../bank-contract/bank-profile.js';

interface HabitText {
  seenBy: string;
  whileUnknown: string;
}

const detected = 'nothing depends on it: each sync finds it out';
const anyLine = 'lines are matched by what they show';
const notSafe = 'a request is never resent';
const noStatus = 'the state is not asked; the statement decides';
const assumed = 'the statement proves, whatever webhooks say';
const notObserved = 'not observed: edit the file if the bank states it';

export const habitTexts: Record<HabitName, HabitText> = {
  pageOrder: { seenBy: 'nsu of the lines of each page', whileUnknown: detected },
  pageCap: {
    seenBy: 'a page shorter than requested, with more lines after it',
    whileUnknown: 'pages of 1000 lines are requested, and shorter ones taken',
  },
  nsuOrder: { seenBy: 'own lines as they come', whileUnknown: 'late lines are expected' },
  lineDelayMs: { seenBy: 'own lines, from request to line', whileUnknown: 'see visibilityBoundMs' },
  visibilityBoundMs: {
    seenBy: 'nothing: set it, well above lineDelayMs',
    whileUnknown: 'nothing is ever proven not executed, and no period closes',
  },
  lineEndToEndId: { seenBy: 'any line, own payments', whileUnknown: anyLine },
  lineCorrelationId: { seenBy: 'own payments', whileUnknown: anyLine },
  lineExternalId: { seenBy: 'own transfers', whileUnknown: anyLine },
  lineOriginalId: { seenBy: 'own refund', whileUnknown: anyLine },
  refundEndToEndId: { seenBy: 'own refund and its payment', whileUnknown: anyLine },
  repeatedTransfer: { seenBy: 'own transfer, sent twice with one key', whileUnknown: notSafe },
  repeatedCharge: { seenBy: 'own charge, sent twice', whileUnknown: notSafe },
  hasTransferById: { seenBy: 'own transfer', whileUnknown: noStatus },
  hasTransferByExternalId: { seenBy: 'own transfer', whileUnknown: 'not asked by it' },
  hasChargeById: { seenBy: 'own charge', whileUnknown: noStatus },
  hasSimulation: { seenBy: 'own charges', whileUnknown: 'the routes are not offered' },
  webhookDelivery: { seenBy: 'webhooks of own payments', whileUnknown: assumed },
  webhookDelayMs: { seenBy: 'webhooks of own payments', whileUnknown: assumed },
  webhookCopies: { seenBy: 'webhooks of own payments', whileUnknown: 'copies count once' },
  ratePerSecond: {
    seenBy: 'fifty readings at once, then twice what was taken',
    whileUnknown: 'the service limits itself only where the bank answers 429',
  },
  paysBillsOnTime: { seenBy: notObserved, whileUnknown: 'a bill may be a business day late' },
  creditDays: { seenBy: notObserved, whileUnknown: 'slips 3, Pix 0, others 1 business days' },
  interestPeriod: { seenBy: notObserved, whileUnknown: 'a percentage is per day' },
};

/** A row for each habit, in columns. */
export function describeHabits(habits: BankHabits): string[] {
  const rows = Object.entries(habitTexts).map(([name, { seenBy, whileUnknown }]) => {
    const value = habits[name as HabitName];
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return [name, text, value === 'unknown' ? `until known: ${whileUnknown}` : `seen: ${seenBy}`];
  });
  const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
