// Groups the endpoints of the bank by circuit breaker: while transfers fail, the statement is still
// read.
import type { Route } from '../bank-contract/route.js';

export const endpointClasses = [
  'charges',
  'money',
  'statement',
  'lookup',
  'webhooks',
  'customers',
  'other',
] as const;
export type EndpointClass = (typeof endpointClasses)[number];

const byChapter: Readonly<Record<string, EndpointClass>> = {
  Charges: 'charges',
  'Static Pix QR code': 'charges',
  Transfers: 'money',
  'Batch transfers between accounts': 'money',
  'Bill payments': 'money',
  Refunds: 'money',
  'Pix key lookup': 'lookup',
  Statement: 'statement',
  Webhooks: 'webhooks',
  'Customer creation': 'customers',
};

/**
 * A read of a charge, transfer or bill is a look-up: it continues while requests that create
 * charges, transfers or payments fail.
 */
export function endpointClassOf({ chapter, method }: Pick<Route, 'chapter' | 'method'>) {
  const chapterClass = byChapter[chapter] ?? 'other';
  const createsObjects = chapterClass === 'charges' || chapterClass === 'money';
  return createsObjects && method === 'GET' ? 'lookup' : chapterClass;
}
