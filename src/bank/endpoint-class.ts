// Which calls share a fate: when money cannot be sent, the statement is read all the same.
import type { Route } from '../contract/route.js';

export type EndpointClass =
  'charges' | 'money' | 'statement' | 'lookup' | 'webhooks' | 'customers' | 'other';

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

/** What only reads a charge, a transfer or a bill is a look-up: it goes on when asking for one fails. */
export function endpointClassOf({ chapter, method }: Pick<Route, 'chapter' | 'method'>) {
  const ofChapter = byChapter[chapter] ?? 'other';
  const isAsking = ofChapter === 'charges' || ofChapter === 'money';
  return isAsking && method === 'GET' ? 'lookup' : ofChapter;
}
