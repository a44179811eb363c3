import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { refundWindowDays } from '../../bank-contract/refunds.js';
import type { SandboxAccount, Party } from '../accounts/party.js';
import type { ReferencedLine } from './refunds.queries.js';

/** A received Pix that can be refunded. */
export interface OriginalPix {
  account: SandboxAccount;
  amountCents: bigint;
  endToEndId: string;
  receivedAt: Date;
  payer: Party;
  /** Null when the payer is at another institution. */
  payerAccount: SandboxAccount | null;
}

/** The line of a received Pix. Other credits, refunds and reversals are not refundable. */
export interface ReceivedPixLine extends ReferencedLine {
  endToEndId: string;
}

export type ChosenLine =
  | { outcome: 'chosen'; line: ReceivedPixLine }
  | { outcome: 'absent' | 'not_refundable' | 'ambiguous' };

/**
 * The only received Pix among the lines of a reference. Several are always `ambiguous`, even when
 * only one has a refundable amount, because nobody knows which Pix the caller means.
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

/** Whether a Pix received at `receivedAt` can be refunded at `now`, by the days of São Paulo. */
export function isWithinRefundWindow(receivedAt: Date, now: Date): boolean {
  return saoPauloDay(now) <= addDays(saoPauloDay(receivedAt), refundWindowDays);
}
