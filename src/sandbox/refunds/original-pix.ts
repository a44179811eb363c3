import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { refundWindowDays } from '../../contract/refunds.js';
import type { BankAccount, Party } from '../accounts/party.js';
import type { ReferencedLine } from './refunds.queries.js';

/** A received Pix, of which something can go back. */
export interface OriginalPix {
  account: BankAccount;
  amountCents: bigint;
  endToEndId: string;
  receivedAt: Date;
  payer: Party;
  /** Null when the payer is at another institution. */
  payerAccount: BankAccount | null;
}

/** A line that is a received Pix: other credits, returns and their reversals are not refundable. */
export interface ReceivedPixLine extends ReferencedLine {
  endToEndId: string;
}

export type ChosenLine =
  | { outcome: 'chosen'; line: ReceivedPixLine }
  | { outcome: 'absent' | 'not_refundable' | 'ambiguous' };

/**
 * The one received Pix among the lines of a reference. Several are never chosen between, whatever is left of each:
 * which of them the caller means cannot be known.
 */
export function chooseReceivedPix(lines: readonly ReferencedLine[]): ChosenLine {
  if (lines.length === 0) return { outcome: 'absent' };
  const received = lines.filter(isReceivedPix);
  const [line] = received;
  if (!line) return { outcome: 'not_refundable' };
  return received.length > 1 ? { outcome: 'ambiguous' } : { outcome: 'chosen', line };
}

function isReceivedPix(line: ReferencedLine): line is ReceivedPixLine {
  return line.typeName === 'CREDIT_PIX' && line.changeCents > 0n && line.endToEndId !== null;
}

/** Whether a Pix that came then can still be refunded now; both are read on São Paulo's calendar. */
export function isWithinRefundWindow(receivedAt: Date, now: Date): boolean {
  return saoPauloDay(now) <= addDays(saoPauloDay(receivedAt), refundWindowDays);
}
