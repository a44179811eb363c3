// Which requests to the bank a fault applies to. Faults never apply to the control plane and to the
// routes that simulate a payment or an expiry, because a real bank does not serve these.
import type { HttpMethod, Route } from '../../bank-contract/route.js';
import { afterEffectKinds, type Fault, type FaultEndpoint, type FaultKind } from './fault.js';

export interface BankCall {
  /** Null when only the endpoint `*` covers the request. */
  endpoint: FaultEndpoint | null;
  method: HttpMethod;
}

/** Each route of the bank by name. A test verifies that none is missing. */
export const endpointsOfRoutes: Readonly<Record<string, FaultEndpoint | null>> = {
  createCharge: 'charges',
  getChargeAtBank: 'charges',
  listChargesAtBank: 'charges',
  voidCharge: 'charges',
  changeChargeDueDate: 'charges',
  createStaticQr: 'qrcode',
  getStaticQrAtBank: 'qrcode',
  listStaticQrPaymentsAtBank: 'qrcode',
  lookUpPixKey: 'lookup',
  createTransfer: 'transfers',
  getTransferAtBank: 'transfers',
  createTed: 'transfers',
  getTedAtBank: 'transfers',
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

/** Whether a route is only for tests: a real bank does not serve it. */
export function isTestTool({ name, path }: Pick<Route, 'name' | 'path'>): boolean {
  return path.startsWith('/sandbox/') || simulations.includes(name);
}

/** Null for test tools, and for the health checks, which have no route. */
export function bankCallOf(route: Route | undefined): BankCall | null {
  if (!route || isTestTool(route)) return null;
  return { endpoint: endpointsOfRoutes[route.name] ?? null, method: route.method };
}

/** A fault on one of these endpoints applies to writes only, unless it names a method. */
const endpointsWithReads: readonly (FaultEndpoint | null)[] = [
  ...(['charges', 'qrcode', 'transfers', 'bill-payments', 'webhooks'] as const),
];

/**
 * Whether endpoint, kind and method of a fault cover a request. Count and probability are not
 * checked.
 */
export function appliesToCall(
  { endpoint, kind, method }: Pick<Fault, 'endpoint' | 'kind' | 'method'>,
  call: BankCall,
): boolean {
  if (endpoint !== '*' && endpoint !== call.endpoint) return false;
  if (method) return method === call.method;
  const hasEffect = call.method !== 'GET';
  if (endpoint !== '*') return hasEffect || !endpointsWithReads.includes(endpoint);
  // A read has no effect, so a fault after an effect does not apply. The statement is an exception,
  // because tests need lost responses of the statement.
  const isAfterEffect = (afterEffectKinds as readonly FaultKind[]).includes(kind);
  return hasEffect || !isAfterEffect || call.endpoint === 'transactions';
}
