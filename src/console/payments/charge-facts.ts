// What the view of a charge holds beside its own fields: those of the bank's response, whose
// numbers are as the bank wrote them.
import { isLosslessNumber } from 'lossless-json';
import { parsePlainDate, type PlainDate } from '../../brazil/calendar.js';
import { parseReais, type Cents } from '../../brazil/cents.js';

export interface ShownChargeFacts {
  /** Null where the payer chooses it. */
  amountCents: Cents | null;
  dueDate: PlainDate | null;
  createdAt: Date | null;
}

export function chargeFacts(charge: object): ShownChargeFacts {
  const { amount, dueDate, createdAt } = charge as Record<string, unknown>;
  const day = typeof dueDate === 'string' ? dueDate.slice(0, 10) : '';
  const time = typeof createdAt === 'string' ? new Date(createdAt) : null;
  return {
    amountCents: centsOf(amount),
    dueDate: parsePlainDate(day),
    createdAt: time === null || Number.isNaN(time.getTime()) ? null : time,
  };
}

function centsOf(amount: unknown): Cents | null {
  if (typeof amount === 'bigint') return amount;
  const parsed = isLosslessNumber(amount) ? parseReais(amount.value) : null;
  return parsed?.ok ? parsed.cents : null;
}
