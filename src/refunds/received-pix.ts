// Which received Pix a refund's reference names, and until when that Pix can be refunded.
import { addDays } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { refundWindowDays } from '../contract/refunds.js';

/** A statement line that a refund's reference names. */
export interface ReferencedStatementLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  endToEndId: string | null;
  originalEndToEndId: string | null;
  /** The payer of a credit; null where the line lacks it. */
  counterparty: string | null;
  occurredAt: Date;
}

/** A line that is a received Pix. */
export interface RefundOriginal extends ReferencedStatementLine {
  endToEndId: string;
}

export type RefundOriginalChoice =
  | { outcome: 'chosen'; original: RefundOriginal }
  | { outcome: 'absent' | 'not_refundable' | 'ambiguous' };

/**
 * The only received Pix among the lines of a reference. Several are ambiguous, whatever is still
 * refundable of each: nothing says which of them the caller means.
 */
export function chooseRefundOriginal(
  lines: readonly ReferencedStatementLine[],
): RefundOriginalChoice {
  if (lines.length === 0) return { outcome: 'absent' };
  const received = lines.filter(isReceivedPix);
  const [original] = received;
  if (!original) return { outcome: 'not_refundable' };
  return received.length > 1 ? { outcome: 'ambiguous' } : { outcome: 'chosen', original };
}

/**
 * Type names of refunds and reversals, in the words that banks use. The end-to-end id does not
 * suffice: the reversal of a Pix that we sent and that failed also has an id that begins with `E`.
 */
const reversalTypes = /REFUND|REVERSAL|RETURN|CHARGEBACK|DEVOL|ESTORNO/i;

function isReceivedPix(line: ReferencedStatementLine): line is RefundOriginal {
  const { isCredit, endToEndId, originalEndToEndId, typeName } = line;
  const isPix = endToEndId?.startsWith('E') ?? false;
  return isCredit && isPix && originalEndToEndId === null && !reversalTypes.test(typeName);
}

/** Whether a Pix can still be refunded: counts São Paulo days, without the day of receipt. */
export function isRefundWindowOpen(receivedAt: Date, now: Date): boolean {
  return saoPauloDay(now) <= addDays(saoPauloDay(receivedAt), refundWindowDays);
}
