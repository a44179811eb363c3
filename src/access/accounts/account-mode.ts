// What may be sent to the bank for an account in each mode. Whatever the mode, everything is read
// and explained.
import type { Route } from '../../bank-contract/route.js';
import {
  createWebhookRegistration,
  deleteWebhookRegistration,
  updateWebhookRegistration,
} from '../../bank-contract/webhook-registrations.js';
import type { BankAccount } from '../../generated/service/client.js';
import { AppError, conflict, invariant } from '../../platform/errors.js';

export type AccountMode = BankAccount['mode'];

/** The mode, and whether the service may register its webhooks at the bank. */
export type SendingRules = Pick<BankAccount, 'mode' | 'registersWebhooks'>;

/** Clients of the bank repeat after a 503: an operator needs longer than a few seconds. */
const stoppedRetryAfterSeconds = 60;

const registrationRoutes = [
  createWebhookRegistration,
  updateWebhookRegistration,
  deleteWebhookRegistration,
].map(({ name }) => name);

/** Whether the bank may get a request of this route. A route that only reads is always allowed. */
export function isAllowedIn(
  { mode, registersWebhooks }: SendingRules,
  { name, isReading }: Pick<Route, 'name' | 'isReading'>,
): boolean {
  if (isReading) return true;
  if (registrationRoutes.includes(name)) return mode !== 'stopped' && registersWebhooks;
  return mode === 'live';
}

/**
 * Who registers webhooks in a mode when the operator does not say: a stop changes nothing, and
 * beside another system the registrations may be its own.
 */
export function registersWebhooksByDefault(mode: AccountMode, before: boolean): boolean {
  return mode === 'stopped' ? before : mode === 'live';
}

/**
 * The response to a request that would send something. Nothing of the request is stored. A stop
 * ends, so the same request may be repeated: 503, because a client of the bank takes a 409 as the
 * bank's answer about this request.
 */
export function faultOfMode(mode: AccountMode, isOfAlarm: boolean): AppError {
  invariant(mode !== 'live', 'an account that is live refuses nothing');
  if (mode === 'reconcile_only')
    return conflict(
      'account_is_reconcile_only',
      'The account is reconcile-only: nothing is sent to the bank. The request was not stored.',
    );
  return new AppError('not_ready', {
    reason: 'account_stopped',
    public:
      `An ${isOfAlarm ? 'alarm' : 'operator'} has stopped the account: ` +
      'nothing is sent to the bank. ' +
      'The request was not stored and can be repeated.',
    headers: { 'Retry-After': String(stoppedRetryAfterSeconds) },
  });
}
