// Which calls of the bank can be struck by a fault, and by which. The control plane and the routes that simulate a
// payment or an expiry are a test's own tools: they always work.
import type { HttpMethod, Route } from '../../contract/route.js';
import { afterEffectKinds, type Fault, type FaultEndpoint, type FaultKind } from './fault.js';

export interface BankCall {
  /** Null for what only `*` means. */
  endpoint: FaultEndpoint | null;
  method: HttpMethod;
}

/** Each route of the bank by its name; a spec holds that none is missing. */
export const endpointsOfRoutes: Readonly<Record<string, FaultEndpoint | null>> = {
  createCharge: 'charges',
  getCharge: 'charges',
  listCharges: 'charges',
  voidCharge: 'charges',
  createStaticQr: 'qrcode',
  lookUpPixKey: 'lookup',
  createTransfer: 'transfers',
  getTransfer: 'transfers',
  createTransferBatch: 'batch',
  getBill: 'bill-payments',
  payBill: 'bill-payments',
  refundTransaction: 'refunds',
  listTransactions: 'transactions',
  listTransactionsV1: 'transactions',
  createWebhookRegistration: 'webhooks',
  listWebhookRegistrations: 'webhooks',
  getWebhookRegistration: 'webhooks',
  updateWebhookRegistration: 'webhooks',
  deleteWebhookRegistration: 'webhooks',
  createCustomer: null,
  readBalances: null,
};

const simulations = ['payCharge', 'expireCharge'];

/** Whether a route is a test's tool and no call of a client of the bank. */
export function isTool({ name, path }: Pick<Route, 'name' | 'path'>): boolean {
  return path.startsWith('/sandbox/') || simulations.includes(name);
}

/** Null for what is no call of the bank: tools, and the health of the process, which has no route. */
export function bankCallOf(route: Route | undefined): BankCall | null {
  if (!route || isTool(route)) return null;
  return { endpoint: endpointsOfRoutes[route.name] ?? null, method: route.method };
}

/** At these a fault that is aimed by name means the calls that have an effect, not the reads beside them. */
const endpointsWithReads: readonly (FaultEndpoint | null)[] = [
  ...(['charges', 'transfers', 'bill-payments', 'webhooks'] as const),
];

/** Whether a fault is meant for a call; its count and its chance are not asked. */
export function strikes(
  { endpoint, kind, method }: Pick<Fault, 'endpoint' | 'kind' | 'method'>,
  call: BankCall,
): boolean {
  if (endpoint !== '*' && endpoint !== call.endpoint) return false;
  if (method) return method === call.method;
  const hasEffect = call.method !== 'GET';
  if (endpoint !== '*') return hasEffect || !endpointsWithReads.includes(endpoint);
  // A read has no effect to be "after", save the statement's, whose lost answers are worth a test.
  const isAfterEffect = (afterEffectKinds as readonly FaultKind[]).includes(kind);
  return hasEffect || !isAfterEffect || call.endpoint === 'transactions';
}
