// Finds the received Pix that a refund's reference identifies, and the time until which it can be
// refunded.
import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { StatementLine } from '../../generated/service/client.js';
import { refundWindowDays } from '../../bank-contract/refunds.js';

/** A statement line with the id in a refund's reference. */
export interface ReferencedStatementLine extends Pick<
  StatementLine,
  | ('nsu' | 'isCredit' | 'amountCents' | 'typeName' | 'endToEndId')
  | ('originalEndToEndId' | 'counterparty' | 'occurredAt' | 'idempotencyKey' | 'movementId')
> {
  isReceivedPix: boolean;
}

/** A line that is a received Pix. */
export interface RefundOriginal extends Omit<ReferencedStatementLine, 'isReceivedPix'> {
  endToEndId: string;
}

export type RefundOriginalChoice =
  | { outcome: 'chosen'; original: RefundOriginal }
  | { outcome: 'absent' | 'not_refundable' | 'ambiguous' };

/**
 * The only received Pix among the lines of a reference. Several received Pix are ambiguous, even if
 * only one of them is still refundable: the reference does not identify one of them.
 */
export function chooseRefundOriginal(
  lines: readonly ReferencedStatementLine[],
): RefundOriginalChoice {
  if (lines.length === 0) return { outcome: 'absent' };
  const received = lines.filter(
    (line): line is ReferencedStatementLine & RefundOriginal => line.isReceivedPix,
  );
  const [original] = received;
  if (!original) return { outcome: 'not_refundable' };
  return received.length > 1 ? { outcome: 'ambiguous' } : { outcome: 'chosen', original };
}

/**
 * Whether a Pix can still be refunded. The days are São Paulo days; the day of receipt does not
 * count.
 */
export function isRefundWindowOpen(receivedAt: Date, now: Date): boolean {
  return saoPauloDay(now) <= addDays(saoPauloDay(receivedAt), refundWindowDays);
}
