// Computes what must change at the bank so that each event type is registered once at our address.
// Only registrations under our own address are created or changed; foreign ones are reported only.
import type { WebhookRegistration } from '../contract/webhook-registrations.js';
import { registeredEventTypes } from './webhook-body.js';
import { webhookKeyHeader } from './authentication.js';

export type WantedRegistration = {
  eventType: string;
  url: string;
  authorizationScheme: 'HEADER';
  authorization: string;
};

export interface RegistrationPlan {
  create: WantedRegistration[];
  update: { id: string; wanted: WantedRegistration }[];
  /** Event types that are registered at an address of others. */
  foreign: string[];
}

export interface WebhookAddress {
  /** The service's public address, without a trailing slash. */
  publicUrl: string;
  slug: string;
  secret: string;
  /**
   * In development the address changes with the port, so that any loopback address with our webhook
   * path is ours.
   */
  allowsLoopback: boolean;
}

export function planRegistrations(
  address: WebhookAddress,
  existing: readonly WebhookRegistration[],
): RegistrationPlan {
  const plan: RegistrationPlan = { create: [], update: [], foreign: [] };
  for (const eventType of registeredEventTypes) {
    const wanted = wantedRegistration(address, eventType);
    const same = existing.filter((registration) => registration.eventType === eventType);
    const ours = same.filter(({ url }) => isOurs(address, url));
    for (const { id } of ours.filter((registration) => !isUpToDate(registration, wanted)))
      plan.update.push({ id, wanted });
    if (ours.length > 0) continue;
    if (same.length > 0) plan.foreign.push(eventType);
    else plan.create.push(wanted);
  }
  return plan;
}

function wantedRegistration(
  { publicUrl, slug, secret }: WebhookAddress,
  eventType: string,
): WantedRegistration {
  return {
    eventType,
    url: `${publicUrl}/webhooks/bank/${slug}/${eventType}`,
    authorizationScheme: 'HEADER',
    authorization: `${webhookKeyHeader}: ${secret}`,
  };
}

function isOurs({ publicUrl, slug, allowsLoopback }: WebhookAddress, url: string): boolean {
  const path = `/webhooks/bank/${slug}/`;
  if (url.startsWith(`${publicUrl}${path}`)) return true;
  if (!allowsLoopback || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && pathname.startsWith(path);
}

/** A bank that does not return the registered secret gets it again at every check. */
function isUpToDate(existing: WebhookRegistration, wanted: WantedRegistration): boolean {
  return (
    existing.url === wanted.url &&
    existing.authorizationScheme.toUpperCase() === wanted.authorizationScheme &&
    existing.authorization === wanted.authorization
  );
}
