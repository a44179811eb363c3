// Reads what the forms of a break ask for.
import type { Cents } from '../../brazil/cents.js';
import { isNsu, isUuid } from '../../platform/http/listing.js';
import { maxCommentLength } from '../../reconciliation/breaks/break-comments.schema.js';
import { reasonText, type BreakAction } from '../../reconciliation/breaks/breaks.schema.js';
import { typed, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { readTypedAmount } from '../typed-amount.js';
import type { PageAction } from './open-actions.js';

export type ReadAction = { action: BreakAction } | { problem: TextKey };
type LinkAction = Extract<BreakAction, { action: 'link' }>;
type Allocations = NonNullable<LinkAction['allocations']>;
type Coded = Pick<LinkAction, 'reason' | 'reasonCode'>;
type Refunds = NonNullable<LinkAction['refundOf']>;

/** The rows in which a line is split over payments that are no candidates. */
export const freeParts = 2;

/** Null for a reason that is too short, or too long. */
export function readReasonText(visit: Visit): string | null {
  const parsed = reasonText.safeParse(typed(visit, 'reason'));
  return parsed.success ? parsed.data : null;
}

/** Null without one. The decision refuses what is no active code of the account. */
export const readReasonCode = (visit: Visit): string | null => typed(visit, 'reasonCode') || null;

/** With its line breaks. Null for a comment that is empty or too long. */
export function readComment({ form }: Visit): string | null {
  const text = (form.get('text') ?? '')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim();
  return text === '' || text.length > maxCommentLength ? null : text;
}

export function readAction(visit: Visit, action: PageAction, reason: string): ReadAction {
  const reasonCode = readReasonCode(visit);
  const coded = { reason, ...(reasonCode && { reasonCode }) };
  switch (action) {
    case 'link':
      return visit.form.has('split') ? readSplit(visit, coded) : readLink(visit, coded);
    case 'accept':
    case 'note':
      return { action: { action, ...coded } };
    case 'refund':
      return readRefund(visit, reason);
    default:
      return { action: { action, reason } };
  }
}

function readLink(visit: Visit, coded: Coded): ReadAction {
  const chosen = typed(visit, 'candidate');
  if (isUuid(chosen)) return { action: { action: 'link', ...coded, expectedPaymentId: chosen } };
  if (isNsu(chosen)) return { action: { action: 'link', ...coded, nsu: BigInt(chosen) } };
  return { problem: 'breaks.invalid.candidate' };
}

/** Each part names an expected payment by its id, or a received Pix that it refunds by its nsu. */
function readSplit(visit: Visit, coded: Coded): ReadAction {
  const allocations: Allocations = [];
  const refundOf: Refunds = [];
  for (const [name, value] of visit.form) {
    const [, part = ''] = /^part(\d{1,2})$/.exec(name) ?? [];
    const expectedPaymentId = typed(visit, `id${part}`);
    if (part === '' || value.trim() === '') continue;
    const amount = readPositive(value);
    if (amount === null) return { problem: 'breaks.invalid.amount' };
    if (isUuid(expectedPaymentId)) allocations.push({ expectedPaymentId, amount });
    else if (isNsu(expectedPaymentId)) refundOf.push({ nsu: BigInt(expectedPaymentId), amount });
    else return { problem: 'breaks.invalid.candidate' };
  }
  if ((allocations.length === 0) === (refundOf.length === 0))
    return { problem: 'breaks.invalid.candidate' };
  if (refundOf.length > 0) return { action: { action: 'link', ...coded, refundOf } };
  return { action: { action: 'link', ...coded, allocations } };
}

function readRefund(visit: Visit, reason: string): ReadAction {
  const typedAmount = typed(visit, 'amount');
  if (typedAmount === '') return { action: { action: 'refund', reason } };
  const amount = readPositive(typedAmount);
  if (amount === null) return { problem: 'breaks.invalid.amount' };
  return { action: { action: 'refund', reason, amount } };
}

/** Null for what is no amount above zero. */
function readPositive(text: string): Cents | null {
  const cents = readTypedAmount(text);
  return cents !== null && cents > 0n ? cents : null;
}
