// What a person may do about a break: the actions that the service offers for its kind and state,
// and the key of each.
import {
  operationBreakKinds,
  refundOfKind,
  subjectOfExpected,
  subjectOfLine,
} from '../../reconciliation/decide/break-kinds.js';

export const pageActions = ['link', 'accept', 'refund', 'resend', 'reopen', 'note'] as const;
export type PageAction = (typeof pageActions)[number];

/** The key that opens the form of each action. */
export const keyOfAction: Record<PageAction | 'comment', string> = {
  link: 'l',
  accept: 'a',
  refund: 'r',
  resend: 's',
  reopen: 'o',
  note: 'h',
  comment: 'c',
};

export interface ActionableBreak {
  kind: string;
  state: string;
  subject: string;
  resolution: string | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  operationId: string | null;
}

/** What the other side of a link is: the break has the line, or the expected payment. */
export function linkedBy({
  nsu,
  expectedPaymentId,
  subject,
}: ActionableBreak): 'expectedPaymentId' | 'nsu' | null {
  if (nsu !== null && subject === subjectOfLine(nsu)) return 'expectedPaymentId';
  if (expectedPaymentId !== null && subject === subjectOfExpected(expectedPaymentId)) return 'nsu';
  return null;
}

/** In the order in which they are shown. The service has the last word on each. */
export function openActions(found: ActionableBreak, mayRefund: boolean): PageAction[] {
  if (found.state === 'resolved')
    return found.resolution === 'automatic' ? ['note'] : ['reopen', 'note'];
  const { kind, nsu, operationId } = found;
  const isRefundable = mayRefund && nsu !== null && Boolean(refundOfKind(kind));
  const isResendable = operationBreakKinds.includes(kind) && operationId !== null;
  return [
    ...(linkedBy(found) === null ? [] : (['link'] as const)),
    ...(isRefundable ? (['refund'] as const) : []),
    ...(isResendable ? (['resend'] as const) : []),
    'accept',
    'note',
  ];
}
