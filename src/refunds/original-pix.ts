// Which received Pix a reference names, and until when it can be given back.
import { addDays } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { refundWindowDays } from '../contract/refunds.js';

/** A line of the mirror that a reference names. */
export interface ReferencedLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  endToEndId: string | null;
  originalEndToEndId: string | null;
  /** Who sent a credit, where the line tells it. */
  counterparty: string | null;
  occurredAt: Date;
}

/** A line that is a received Pix. */
export interface OriginalPix extends ReferencedLine {
  endToEndId: string;
}

export type ChosenOriginal =
  | { outcome: 'chosen'; original: OriginalPix }
  | { outcome: 'absent' | 'not_refundable' | 'ambiguous' };

/**
 * The one received Pix among the lines of a reference. Several are never chosen between, whatever is left of each:
 * which of them the caller means cannot be known.
 */
export function chooseOriginal(lines: readonly ReferencedLine[]): ChosenOriginal {
  if (lines.length === 0) return { outcome: 'absent' };
  const received = lines.filter(isReceivedPix);
  const [original] = received;
  if (!original) return { outcome: 'not_refundable' };
  return received.length > 1 ? { outcome: 'ambiguous' } : { outcome: 'chosen', original };
}

/** Money that comes back, under whatever name: a return has an `E…` where a Pix of ours failed. */
const returnWords = /REFUND|REVERSAL|RETURN|CHARGEBACK|DEVOL|ESTORNO/i;

function isReceivedPix(line: ReferencedLine): line is OriginalPix {
  const { isCredit, endToEndId, originalEndToEndId, typeName } = line;
  const isPix = endToEndId?.startsWith('E') ?? false;
  return isCredit && isPix && originalEndToEndId === null && !returnWords.test(typeName);
}

/** Whether a Pix of then can still be given back now: days of São Paulo, that of receipt not counted. */
export function isWithinRefundWindow(receivedAt: Date, now: Date): boolean {
  return saoPauloDay(now) <= addDays(saoPauloDay(receivedAt), refundWindowDays);
}
